"""One point of the paper with a scikit-learn estimator, measured in a process of its own.

Reads a job (JSON, the only argument; src/paper/job.ts), fits and applies the estimator and writes what it took (JSON, to the path
the job names). Seconds are processor time between rows as they are and labels, scaling and reductions included; loading is
outside. Threads and BLAS settings are the caller's, by environment variables. A fit that takes more processor time than the job
allows is ended, and the result says so.
"""

import json
import os
import resource
import signal
import sys
import time
import warnings

import numpy as np


def load_matrix(folder, part):
    with open(f"{folder}/{part}.json") as file:
        shape = json.load(file)
    values = np.fromfile(f"{folder}/{part}.values", shape["type"])
    if shape["form"] == "dense":
        return values.reshape(shape["rows"], shape["features"])
    from scipy.sparse import csr_matrix

    indices = np.fromfile(f"{folder}/{part}.indices", np.uint32).astype(np.int32)
    offsets = np.fromfile(f"{folder}/{part}.offsets", np.uint32).astype(np.int32)
    return csr_matrix((values, indices, offsets), shape=(shape["rows"], shape["features"]))


def load(job, part):
    """Rows as scikit-learn takes them fastest (dense ones as float32), and labels: numbers, or a 0/1 matrix."""
    rows = np.fromfile(job[part], np.uint32)
    x = load_matrix(job["folder"], "all")[rows]
    if isinstance(x, np.ndarray):
        x = x.astype(np.float32)
    if job["multilabel"]:
        return x, np.asarray(load_matrix(job["folder"], "sets")[rows].todense())
    return x, np.fromfile(f"{job['folder']}/all.labels", np.uint8)[rows].astype(np.int64)


def estimators():
    """Everything the points may name."""
    from sklearn.decomposition import PCA, KernelPCA
    from sklearn.dummy import DummyClassifier
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
    from sklearn.naive_bayes import GaussianNB, MultinomialNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.svm import SVC, LinearSVC
    from sklearn.tree import DecisionTreeClassifier

    return dict(locals())


# Estimators that take several labels for each row themselves.
SEVERAL = {"KNeighborsClassifier", "DummyClassifier", "DecisionTreeClassifier", "RandomForestClassifier", "ExtraTreesClassifier", "MLPClassifier"}


def make(spec, multilabel):
    """The steps of a pipeline, in order."""
    known = estimators()
    steps = []
    if spec["scale"] == "unit":
        from sklearn.preprocessing import FunctionTransformer

        steps.append(FunctionTransformer(lambda x: x * np.float32(1 / 255)))
    elif spec["scale"] == "standard":
        from sklearn.preprocessing import StandardScaler

        steps.append(StandardScaler())
    if "before" in spec:
        steps.append(known[spec["before"]["system"]](**spec["before"]["params"]))
    last = known[spec["system"]](**spec["params"])
    if multilabel and spec["system"] not in SEVERAL:
        from sklearn.multiclass import OneVsRestClassifier

        last = OneVsRestClassifier(last)
    from sklearn.pipeline import make_pipeline

    return make_pipeline(*steps, last)


def measure(job):
    from sklearn.metrics import f1_score

    warnings.simplefilter("ignore")
    model = make(job["spec"], job["multilabel"])
    x, y = load(job, "train")
    start = time.process_time()
    model.fit(x, y)
    train = time.process_time() - start
    facts = {"trainRows": x.shape[0]}
    x, y = load(job, "test")
    start = time.process_time()
    predicted = model.predict(x)
    apply = time.process_time() - start
    facts["testRows"] = x.shape[0]
    iterations = getattr(model.steps[-1][1], "n_iter_", None)
    if iterations is not None:
        facts["iterations"] = int(np.max(iterations))
    return {
        "macroF1": f1_score(y, predicted, average="macro", zero_division=0),
        "microF1": f1_score(y, predicted, average="micro", zero_division=0),
        "seconds": {"train": train, "apply": apply},
        "facts": facts,
        "cpu": time.process_time(),
    }


def write(job, result):
    with open(job["out"], "w") as file:
        json.dump(result, file)


def main():
    """Measures in a child process, which the system ends at its limit, whatever compiled code it is in."""
    job = json.loads(sys.argv[1])
    limit = job["limitSeconds"]
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        write(job, measure(job))
        return
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        write(job, {"failure": f"not finished within {limit} s of processor time"})
        return
    sys.exit(os.waitstatus_to_exitcode(status))


main()
