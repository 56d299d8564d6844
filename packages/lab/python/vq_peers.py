"""Peers of vector quantisation, on one thread: neighbours, maps and other reductions, codes of windows, and what maps and codes are worth.

Reads a job (JSON, the only argument: work, folder, out and what the work needs) and writes figures to the path it names. Rows are raw
arrays as `data-files.ts` lays them down. Seconds are of the processor, the least of the repeats where there are several.
"""

import json
import os
import sys
import time
import warnings

os.environ["NUMBA_NUM_THREADS"] = "1"
warnings.simplefilter("ignore")

import numpy as np

SAMPLE = 5000
NEAR = 15
WINDOW = 4


def load(folder, part):
    with open(f"{folder}/{part}.json") as file:
        shape = json.load(file)
    values = np.fromfile(f"{folder}/{part}.values", shape["type"])
    if shape["form"] == "dense":
        return values.reshape(shape["rows"], shape["features"])
    from scipy.sparse import csr_matrix

    indices, offsets = (np.fromfile(f"{folder}/{part}.{kind}", np.uint32).astype(np.int32) for kind in ("indices", "offsets"))
    return csr_matrix((values, indices, offsets), shape=(shape["rows"], shape["features"]))


def save(folder, part, x):
    x = np.ascontiguousarray(x)
    with open(f"{folder}/{part}.json", "w") as file:
        json.dump({"form": "dense", "rows": len(x), "features": x.shape[1], "type": str(x.dtype)}, file)
    x.tofile(f"{folder}/{part}.values")
    np.zeros(len(x), np.uint8).tofile(f"{folder}/{part}.labels")


cpu = time.process_time


# Neighbours: each gives a search, the bytes of the index and its settings by name.


def brute(x, k, folder):
    from sklearn.neighbors import NearestNeighbors

    model = NearestNeighbors(n_neighbors=k, algorithm="brute", metric="cosine", n_jobs=1).fit(x)
    size = x.nbytes if isinstance(x, np.ndarray) else x.data.nbytes + x.indices.nbytes + x.indptr.nbytes
    return lambda q, _: model.kneighbors(q, return_distance=False), size, {"all": None}


def flat(x, k, folder):
    import faiss

    index = faiss.IndexFlatIP(x.shape[1])
    index.add(x)
    return lambda q, _: index.search(q, k)[1], x.nbytes, {"all": None}


def lists(x, k, folder):
    import faiss

    count = int(2 * len(x) ** 0.5)
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(x.shape[1]), x.shape[1], count, faiss.METRIC_INNER_PRODUCT)
    index.train(x)
    index.add(x)

    def search(q, probes):
        index.nprobe = probes
        return index.search(q, k)[1]

    return search, x.nbytes + 8 * len(x), {f"{n} of {count} lists": n for n in (4, 8, 16, 32)}


def hnsw(x, k, folder):
    import hnswlib

    index = hnswlib.Index("ip", x.shape[1])
    index.init_index(max_elements=len(x), M=16, ef_construction=200, random_seed=0)
    index.set_num_threads(1)
    index.add_items(x)

    def search(q, ef):
        index.set_ef(ef)
        return index.knn_query(q, k, num_threads=1)[0]

    index.save_index(f"{folder}/hnsw.index")
    return search, os.path.getsize(f"{folder}/hnsw.index"), {f"ef {ef}": ef for ef in (10, 20, 40, 80)}


def unit(x):
    from sklearn.preprocessing import normalize

    return normalize(x.astype(np.float32))


def neighbours(job):
    x, q = (unit(load(job["folder"], part)) for part in ("x", "asked"))
    k = job["k"]
    exact = np.fromfile(f"{job['folder']}/exact", np.uint32).reshape(-1, k)
    began = cpu()
    search, size, settings = {"brute": brute, "flat": flat, "lists": lists, "hnsw": hnsw}[job["system"]](x, k, job["folder"])
    figures = {"buildCpu": cpu() - began, "bytes": int(size)}
    for name, setting in settings.items():
        seconds = []
        for _ in range(job["repeats"]):
            began = cpu()
            found = search(q, setting)
            seconds.append(cpu() - began)
        figures[f"recall@{name}"] = float(np.mean([len(set(a) & set(b)) / k for a, b in zip(found, exact)]))
        figures[f"rate@{name}"] = len(exact) / min(seconds)
    return figures


# Maps and other reductions.


def reducer(system, size, metric, is_sparse, seed):
    from sklearn.decomposition import PCA, KernelPCA, TruncatedSVD
    from sklearn.manifold import TSNE
    from sklearn.pipeline import make_pipeline

    pca = (lambda n: TruncatedSVD(n, random_state=seed)) if is_sparse else (lambda n: PCA(n, random_state=seed))
    if system == "pca":
        return pca(size)
    if system == "kernel-pca":
        return KernelPCA(size, kernel="rbf", random_state=seed)
    if system == "tsne":
        return make_pipeline(pca(50), TSNE(size, metric=metric, init="pca", learning_rate="auto", random_state=seed, n_jobs=1))
    import umap

    return umap.UMAP(n_components=size, metric=metric, random_state=seed)


def reduce(job):
    """Reduces the rows, or takes them as reduced elsewhere, and judges: trustworthiness and neighbours kept of fixed rows."""
    x = load(job["folder"], "x").astype(np.float32)
    figures = {}
    if job["system"] == "given":
        places = load(job["folder"], "places")
    else:
        model = reducer(job["system"], job["size"], job["metric"], not isinstance(x, np.ndarray), job["seed"])
        if job["system"] == "umap":  # numba compiles in the first call
            reducer("umap", 2, job["metric"], False, 0).fit_transform(x[:300])
        began = cpu()
        places = model.fit_transform(x / 255 if job["system"] == "kernel-pca" else x)
        figures["fitCpu"] = cpu() - began
    return {**figures, **kept(x, places, job["metric"])}


def kept(x, places, metric):
    from sklearn.manifold import trustworthiness
    from sklearn.neighbors import NearestNeighbors

    rows = np.arange(0, x.shape[0], max(1, -(-x.shape[0] // SAMPLE)))
    x, places = x[rows], places[rows]
    near = NearestNeighbors(n_neighbors=NEAR, algorithm="brute", metric=metric).fit(x).kneighbors(return_distance=False)
    there = NearestNeighbors(n_neighbors=NEAR, algorithm="brute").fit(places).kneighbors(return_distance=False)
    return {
        "trust": float(trustworthiness(x, places, n_neighbors=NEAR, metric=metric)),
        "kept": float(np.mean([len(set(a) & set(b)) / NEAR for a, b in zip(near, there)])),
    }


# Codes of windows of images.


def windows(x, side):
    across = side // WINDOW
    return x.reshape(-1, across, WINDOW, across, WINDOW).transpose(0, 1, 3, 2, 4).reshape(-1, WINDOW * WINDOW)


def images(w, side):
    across = side // WINDOW
    return w.reshape(-1, across, across, WINDOW, WINDOW).transpose(0, 1, 3, 2, 4).reshape(-1, side * side)


def entropy(symbols):
    shares = np.unique(symbols, return_counts=True)[1] / len(symbols)
    return float(-(shares * np.log2(shares)).sum())


def quantizer(system, trained):
    """A codebook learned from windows: symbols of windows (one column for each number that is stored), and windows of symbols."""
    import faiss

    name, *sizes = system.split("-")
    size = trained.shape[1]
    if name == "kmeans":
        model = faiss.Kmeans(size, int(sizes[0]), niter=25, seed=0)
        model.train(trained)
        return lambda w: model.index.search(w, 1)[1], lambda s: model.centroids[s[:, 0]], [np.log2(int(sizes[0]))]
    parts, bits = map(int, sizes)
    made = {"pq": faiss.ProductQuantizer, "residual": faiss.ResidualQuantizer}[name](size, parts, bits)
    made.train(trained)
    weights = 2 ** np.arange(bits)

    def symbols(w):
        packed = np.unpackbits(made.compute_codes(w), axis=1, bitorder="little")[:, : parts * bits]
        return packed.reshape(len(w), parts, bits) @ weights

    return symbols, lambda s: made.decode(pack(s, bits)), [bits] * parts


def pack(symbols, bits):
    spread = (symbols[:, :, None] >> np.arange(bits)) & 1
    return np.packbits(spread.reshape(len(symbols), -1).astype(np.uint8), axis=1, bitorder="little")


def jpeg(x, side, quality):
    """One sheet of all images, each made up to whole blocks of 8 by 8, so that there is one head; bytes of the file, and the images."""
    import io

    from PIL import Image

    padded = -(-side // 8) * 8
    wide = np.pad(x.reshape(-1, side, side), ((0, 0), (0, padded - side), (0, padded - side)), mode="edge")
    columns = 20
    rows = -(-len(wide) // columns)
    sheet = np.zeros((rows * columns, padded, padded), np.uint8)
    sheet[: len(wide)] = wide
    sheet = sheet.reshape(rows, columns, padded, padded).transpose(0, 2, 1, 3).reshape(rows * padded, columns * padded)
    file = io.BytesIO()
    Image.fromarray(sheet).save(file, "JPEG", quality=quality, optimize=True)
    again = np.asarray(Image.open(io.BytesIO(file.getvalue())))
    again = again.reshape(rows, padded, columns, padded).transpose(0, 2, 1, 3).reshape(-1, padded, padded)
    return len(file.getvalue()), again[: len(x), :side, :side].reshape(len(x), -1)


def codes(job):
    """Encodes and decodes the parts "known" and "asked", for others to judge."""
    folder, side = job["folder"], job["side"]
    known, asked = load(folder, "known"), load(folder, "asked")
    name = job["system"]
    if name.startswith("jpeg"):
        quality = int(name.split("-")[1])
        began = cpu()
        size, decoded = jpeg(asked, side, quality)
        figures = {"fitCpu": cpu() - began, "bits": 8 * size / asked.size, "entropy": 8 * size / asked.size}
        save(folder, "decoded-asked", decoded)
        save(folder, "decoded-known", jpeg(known, side, quality)[1])
        return figures
    trained = windows(known[: job["trained"]], side)
    trained = trained[np.sort(np.random.default_rng(0).permutation(len(trained))[:65536])].astype(np.float32)
    began = cpu()
    symbols, again, bits = quantizer(name, trained)
    figures = {"fitCpu": cpu() - began, "bits": sum(bits) / WINDOW**2}
    for part, x in (("asked", asked), ("known", known)):
        found = symbols(windows(x, side).astype(np.float32))
        save(folder, f"decoded-{part}", images(np.clip(np.rint(again(found)), 0, 255).astype(np.uint8), side))
        if part == "asked":
            figures["entropy"] = sum(entropy(column) for column in found.T) / WINDOW**2
    return figures


def judge(job):
    """What decoded images are worth: the mean squared error of all, and the structural similarity of each, on average."""
    from skimage.metrics import structural_similarity

    x, again = (load(job["folder"], part).astype(np.float64) for part in ("asked", "decoded-asked"))
    error = float(np.mean((x - again) ** 2))
    shape = (-1, job["side"], job["side"])
    alike = [structural_similarity(a, b, data_range=255) for a, b in zip(x.reshape(shape), again.reshape(shape))]
    return {"mse": error, "ssim": float(np.mean(alike))}


def main():
    job = json.loads(sys.argv[1])
    figures = {"neighbours": neighbours, "reduce": reduce, "codes": codes, "judge": judge}[job["work"]](job)
    with open(job["out"], "w") as file:
        json.dump({"figures": figures}, file)


main()
