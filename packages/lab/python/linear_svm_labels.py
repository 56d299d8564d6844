"""A linear SVM for each label on a pair of svmlight files: F1 and the processor seconds of fit and predict.

Reads a job (JSON, the only argument: train, test) and writes figures to the path it names.
"""

import json
import sys
import time

from sklearn.datasets import load_svmlight_files
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.svm import LinearSVC

job = json.loads(sys.argv[1])
x, y, unseen, truth = load_svmlight_files([job["train"], job["test"]], multilabel=True)
labels = MultiLabelBinarizer().fit([*y, *truth])
y, truth = labels.transform(y), labels.transform(truth)
began = time.process_time()
found = OneVsRestClassifier(LinearSVC()).fit(x, y).predict(unseen)
cpu = time.process_time() - began
scores = {name: float(f1_score(truth, found, average=name.removeprefix("svm").lower(), zero_division=0)) for name in ("svmMicro", "svmMacro")}
with open(job["out"], "w") as file:
    json.dump({"figures": {**scores, "svmCpu": cpu}}, file)
