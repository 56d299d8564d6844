"""One Python system, measured in a process of its own.

Reads a job (JSON, the only argument), fits and applies one estimator of the authors' package or of scikit-learn, and writes
what it took (JSON, to the path the job names). Times cover the calls alone: loading and conversion of data are outside.
Thread counts and BLAS settings are the caller's, by environment variables.
"""

import json
import resource
import sys
import time
import warnings

import numpy as np


def load(folder, part, dtype, scale):
    """One part of a data set: rows in the given type, and labels."""
    with open(f"{folder}/{part}.json") as file:
        shape = json.load(file)
    rows, features = shape["rows"], shape["features"]
    values = np.fromfile(f"{folder}/{part}.values", shape["type"]).astype(dtype, copy=False)
    if scale:
        values *= np.float32(1 / 255)
    labels = np.fromfile(f"{folder}/{part}.labels", np.uint8).astype(np.int64)
    if shape["form"] == "dense":
        return values.reshape(rows, features), labels
    from scipy.sparse import csr_matrix

    indices = np.fromfile(f"{folder}/{part}.indices", np.uint32).astype(np.int32)
    offsets = np.fromfile(f"{folder}/{part}.offsets", np.uint32).astype(np.int32)
    return csr_matrix((values, indices, offsets), shape=(rows, features)), labels


def make(system, seed):
    """An estimator, and whether it wants bytes scaled to 0..1."""
    if system.startswith("ranksim."):
        import ranksim

        return getattr(ranksim, system.removeprefix("ranksim."))(random_state=seed), False
    if system == "sklearn.knn":
        from sklearn.neighbors import KNeighborsClassifier

        return KNeighborsClassifier(n_neighbors=5, algorithm="brute", n_jobs=1), False
    if system == "sklearn.linear-svc":
        from sklearn.svm import LinearSVC

        return LinearSVC(random_state=seed), True
    if system == "sklearn.mlp":
        from sklearn.neural_network import MLPClassifier

        return MLPClassifier(hidden_layer_sizes=(100,), max_iter=10, random_state=seed), True
    if system == "sklearn.extra-trees":
        from sklearn.ensemble import ExtraTreesClassifier

        return ExtraTreesClassifier(n_estimators=100, n_jobs=1, random_state=seed), False
    raise SystemExit(f"unknown system {system}")


def peak_bytes():
    """Most resident memory of this process; see src/bench/measure.ts for why not getrusage where Linux tells."""
    try:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) * 1024
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main():
    job = json.loads(sys.argv[1])
    warnings.simplefilter("ignore")
    if job.get("package"):
        sys.path.insert(0, job["package"])
    estimator, scale = make(job["system"], job["seed"])
    x, y = load(job["data"], "train", job["dtype"], scale)
    phases, peak = {}, {"start": peak_bytes()}

    def measure(name, call):
        cpu, wall = time.process_time(), time.perf_counter()
        result = call()
        phases[name] = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
        peak[name] = peak_bytes()
        return result

    measure("fit", lambda: estimator.fit(x, y))
    x, y = load(job["data"], "test", job["dtype"], scale)
    scores = {}
    if "predict" in job["phases"]:
        from sklearn.metrics import f1_score

        predicted = measure("predict", lambda: estimator.predict(x))
        scores["macroF1"] = f1_score(y, predicted, average="macro")
    if "probabilities" in job["phases"]:
        measure("probabilities", lambda: estimator.predict_proba(x))
    if "transform" in job["phases"]:
        measure("transform", lambda: estimator.transform(x))

    facts = {}
    if hasattr(estimator, "n_filters_"):
        facts["filters"] = int(estimator.n_filters_)
    result = {"phases": phases, "peak": peak, "scores": scores, "facts": facts, "cpu": time.process_time()}
    with open(job["out"], "w") as file:
        json.dump(result, file)


main()
