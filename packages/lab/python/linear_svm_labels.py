"""A linear SVM for each label on a pair of svmlight files: F1 and the processor seconds of fit and predict, as JSON.

    python3 linear_svm_labels.py train.svm.gz test.svm.gz
"""

import json
import sys
import time

from sklearn.datasets import load_svmlight_files
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.svm import LinearSVC

x, y, unseen, truth = load_svmlight_files(sys.argv[1:3], multilabel=True)
labels = MultiLabelBinarizer().fit([*y, *truth])
y, truth = labels.transform(y), labels.transform(truth)
began = time.process_time()
found = OneVsRestClassifier(LinearSVC()).fit(x, y).predict(unseen)
cpu = time.process_time() - began
scores = {name: float(f1_score(truth, found, average=name, zero_division=0)) for name in ("micro", "macro")}
print(json.dumps({**scores, "cpu": cpu}))
