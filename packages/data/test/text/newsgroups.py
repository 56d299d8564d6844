"""The figures of newsgroups.test.ts, by scikit-learn: python3 newsgroups.py 20news-bydate.tar.gz"""

import hashlib
import math
import sys
import tarfile

import numpy as np
from sklearn.datasets._twenty_newsgroups import (
    strip_newsgroup_footer,
    strip_newsgroup_header,
    strip_newsgroup_quoting,
)
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

with tarfile.open(sys.argv[1]) as archive:
    files = sorted((tuple(m.name.split("/")), archive.extractfile(m).read().decode("latin1")) for m in archive if m.isfile())


def posts(part):
    return [
        strip_newsgroup_quoting(strip_newsgroup_footer(strip_newsgroup_header(text)))
        for path, text in files
        if path[0] == f"20news-bydate-{part}"
    ]


def digest(content):
    return hashlib.sha256(content).hexdigest()[:16]


def outline(x):
    x.eliminate_zeros()
    x.sort_indices()
    return (*x.shape, x.nnz, *[digest(np.asarray(a, "<f8").tobytes()) for a in (x.indptr, x.indices, x.data)])


def most_frequent(texts, max_features, **params):
    """Of equally frequent words the first ones in order are kept; max_features takes any, by a sort that is not stable."""
    every = CountVectorizer(**params)
    frequency = np.asarray(every.fit_transform(texts).sum(axis=0))[0]
    kept = np.sort(np.argsort(-frequency, kind="stable")[:max_features])
    return CountVectorizer(**{**params, "min_df": 1, "max_df": 1.0}, vocabulary=every.get_feature_names_out()[kept])


train, test = posts("train"), posts("test")
print(len(train), digest("\0".join(train).encode()))
PAIRS = {"ngram_range": (1, 2), "min_df": 3, "max_df": 0.5, "stop_words": ["the", "of", "and"]}
for v, texts in [
    (CountVectorizer(), train),
    (most_frequent(train, 10000), train),
    (most_frequent(train[:2000], 5000, **PAIRS), train[:2000]),
]:
    x = v.fit_transform(texts)
    print(digest("\n".join(v.get_feature_names_out()).encode()), outline(x), outline(v.transform(test)))
print("sum of tf-idf", repr(math.fsum(TfidfVectorizer().fit_transform(train).data)))
print("hashed", outline(HashingVectorizer().fit_transform(train[:1000])))
