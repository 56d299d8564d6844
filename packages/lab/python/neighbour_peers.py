"""Peers of the index of neighbours: recall at 10, queries a second, seconds to build and bytes, on one thread.

Reads a job (JSON, the only argument: system, train, test, exact, out) and writes figures to the path it names. The files are of numpy: rows and
queries as float32 (cosine: rows have length 1 here), and the numbers of the ten nearest rows of each query.
"""

import json
import os
import sys
import tempfile

import numpy as np

K = 10


def brute(x):
    from sklearn.neighbors import NearestNeighbors

    model = NearestNeighbors(n_neighbors=K, algorithm="brute", n_jobs=1).fit(x)
    return lambda q: model.kneighbors(q, return_distance=False), x.nbytes, [None]


def flat(x):
    import faiss

    index = faiss.IndexFlatIP(x.shape[1])
    index.add(x)
    return lambda q: index.search(q, K)[1], x.nbytes, [None]


def lists(x):
    import faiss

    count = int(2 * len(x) ** 0.5)
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(x.shape[1]), x.shape[1], count, faiss.METRIC_INNER_PRODUCT)
    index.train(x)
    index.add(x)

    def search(q, probes):
        index.nprobe = probes
        return index.search(q, K)[1]

    return search, x.nbytes + 8 * len(x), [4, 8, 16, 32]


def hnsw(x):
    import hnswlib

    index = hnswlib.Index("ip", x.shape[1])
    index.init_index(max_elements=len(x), M=16, ef_construction=200, random_seed=0)
    index.set_num_threads(1)
    index.add_items(x)

    def search(q, ef):
        index.set_ef(ef)
        return index.knn_query(q, K, num_threads=1)[0]

    path = f"{tempfile.gettempdir()}/neighbours.index"
    index.save_index(path)
    size = os.path.getsize(path)
    os.remove(path)
    return search, size, [10, 20, 40, 80]


def cpu():
    times = os.times()
    return times.user + times.system


def main(job):
    x, q, exact = (np.load(job[name]) for name in ("train", "test", "exact"))
    began = cpu()
    search, size, settings = globals()[job["system"]](x)
    build = cpu() - began
    figures = {"build": build, "bytes": int(size), "settings": []}
    for setting in settings:
        ask = (lambda: search(q)) if setting is None else (lambda: search(q, setting))
        seconds = []
        for _ in range(2):
            began = cpu()
            found = ask()
            seconds.append(cpu() - began)
        recall = np.mean([len(set(a) & set(b)) / K for a, b in zip(found, exact)])
        rate = len(q) / min(seconds)
        figures["settings"].append({"setting": setting, "recall": float(recall), "queriesPerSecond": float(rate)})
    with open(job["out"], "w") as file:
        json.dump(figures, file)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
