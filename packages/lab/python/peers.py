"""One Python system, measured in a process of its own: an estimator of scikit-learn or of the authors' package.

Reads a job (JSON, the only argument), fits and applies the estimator and writes figures (JSON, to the path the job names). Seconds
are of the processor, between rows as they are and labels, scaling and reductions included; loading and conversion are outside.
Threads and BLAS settings are the caller's, by environment variables. A fit that takes more processor time than the job allows is
ended, and the error says so.
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
    """Rows in the type the job asks for (float32, scikit-learn's fastest, if none), and labels: numbers, or a 0/1 matrix."""
    rows = np.fromfile(job[part], np.uint32)
    x = load_matrix(job["folder"], "all")[rows]
    if "type" in job or isinstance(x, np.ndarray):
        x = x.astype(job.get("type", "float32"))
    if job["multilabel"]:
        return x, np.asarray(load_matrix(job["folder"], "sets")[rows].todense())
    return x, np.fromfile(f"{job['folder']}/all.labels", np.uint8)[rows].astype(np.int64)


def estimators():
    """Everything of scikit-learn that jobs may name."""
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
    """The estimator, behind its scaling and reduction."""
    if spec["system"].startswith("ranksim."):
        import ranksim

        return getattr(ranksim, spec["system"].removeprefix("ranksim."))(**spec["params"])
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


def peak_bytes():
    """Most resident memory of this process; see src/runner/stopwatch.ts for why not getrusage where Linux tells."""
    try:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) * 1024
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(job):
    warnings.simplefilter("ignore")
    if job.get("package"):
        sys.path.insert(0, job["package"])
    model = make(job["spec"], job["multilabel"])
    x, y = load(job, "train")
    facts = {"trainRows": x.shape[0]}
    figures = {}

    def timed(name, call):
        began = time.process_time()
        result = call()
        figures[name] = time.process_time() - began
        return result

    timed("fit", lambda: model.fit(x, y))
    figures["peakFit"] = peak_bytes()
    x, y = load(job, "test")
    facts["testRows"] = x.shape[0]
    phases = job.get("phases", ["predict"])
    if "predict" in phases:
        from sklearn.metrics import f1_score

        predicted = timed("predict", lambda: model.predict(x))
        figures["macroF1"] = f1_score(y, predicted, average="macro", zero_division=0)
        figures["microF1"] = f1_score(y, predicted, average="micro", zero_division=0)
    if "probabilities" in phases:
        timed("probabilities", lambda: model.predict_proba(x))
    if "transform" in phases:
        timed("transform", lambda: model.transform(x))
    steps = getattr(model, "steps", None)
    iterations = getattr(steps[-1][1], "n_iter_", None) if steps else None
    if iterations is not None:
        facts["iterations"] = int(np.max(iterations))
    figures["peak"] = peak_bytes()
    figures["cpu"] = time.process_time()
    return {"figures": figures, "facts": facts}


def main():
    """Measures in a child process, which the system ends at its limit, whatever compiled code it is in."""
    job = json.loads(sys.argv[1])
    limit = job["limitSeconds"]
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        with open(job["out"], "w") as file:
            json.dump(measure(job), file)
        return
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        sys.exit(f"error: not finished within {limit} s of processor time")
    sys.exit(os.waitstatus_to_exitcode(status))


main()
