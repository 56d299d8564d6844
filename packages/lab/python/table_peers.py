"""A classifier of scikit-learn on a CSV file with words and gaps, in given folds; answers to all rows are judged together.

Reads a job (JSON, the only argument: path, label, rows, folds, seed, system) and writes figures to the path it names. Numbers are
scaled and their gaps filled with the median, words become a column each; all else is the default of scikit-learn.
"""

import csv
import gzip
import json
import sys
import time
import warnings

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

GAPS = {"", "NA", "NaN", "nan", "?"}


def number(cell):
    return np.nan if cell in GAPS else float(cell)


def read(path, label, limit):
    """Columns of numbers, columns of words, and labels."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    rows = rows[:limit]
    y = np.array([row[head.index(label)] for row in rows])
    numbers, words = [], []
    for at, name in enumerate(head):
        if name == label:
            continue
        cells = [row[at] for row in rows]
        try:
            numbers.append([number(cell) for cell in cells])
        except ValueError:
            words.append(cells)
    columns = [np.array(column, float) for column in numbers] + [np.array(column) for column in words]
    x = np.empty((len(rows), len(columns)), object)
    for at, column in enumerate(columns):
        x[:, at] = column
    return x, y, len(numbers)


def make(system, numbers, columns, seed):
    scaled = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    encode = ColumnTransformer(
        [
            ("numbers", scaled, list(range(numbers))),
            ("words", OneHotEncoder(handle_unknown="ignore", sparse_output=False), list(range(numbers, columns))),
        ]
    )
    last = {
        "linear": lambda: LogisticRegression(max_iter=1000),
        "neighbours": lambda: KNeighborsClassifier(5),
        "forest": lambda: RandomForestClassifier(random_state=seed, n_jobs=1),
        "boosting": lambda: HistGradientBoostingClassifier(random_state=seed),
    }[system]()
    return make_pipeline(encode, last)


def calibration_error(sure, right, bins=15):
    """As in @ranksim/learn: intervals of equal width, the distance in each weighted by its answers."""
    at = np.minimum((sure * bins).astype(int), bins - 1)
    gaps = [abs(sure[at == b].sum() - right[at == b].sum()) for b in range(bins)]
    return sum(gaps) / len(sure)


def main():
    job = json.loads(sys.argv[1])
    warnings.simplefilter("ignore")
    x, y, numbers = read(job["path"], job["label"], job["rows"])
    found = np.empty_like(y)
    sure = np.zeros(len(y))
    cpu = 0
    for test in job["folds"]:
        known = np.ones(len(y), bool)
        known[test] = False
        began = time.process_time()
        model = make(job["system"], numbers, x.shape[1], job["seed"]).fit(x[known], y[known])
        cpu += time.process_time() - began
        found[test] = model.predict(x[test])
        sure[test] = model.predict_proba(x[test]).max(axis=1)
    figures = {
        "accuracy": accuracy_score(y, found),
        "macroF1": f1_score(y, found, average="macro"),
        "calibrationError": calibration_error(sure, found == y),
        "cpu": cpu,
    }
    with open(job["out"], "w") as file:
        json.dump({"figures": figures}, file)


main()
