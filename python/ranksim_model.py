#!/usr/bin/env python3
"""ranksim models in Python, with numpy alone: the labels of the library, and its probabilities to the last digits.

    from ranksim_model import Model, RanksimClassifier

    model = Model("digits.ranksim")          # what `ranksim train` wrote
    model.predict(x)                         # labels, as a list
    model.predict_proba(x)                   # rows x model.classes
    model.transform(x)                       # of a transform

    python3 ranksim_model.py model           what the file holds
    python3 ranksim_model.py model rows.npy  one label a line, as JSON

FORMAT.md describes the file. x is an array of rows or a sparse matrix of scipy, or a list of texts for models that begin with a
vectoriser. Models can be pickled. A new kind of model adds its class to KINDS. ranksim_estimators.py trains.
"""

import datetime
import hashlib
import json
import re
import sys
from decimal import Decimal

import numpy as np

TYPES = {"F64": "<f8", "F32": "<f4", "U32": "<u4", "U16": "<u2", "I16": "<i2", "U8": "u1"}
BEFORE_DIGEST = b'{"__metadata__":{"format":"ranksim","version":"1","digest":"'
BLOCK_FILTERS = 64


def read_model(path):
    """The model in a file: a dict with kind, meta, arrays and, for a composed model, steps of the same form."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    at = 8 + len(BEFORE_DIGEST)
    if data[8:at] != BEFORE_DIGEST:
        raise ValueError("not a ranksim model of version 1")
    digest = data[at : at + 64].decode()
    data[at : at + 64] = b"0" * 64
    if hashlib.sha256(data).hexdigest() != digest:
        raise ValueError("damaged: the digest does not fit the bytes")
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    model = json.loads(header.pop("__metadata__")["model"])

    def view(entry):
        begin, end = entry["data_offsets"]
        return np.frombuffer(data[start + begin : start + end], TYPES[entry["dtype"]]).reshape(entry["shape"])

    add_arrays(model, "", {name: view(entry) for name, entry in header.items()})
    return model


def add_arrays(model, prefix, arrays):
    """Gives each part of the model its arrays: those of step 1 are named 1.filters, 1.norm and so on."""
    own = {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}
    model["arrays"] = {name: array for name, array in own.items() if "." not in name}
    for i, step in enumerate(model.get("steps", [])):
        add_arrays(step, f"{prefix}{i}.", arrays)


def Model(source):
    """The model in a file, or in a dict of `read_model`. It has what its kind has: predict, predict_proba, transform."""
    saved = source if isinstance(source, dict) else read_model(source)
    if saved["kind"] not in KINDS:
        raise ValueError(f"no class for models of kind {saved['kind']}, only for {', '.join(KINDS)}")
    return KINDS[saved["kind"]](saved)


class Part:
    def __init__(self, saved):
        self.saved = saved
        self.kind = saved["kind"]
        self.meta, self.arrays = saved["meta"], saved["arrays"]
        self.params = self.meta.get("params", {})
        self.schema = saved.get("schema")

    def __reduce__(self):
        return Model, (self.saved,)


class Filters(Part):
    """What transform, classifier and probabilistic models share: responses and similarities."""

    def __init__(self, saved):
        super().__init__(saved)
        self.features = self.meta["features"]
        self.count = len(self.arrays["norm"])
        if "classes" in self.meta:
            self.classes = self.meta["classes"]

    def weights(self, first, last):
        """The weights of some filters, one row each: stored as they are, or as a base weight and its exceptions."""
        if "filters" in self.arrays:
            return self.arrays["filters"][first:last]
        base, offsets = self.arrays["base"], self.arrays["filter_offsets"]
        indices, exceptions = self.arrays["filter_indices"], self.arrays["filter_weights"]
        out = np.empty((len(base[first:last]), self.features), exceptions.dtype)
        for row, f in zip(out, range(first, last)):
            row[:] = base[f]
            row[indices[offsets[f] : offsets[f + 1]]] = exceptions[offsets[f] : offsets[f + 1]]
        return out

    def responses(self, x):
        """rows x filters: x.w / norm."""
        x = rows_of(x)
        if x.ndim != 2 or x.shape[1] != self.features:
            raise ValueError(f"expected rows of {self.features} features, found shape {x.shape}")
        blocks = range(0, self.count, BLOCK_FILTERS)
        found = [products(x, self.weights(f, min(f + BLOCK_FILTERS, self.count))) for f in blocks]
        return np.concatenate(found, axis=1) / self.arrays["norm"]

    def similarities(self, x, n_best=None):
        """rows x filters: 1 for the strongest, 0 for the k-th strongest and below."""
        k = min(n_best or self.params["nBest"], self.count - 1)
        responses = self.responses(x)
        out = np.zeros(responses.shape)
        for row, s in zip(out, responses):
            largest = s.max()
            if np.all(s == largest):
                row[:] = 0.0 if largest == 0 else 1.0
                continue
            low = np.sort(s)[::-1][k - 1]
            if low == largest:
                low = s[s < largest].max()
            row[:] = np.maximum((s - low) / (largest - low), 0)
        return out


def rows_of(x):
    """An array; sparse rows stay as scipy has them, with their entries in order."""
    if not hasattr(x, "tocsr"):
        return np.asarray(x)
    x = x.tocsr().copy()
    x.sum_duplicates()
    return x


def products(x, w):
    """x.w for every row of x and every filter of w, added in the order in which the library adds."""
    w64 = w.astype(np.float64)
    if whole(getattr(x, "data", x) if hasattr(x, "indptr") else x) and whole(w):
        return x.astype(np.float64) @ w64.T  # whole numbers below 2^53 are exact in any order
    out = np.empty((x.shape[0], len(w)))
    for r in range(x.shape[0]):
        at, row = entries(x, r)  # a product of 0 adds nothing
        lane = np.zeros((8, len(w)))
        for j in range(8):
            own = at % 8 == j
            if own.any():
                lane[j] = np.cumsum(row[own, None] * w64[:, at[own]].T, axis=0)[-1]
        out[r] = ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]))
    return out


def entries(x, r):
    """Where row r is not zero, and its values there."""
    if hasattr(x, "indptr"):
        at = slice(x.indptr[r], x.indptr[r + 1])
        return x.indices[at], x.data[at].astype(np.float64)
    (at,) = np.nonzero(x[r])
    return at, x[r, at].astype(np.float64)


def whole(values):
    return values.dtype.kind in "biu" or bool(np.all(values == np.floor(values)))


class Transform(Filters):
    def transform(self, x):
        return self.similarities(x)


class Classifier(Filters):
    def predict(self, x):
        return [self.classes[c] for c in self.codes(x)]

    def codes(self, x):
        """The class number of each row: that of the largest probability where this decides, else as the filters vote."""
        if self.params.get("decision", "vote") == "probability":
            # Probabilities rise with the scores, but for rounding, unless each class has a function of its own.
            plain = "calibration_factor" in self.arrays and "calibration_points" not in self.arrays
            return (self.evidence(x) if plain else self.predict_proba(x)).argmax(axis=1)
        if "filter_bank" in self.arrays:
            return self.scores(x).argmax(axis=1)
        of = self.arrays["filter_class"]
        own = (of[:, None] == np.arange(len(self.classes))).astype(np.float64)
        voters = self.params.get("voters", 1)
        if voters == 1:
            response = self.responses(x)
            strongest = response == response.max(axis=1, keepdims=True)
            codes = of[response.argmax(axis=1)].astype(int)
            ties = np.count_nonzero(strongest, axis=1) > 1
            codes[ties] = (strongest[ties] @ own).argmax(axis=1)
            return codes
        # Similar filters vote with their similarity: equal sums go to the class with most voters, then to the lowest.
        similar = self.similarities(x, voters + 1)
        found = np.empty(len(similar), int)
        for r, row in enumerate(similar):
            order = [f for f in np.lexsort((np.arange(self.count), -row)) if row[f] > 0]
            sums, counts = np.zeros(len(self.classes)), np.zeros(len(self.classes))
            for f in order:  # in the library's order, strongest first
                sums[self.arrays["filter_class"][f]] += row[f]
                counts[self.arrays["filter_class"][f]] += 1
            if not order:
                counts = sums = own.sum(axis=0)
            found[r] = max(range(len(sums)), key=lambda c: (sums[c], counts[c], -c))
        return found

    def scores(self, x):
        """rows x classes: the strongest response of each class, summed over the banks of a committee."""
        response, of = self.responses(x), self.arrays["filter_class"]
        bank = self.arrays.get("filter_bank", np.zeros(self.count, int))
        out = np.zeros((len(response), len(self.classes)))
        for b in range(bank.max() + 1):
            for c in range(len(self.classes)):
                out[:, c] += response[:, (bank == b) & (of == c)].max(axis=1)
        return out

    def counts_votes(self):
        """Whether probabilities are made of votes: where several filters vote and the largest probability decides."""
        return self.params.get("decision", "vote") == "probability" and self.params.get("voters", 1) > 1

    def evidence(self, x):
        """rows x classes, what probabilities are fitted to: scores, or shares of the votes."""
        return self.vote_shares(x) if self.counts_votes() else self.scores(x)

    def vote_shares(self, x):
        """rows x classes: each class's share of the similarity of the similar filters, added strongest first."""
        out = np.zeros((len(x), len(self.classes)))
        for sums, row in zip(out, self.similarities(x, self.params["voters"] + 1)):
            for f in np.lexsort((np.arange(self.count), -row)):
                sums[self.arrays["filter_class"][f]] += row[f]
        return normalized(out)

    def predict_proba(self, x):
        if self.params.get("calibrate", "none") != "none" and self.counts_votes():
            return fitted(self.arrays, np.log(self.vote_shares(x) + 0.001))
        if self.params.get("calibrate", "none") != "none":
            scores = self.scores(x)
            size = np.abs(scores).mean(axis=1, keepdims=True)
            scores = np.divide(scores, size, out=scores, where=size > 0)
            if "calibration_spread" in self.arrays:
                scores -= scores.mean(axis=1, keepdims=True)
                root = np.sqrt(scores.std(axis=1, keepdims=True))
                scores = np.divide(scores, root, out=scores, where=root > 0)
            if "calibration_halfway" in self.arrays:
                length = (np.diff(rows_of(x).indptr) if hasattr(x, "tocsr") else np.count_nonzero(np.asarray(x), axis=1))[:, None]
                scores *= length / (length + self.arrays["calibration_halfway"][0])
            return fitted(self.arrays, scores)
        if "filter_bank" in self.arrays:
            scores = self.scores(x)
            return normalized(scores - scores.min(axis=1, keepdims=True))
        if self.counts_votes():
            return self.vote_shares(x)
        similar, of = self.similarities(x), self.arrays["filter_class"]
        out = np.zeros((len(similar), len(self.classes)))
        for c in range(len(self.classes)):
            out[:, c] = similar[:, of == c].max(axis=1)
        for row, near in zip(out, similar):
            top = np.bincount(of[near == 1], minlength=len(row))
            # A class counts once for each of its similar filters, as often as the library multiplies it.
            if np.count_nonzero(top) > 1:
                for f in np.nonzero(near > 0)[0]:
                    row[of[f]] *= 1 + top[of[f]]
                    top[of[f]] = 0
        return normalized(out)


class Probabilistic(Filters):
    def shares(self):
        """filters x classes: the share of each class or label among a filter's rows."""
        if "filter_labels" in self.arrays:
            return self.arrays["filter_labels"]
        c, several = len(self.classes), self.meta["multilabel"]
        offsets, rows = self.arrays["label_offsets"], self.arrays["label_rows"].astype(np.float64)
        counts = np.zeros((self.count, c))
        for f in range(self.count):
            at = slice(offsets[f], offsets[f + 1])
            counts[f, self.arrays["label_indices"][at]] = self.arrays["label_counts"][at]
        common = np.full(c, 0.5 if several else 1 / c)
        if self.params.get("combine") == "mean" and rows.sum() > 0:
            common = counts.sum(axis=0) / rows.sum()
        return np.where(rows[:, None] > 0, counts / np.maximum(rows, 1)[:, None], common)

    def scores(self, x):
        similar, shares = self.similarities(x), self.shares()
        silent = ~(similar > 0).any(axis=1)
        if self.params.get("combine", "max") == "mean":
            out = similar @ shares / np.maximum(similar.sum(axis=1, keepdims=True), 1e-300)
            out[silent] = shares.mean(axis=0)
            return out
        out = np.array([(shares * row[:, None]).max(axis=0) for row in similar])
        if not self.meta["multilabel"]:
            return normalized(out)
        absent = np.array([((1 - shares) * row[:, None]).max(axis=0) for row in similar])
        both = out + absent
        return np.where(both > 0, out / np.where(both > 0, both, 1), 0.5)

    def predict(self, x):
        scores = self.scores(x)
        if not self.meta["multilabel"]:
            return [self.classes[c] for c in scores.argmax(axis=1)]
        least = self.arrays.get("thresholds", np.full(len(self.classes), 0.5))
        return [[self.classes[c] for c in np.nonzero(row > least)[0]] for row in scores]

    def predict_proba(self, x):
        scores = self.scores(x)
        if self.params.get("calibrate", "none") == "none":
            return scores
        if not self.meta["multilabel"]:
            return fitted(self.arrays, np.log(scores + 0.001))
        if "calibration_curves" in self.arrays:
            slope, offset = self.arrays["calibration_curves"].T
            return 1 / (1 + np.exp(-(slope * np.log(scores + 0.001) + offset)))
        return rising(self.arrays, scores)


def normalized(values):
    """Rows that add up to 1; a row of zeros becomes uniform."""
    total = values.sum(axis=1, keepdims=True)
    return np.where(total > 0, values / np.where(total > 0, total, 1), 1 / values.shape[1])


def fitted(arrays, scores):
    """Probabilities of classes, fitted to rows held out of training."""
    power = np.exp(arrays["calibration_factor"][0] * (scores - scores.max(axis=1, keepdims=True)))
    out = power / power.sum(axis=1, keepdims=True)
    if "calibration_points" not in arrays:
        return out
    out = rising(arrays, out)
    return out / out.sum(axis=1, keepdims=True)


def rising(arrays, scores):
    """The value of each class's function: straight between its points, flat beyond them."""
    offsets, points = arrays["calibration_offsets"], arrays["calibration_points"].reshape(-1, 2)
    parts = [points[offsets[c] : offsets[c + 1]].T for c in range(scores.shape[1])]
    return np.stack([np.interp(scores[:, c], *parts[c]) for c in range(scores.shape[1])], axis=1)


class Linear(Part):
    def __init__(self, saved):
        super().__init__(saved)
        self.classes = self.meta["classes"]
        self.several = self.meta.get("multilabel", False)

    def distances(self, x):
        """rows x classes: x.w + intercept; two classes are on two sides of one plane."""
        values = products(rows_of(x), self.arrays["weights"]) + self.arrays["intercepts"]
        return values if values.shape[1] == len(self.classes) else np.concatenate([-values, values], axis=1)

    def predict(self, x):
        if self.several:
            least = self.arrays.get("thresholds", np.full(len(self.classes), 0.5))
            return [[self.classes[c] for c in np.nonzero(row > least)[0]] for row in self.predict_proba(x)]
        # Probabilities rise with the distances, but for rounding, unless each class has a function of its own.
        found = self.predict_proba(x) if "calibration_points" in self.arrays else self.distances(x)
        return [self.classes[c] for c in found.argmax(axis=1)]

    def predict_proba(self, x):
        distances = self.distances(x)
        if not self.several:
            factor = {"calibration_factor": np.ones(1)} if "calibration_factor" not in self.arrays else self.arrays
            return fitted(factor, distances)
        if "calibration_curves" in self.arrays:
            slope, offset = self.arrays["calibration_curves"].T
            return 1 / (1 + np.exp(-(slope * distances + offset)))
        shares = 1 / (1 + np.exp(-2 * distances))
        return rising(self.arrays, shares) if "calibration_points" in self.arrays else shares


class Scaler(Part):
    def transform(self, x):
        shift, scale = self.arrays["shift"], self.arrays["scale"]
        x = x.toarray() if hasattr(x, "toarray") else x
        return np.where(scale == 0, 0, (np.asarray(x, np.float64) - shift) / np.where(scale == 0, 1, scale))


class RowScaler(Part):
    def transform(self, x):
        """Ranks less that of the zeros, or logarithms, of each row by itself."""
        x = rows_of(x)
        x = np.asarray(x.todense() if hasattr(x, "todense") else x, np.float64)
        if self.params["by"] == "rank":
            return np.stack([self.ranks(row) for row in x]) if len(x) else x
        if self.params["by"] == "log-share":
            sums = np.abs(x).sum(axis=1, keepdims=True)
            x = x / np.where(sums == 0, 1, sums) * 10_000
        return (np.sign(x) * np.log(1 + np.abs(x))).astype(np.float32)

    @staticmethod
    def ranks(row):
        _, inverse, counts = np.unique(row, return_inverse=True, return_counts=True)
        ends = np.cumsum(counts)
        ranks = (2 * ends - counts + 1)[inverse]
        zeros = ranks[row == 0]
        ranks = ranks - (zeros[0] if len(zeros) else 1 + 2 * np.sum(row < 0))
        return ranks.astype(np.float32 if len(row) < 2**23 else np.float64)


ESCAPE = r"\\(?:[wWdDsSfnrtv]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[^a-zA-Z0-9])"
CHARACTER = rf"(?:{ESCAPE}|\[(?!\^?\])(?:(?!\\[WS]){ESCAPE}|[^\]\\])+\]|[^\\\[\](){{}}|*+?^$])"
PATTERN_PART = re.compile(rf"\||\\b|{CHARACTER}(?:[*+?]|\{{(\d{{1,4}})(?:,(\d{{0,4}}))?\}})?")
# Of characters only the last has a count that is not fixed. Before \b without end it is \w, or in a word that begins with \b.
FIXED = rf"(?:{CHARACTER}(?:\{{\d+\}})?)*"
LAST = rf"(?:{CHARACTER}(?:[*+?]|\{{\d+(?:,\d*)?\}})?|{CHARACTER}(?:\?|\{{\d+(?:,\d+)?\}})?\\b|\\w(?:[*+]|\{{\d+,\}})\\b)"
ROW = re.compile(rf"(?:\\b)?{FIXED}{LAST}")
IN_WORD = r"(?:\\[wd]|\w|\[(?:\\[wd]|[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|\w)+\])"
WORD = re.compile(rf"\\b(?:{IN_WORD}(?:\{{\d+\}})?)*{IN_WORD}(?:[*+]|\{{\d+,\}})\\b")


def compiled_pattern(pattern):
    """A token pattern. Others than ranksim fits may take time without end, and are refused: FORMAT.md has the form."""
    rows, characters = [""], 0
    at = 4 if pattern.startswith("(?u)") else 0
    while 0 <= at < len(pattern) <= 1000:
        part = PATTERN_PART.match(pattern, at)
        if part and part[0] == "|":
            rows.append("")
        elif part:
            rows[-1] += part[0]
            characters += part[0] != "\\b" and max(1, int(part[2] or part[1] or 1))
        at = part.end() if part else -1
    if at == len(pattern) and characters <= 100 and all(ROW.fullmatch(row) or WORD.fullmatch(row) for row in rows):
        try:
            return re.compile(pattern)
        except re.error:
            pass
    raise ValueError(f"tokenPattern: expected a pattern of the form in FORMAT.md, found {pattern[:80]!r}")


class Vectorizer(Part):
    """Texts to rows of numbers, as count, tfidf and hashing vectorisers do."""

    def __init__(self, saved):
        super().__init__(saved)
        self.pattern = compiled_pattern(self.params["tokenPattern"])
        if self.kind == "hashing-vectorizer":
            self.features = self.params["nFeatures"]
            return
        data, offsets = self.arrays["term_bytes"].tobytes(), self.arrays["term_offsets"]
        self.terms = [data[a:b].decode() for a, b in zip(offsets[:-1], offsets[1:])]
        self.place = {term: i for i, term in enumerate(self.terms)}
        self.features = len(self.terms)

    def analyze(self, text):
        text = text.lower() if self.params["lowercase"] else text
        # Halves of characters that stand alone are one unknown character each.
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        least, most = self.params["ngramRange"]
        kind = self.params.get("analyzer", "word")
        if kind == "char":
            text = re.sub(r"\s\s+", " ", text)
            return [text[i : i + n] for n in range(least, most + 1) for i in range(len(text) - n + 1)]
        if kind == "char_wb":
            words = [f" {word} " for word in text.split()]
            sizes = [(w, n) for w in words for n in range(least, max(least, min(most, len(w))) + 1)]
            return [w[i : i + n] for w, n in sizes for i in range(max(1, len(w) - n + 1))]
        tokens = self.pattern.findall(text)
        stop = set(self.params.get("stopWords") or [])
        tokens = [token for token in tokens if token not in stop]
        sizes = range(least, min(most, len(tokens)) + 1)
        return [" ".join(tokens[i : i + n]) for n in sizes for i in range(len(tokens) - n + 1)]

    def transform(self, texts):
        out = np.zeros((len(texts), self.features))
        for row, text in zip(out, texts):
            for term in self.analyze(text):
                if self.kind == "hashing-vectorizer":
                    value = murmur(term.encode())
                    at = 2**31 - 1 - (self.features - 1) if value == -(2**31) else abs(value)
                    row[at % self.features] += -1 if self.params["alternateSign"] and value < 0 else 1
                elif term in self.place:
                    row[self.place[term]] += 1
        if self.params.get("binary"):
            out = (out != 0).astype(np.float64)
        if self.kind == "tfidf-vectorizer":
            seen = out > 0
            if self.params["sublinearTf"]:
                out[seen] = np.log(out[seen]) + 1
            if self.params["logTf"]:
                out[seen] = np.log(1 + out[seen])
            if self.params["useIdf"]:
                factor = self.arrays["idf"].copy()
                for _ in range(1, self.params["idfPower"]):
                    factor *= self.arrays["idf"]
                out *= factor
        return scaled(out, self.params.get("norm", "none"))


def scaled(rows, norm):
    """Rows whose absolute values (l1) or squares (l2) add up to 1, summed from left to right as the library does."""
    for row in rows if norm != "none" else []:
        (at,) = np.nonzero(row)
        if len(at):
            total = np.cumsum(np.abs(row[at]) if norm == "l1" else row[at] ** 2)[-1]
            row[at] /= total if norm == "l1" else np.sqrt(total)
    return rows


def murmur(data):
    """MurmurHash3 (x86, 32 bits) as a signed number."""

    def scramble(k):
        k = k * 0xCC9E2D51 & 0xFFFFFFFF
        return ((k << 15 | k >> 17) & 0xFFFFFFFF) * 0x1B873593 & 0xFFFFFFFF

    h, tail = 0, len(data) & ~3
    for i in range(0, tail, 4):
        h ^= scramble(int.from_bytes(data[i : i + 4], "little"))
        h = ((h << 13 | h >> 19) & 0xFFFFFFFF) * 5 + 0xE6546B64 & 0xFFFFFFFF
    if len(data) > tail:
        h ^= scramble(int.from_bytes(data[tail:], "little"))
    h ^= len(data)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        h = (h ^ h >> shift) * factor & 0xFFFFFFFF
    return h - 2**32 if h >= 2**31 else h


class TableEncoder(Part):
    """Cells of a table to rows of numbers: soft bins, a feature a word, the parts of dates, weighted words of texts, zeros for missing values.

    Rows are dicts by column, as csv.DictReader gives them, or lists in the order of the columns. Categories are taken with their
    blanks: where cells of a CSV have some outside quotes, take them away as the command does.
    """

    MISSING = {"", "na", "n/a", "nan", "null", "none", "?"}
    TRUTHS = {"false": 0, "no": 0, "f": 0, "n": 0, "off": 0, "0": 0, "true": 1, "yes": 1, "t": 1, "y": 1, "on": 1, "1": 1}
    PLAIN = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
    COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?")
    CLOCK = r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,][0-9]+)?)?(?:\s*([AaPp])\.?[Mm]\.?)?"
    TIME = r"(?:[T ]+" + CLOCK + r"\s*(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
    MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    MONTH = "(" + "|".join(MONTHS) + ")[a-z]{0,6}"
    YEAR_FIRST = re.compile(r"([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})" + TIME)
    YEAR_LAST = re.compile(r"([0-9]{1,2})[-/.]([0-9]{1,2})[-/.]([0-9]{4})" + TIME)
    DAY_MONTH = re.compile(r"([0-9]{1,2})[- .]{1,2}" + MONTH + r"[- .,]{1,2}([0-9]{4})" + TIME, re.I | re.A)
    MONTH_DAY = re.compile(MONTH + r"[- .]{1,2}([0-9]{1,2})[- .,]{1,2}([0-9]{4})" + TIME, re.I | re.A)
    UNIT = r"US\$|[$€£¥₹₩₽]|USD|EUR|GBP|CHF|JPY"
    BLANK = r"[ \u00a0\u202f]"
    WITH_UNIT = re.compile(
        rf"([+-]?)(?:({UNIT}){BLANK}?)?([+-]?[0-9.,][0-9., \u00a0\u202f'\u2019]*(?:[eE][+-]?[0-9]+)?)({UNIT}|[%‰])?"
    )
    GROUPS = {",": ",", ".": r"\.", " ": BLANK, "'": r"['\u2019]"}

    def __init__(self, saved):
        super().__init__(saved)
        knots, offsets = self.arrays["knots"], self.arrays["knot_offsets"]
        parts = [knots[a:b] for a, b in zip(offsets[:-1], offsets[1:])]
        words = []
        if "term_bytes" in self.arrays:
            data, ends = self.arrays["term_bytes"].tobytes(), self.arrays["term_offsets"]
            words = [data[a:b].decode() for a, b in zip(ends[:-1], ends[1:])]
        self.columns = []
        for column in saved["meta"]["columns"]:
            count = {"number": 1, "time": 1, "date": 5}.get(column["type"], 0)
            own, parts = parts[:count], parts[count:]
            spelled, words = words[: column["words"]], words[column["words"] :]
            soft = [knots if len(knots) > 1 else knots[:0] for knots in own]
            column = {**column, "parts": soft, "gone": set(column.get("missing", []))}
            if column["type"] == "text":
                column["text"] = Model(saved["steps"][sum(c["type"] == "text" for c in self.columns)])
            first = sum(map(len, soft)) + (column["text"].features if "text" in column else 0)
            width = first + len(spelled) + column["other"] + column["gaps"]
            if column["type"] in ("number", "time"):
                # Numbers that have a feature of their own, and those that stand for a missing value.
                column["common"] = {float(word): first + i for i, word in enumerate(spelled)}
                values = [self.number(word, column) for word in column["gone"]] if column["type"] == "number" else []
                column["sentinels"] = {value for value in values if value is not None}
            column["place"] = {self.known(word, column): i for i, word in enumerate(spelled)}
            self.columns.append({**column, "width": 0 if width == 1 else width})
        self.features = sum(column["width"] for column in self.columns)

    def transform(self, rows):
        out = np.zeros((len(rows), self.features))
        for code, row in zip(out, rows):
            first = 0
            for c, column in enumerate(self.columns):
                cell = row[column["name"]] if isinstance(row, dict) else row[c]
                if column["width"] > 0:
                    self.encode(column, cell, code[first : first + column["width"]])
                first += column["width"]
        return out

    def encode(self, column, cell, code):
        text = "" if cell is None else str(cell)
        # Blanks around a number mean nothing; a category with blanks is another one.
        text = text if column["type"] in ("category", "text") else text.strip()
        values = None if text.lower() in self.MISSING or text in column["gone"] else self.values(text, column, isinstance(cell, str))
        if values is None:
            if column["gaps"]:
                code[-1] = 255
        elif column["type"] == "text":
            code[: column["text"].features] = 255 * column["text"].transform([text])[0]
        elif column["type"] == "category":
            at = column["place"].get(self.known(cell, column))
            if at is not None:
                code[at] = 255
            elif column["other"]:
                code[-1 - column["gaps"]] = 255
        elif column["type"] == "boolean":
            code[self.truth(text)] = 255
        elif values[0] in column.get("common", {}):
            code[column["common"][values[0]]] = 255
        else:
            first = 0
            for knots, value in zip(column["parts"], values):
                if len(knots) > 0:
                    self.soft_bins(value, knots, code[first : first + len(knots)])
                first += len(knots)

    def values(self, text, column, is_text):
        """The numbers of the parts of a cell, none where others than numbers count; None for a number that stands for none."""
        if column["type"] == "date":
            return self.date(text, column)
        if column["type"] == "time":
            found = re.compile(self.CLOCK).fullmatch(text)
            return [self.seconds(found.groups(), text, column) / 3600] if found else self.refuse("a time", text, column)
        if column["type"] != "number":
            return []
        # Numbers are what they are; in texts points and commas mean what they meant in training.
        value = self.number(text, column if is_text else {})
        if value is None:
            self.refuse("a number with a decimal comma" if column.get("decimal") else "a number", text, column)
        return None if value in column["sentinels"] else [value]

    @staticmethod
    def refuse(expected, text, column):
        raise ValueError(f"column {column['name']}: expected {expected}, found {text!r}")

    @staticmethod
    def soft_bins(value, knots, code):
        if value <= knots[0]:
            code[0] = 255
        elif value >= knots[-1]:
            code[-1] = 255
        else:
            low = int(np.searchsorted(knots, value, "right")) - 1
            share = (value / 2 - knots[low] / 2) / (knots[low + 1] / 2 - knots[low] / 2)
            above = np.floor(255 * share + 0.5)
            code[low], code[low + 1] = 255 - above, above

    def known(self, cell, column):
        """What a category is known by: as it is written, where the column says so, as JavaScript writes it where it is a number."""
        if not column.get("written"):
            return self.category(str(cell))
        if not isinstance(cell, (float, np.floating)):
            return str(cell)
        short = repr(float(cell))
        short = f"{Decimal(short):f}" if cell == 0 or 1e-6 <= abs(cell) < 1e21 else re.sub(r"e([+-])0*", r"e\1", short)
        return "0" if cell == 0 else short.removesuffix(".0")

    def category(self, text):
        """Numbers are known by their value: 1, 1.0 and 01 are one category, 0,5 and 0,50 another, which is not 0.5."""
        has_comma = self.COMMA.fullmatch(text)
        value = float(text.replace(",", ".")) if has_comma or self.PLAIN.fullmatch(text) else np.inf
        if not np.isfinite(value):
            return text
        # Where JavaScript writes the number without a point there is no comma to tell them apart: 2,00 is 2.
        is_plain = value == 0 or 1e-6 <= abs(value) < 1e21
        has_point = not value.is_integer() if is_plain else "." in repr(value)
        return (",", value) if has_comma and has_point else value + 0.0

    def truth(self, text):
        key = self.category(text.lower())
        key = str(int(key)) if key in (0.0, 1.0) else key
        if key not in self.TRUTHS:
            raise ValueError(f"expected yes or no, found {text!r}")
        return self.TRUTHS[key]

    def number(self, text, column):
        """The number that a text spells in the format of the column, None if it spells none."""
        thousands = column.get("thousands")
        if thousands or "unit" in column:
            found = self.WITH_UNIT.fullmatch(text.strip()) if len(text) <= 40 else None
            if not found or (found[2] and found[4]) or (found[2] or found[4] or column.get("unit")) != column.get("unit"):
                return None
            text = found[1] + found[3].strip()
            group = self.GROUPS.get(thousands)
            if group and re.search(group, text):
                point = {",": r"\.", ".": ","}.get(thousands, "[.,]")
                if not re.fullmatch(rf"[+-]?[1-9][0-9]{{0,2}}(?:{group}[0-9]{{3}})+(?:{point}[0-9]*)?", text):
                    return None
                text = re.sub(group, "", text)
        # A point is refused where decimals follow a comma: it might set thousands apart.
        value = None
        if column.get("decimal") and self.COMMA.fullmatch(text):
            value = float(text.replace(",", "."))
        elif self.PLAIN.fullmatch(text) and not (column.get("decimal") and "." in text):
            value = float(text)
        return value if value is not None and np.isfinite(value) else None

    def seconds(self, clock, text, column):
        hour, minute, second = (int(part or 0) for part in clock[:3])
        half = (clock[3] or "").lower()
        if minute > 59 or second > 60 or hour > 23 or (half and not 1 <= hour <= 12):
            self.refuse("a time", text, column)
        return ((hour % 12 + 12 * (half == "p") if half else hour) * 60 + minute) * 60 + second

    def date(self, text, column):
        """Days since 1970, month, day, weekday from Sunday, hour, by the clock that is written."""
        order = column.get("order", "ymd")
        if order in ("seconds", "milliseconds"):
            if not self.PLAIN.fullmatch(text):
                self.refuse("a date", text, column)
            time = float(text) * (1000 if order == "seconds" else 1)
            days = int(time // 86_400_000)
            clock = time - days * 86_400_000
            whole = datetime.date(1970, 1, 1) + datetime.timedelta(days)
            return [time / 86_400_000, whole.month, whole.day, (days + 4) % 7, int(clock // 3_600_000)]
        found = (self.YEAR_FIRST if order == "ymd" else self.YEAR_LAST).fullmatch(text)
        if not found and order != "ymd":
            found = (self.DAY_MONTH if order == "dmy" else self.MONTH_DAY).fullmatch(text)
        if not found:
            self.refuse("a date", text, column)
        parts = [self.MONTHS.index(p.lower()) + 1 if p.lower() in self.MONTHS else int(p) for p in found.groups()[:3]]
        year, month, day = (parts[i] for i in {"ymd": (0, 1, 2), "dmy": (2, 1, 0), "mdy": (2, 0, 1)}[order])
        days = datetime.date(year, month, day).toordinal() - datetime.date(1970, 1, 1).toordinal()
        clock = self.seconds(found.groups()[3:], text, column) * 1000
        return [(days * 86_400_000 + clock) / 86_400_000, month, day, (days + 4) % 7, clock // 3_600_000]


class Patches(Part):
    """Images to how often, and where, each of some small pictures is found in them."""

    def __init__(self, saved):
        super().__init__(saved)
        layers, limits = len(self.arrays), self.meta.get("limits")
        if not self.params.get("bytes", False):
            if limits is not None:
                raise ValueError("limits: expected none, since parameter bytes is not set")
            limits = [0] * layers  # values are the sums
        elif not isinstance(limits, list) or [type(one) is int and 0 < one < 2**15 for one in limits] != [True] * layers:
            raise ValueError(f"limits: expected {layers} whole numbers from 1 to 32767, found {limits}")
        self.limits = limits

    def transform(self, x):
        images = self.as_bytes(np.asarray(x, np.float64).reshape(len(x), -1))
        width, height, channels = self.meta["width"], self.meta["height"], self.meta["channels"]
        if images.shape[1] != width * height * channels:
            raise ValueError(f"expected images of {width} x {height} x {channels} values, found {images.shape[1]}")
        images = images.reshape(len(images), height, width, channels)
        layers = sorted((name for name in self.arrays), key=lambda name: int(name.split("_")[1]))
        return np.concatenate([self.pooled(images, layer, self.arrays[name]) for layer, name in enumerate(layers)], axis=1)

    def as_bytes(self, values):
        scale = self.meta["scale"]
        if scale is None:
            if not np.array_equal(values, np.clip(np.floor(values), 0, 255)):
                raise ValueError("expected whole numbers from 0 to 255 as in training")
            return values
        spread = scale["high"] - scale["low"]
        share = (values - scale["low"]) / spread if spread > 0 else np.zeros_like(values)
        if share.size and (share.max() > 11 or share.min() < -10):
            raise ValueError(f"expected numbers from about {scale['low']} to {scale['high']} as in training")
        return np.floor(255 * np.clip(share, 0, 1) + 0.5)

    def param(self, name, layer):
        value = self.params[name]
        return value[layer] if isinstance(value, list) else value

    def pooled(self, images, layer, filters):
        """rows x (cells x filters): sums of similarities of windows, or bytes that stand for them. Whole numbers."""
        rows, height, width, _ = images.shape
        patch, stride, grid, best = (self.param(name, layer) for name in ("patch", "stride", "grid", "nBest"))
        high, wide, m = min(patch, height), min(patch, width), len(filters)
        down, across = (height - high) // stride + 1, (width - wide) // stride + 1
        cells_down, cells_across = min(grid, down), min(grid, across)
        sums = np.zeros((rows, cells_down, cells_across, m))
        weights = filters.astype(np.float64).T
        for y in range(down):
            for x in range(across):
                part = images[:, y * stride : y * stride + high, x * stride : x * stride + wide].reshape(rows, -1)
                s = part @ weights
                order = np.sort(s, axis=1)
                low = order[:, [max(0, m - best)]]
                distance = order[:, [-1]] - low
                # A window of one value responds alike to all filters: its distance is 0, and it adds nothing.
                d = np.maximum(s - low, 0)
                similar = np.floor((255 * d + np.floor(distance / 2)) / np.where(distance > 0, distance, 1))
                sums[:, y * cells_down // down, x * cells_across // across] += np.where(d > 0, similar, 0)
        most = -(-across // cells_across) * -(-down // cells_down) * 255
        sums = sums.reshape(rows, -1).astype(np.int64) >> max(0, most.bit_length() - 15)
        limit = self.limits[layer]
        return sums if limit == 0 else (np.minimum(sums, limit) * (255 * 2**24 // limit) + 2**23) // 2**24


class Conformal(Part):
    """A model that also answers with sets of classes, which hold the true one with a probability of at least `coverage`."""

    def __init__(self, saved):
        super().__init__(saved)
        self.model = Model(saved["steps"][0])
        self.classes = self.model.classes

    def predict(self, x):
        return self.model.predict(x)

    def predict_proba(self, x):
        return self.model.predict_proba(x)

    def predict_sets(self, x, coverage=0.95):
        scores = self.arrays["scores"]
        place = int(np.ceil((len(scores) + 1) * coverage))
        limit = np.inf if place > len(scores) else scores[place - 1]
        order = lambda row: sorted((c for c in range(len(row)) if 1 - row[c] <= limit), key=lambda c: (-row[c], c))
        return [[self.classes[c] for c in order(row)] for row in self.predict_proba(x)]


class Pipeline(Part):
    def __init__(self, saved):
        super().__init__(saved)
        self.steps = [Model(step) for step in saved["steps"]]
        last = self.steps[-1]
        if hasattr(last, "classes"):
            self.classes = last.classes
        for name in ("predict", "predict_proba", "transform"):
            if hasattr(last, name):
                setattr(self, name, self._through(getattr(last, name)))

    def _through(self, call):
        def run(x):
            for step in self.steps[:-1]:
                x = step.transform(x)
            return call(x)

        return run


class Union(Part):
    def __init__(self, saved):
        super().__init__(saved)
        self.steps = [Model(step) for step in saved["steps"]]

    def transform(self, x):
        """What the steps make of the rows, side by side, each part by its scale."""
        parts = ([rows_of(x)] if self.meta["rows"] else []) + [step.transform(x) for step in self.steps]
        dense = [np.asarray(part.todense()) if hasattr(part, "todense") else part for part in parts]
        scaled = [part * scale for part, scale in zip(dense, self.arrays["scales"])]
        return np.concatenate(scaled, axis=1).astype(np.float32)


class Pairs(Part):
    def transform(self, x):
        """The values as shares of the largest, then the products of pairs."""
        x = rows_of(x)
        dense = np.asarray(x.todense()) if hasattr(x, "todense") else x
        shares = dense / self.meta["largest"]
        first, second = np.divmod(self.arrays["pairs"], self.meta["features"])
        return np.concatenate([shares, shares[:, first] * shares[:, second]], axis=1).astype(np.float32)


class Blend(Part):
    def __init__(self, saved):
        super().__init__(saved)
        self.steps = [Model(step) for step in saved["steps"]]
        self.classes = self.steps[0].classes

    def predict_proba(self, x):
        """The weighted mean of the probabilities of the steps."""
        return sum(weight * step.predict_proba(x) for step, weight in zip(self.steps, self.arrays["weights"]))

    def predict(self, x):
        """The largest probability, or product with the odds of the class, of equals the lower class."""
        scores = self.predict_proba(x) * self.arrays.get("odds", 1.0)
        return [self.classes[c] for c in scores.argmax(axis=1)]


KINDS = {
    "transform": Transform,
    "classifier": Classifier,
    "probabilistic": Probabilistic,
    "pipeline": Pipeline,
    "union": Union,
    "pairs": Pairs,
    "blend": Blend,
    "linear": Linear,
    "linear-svm": Linear,
    "standard-scaler": Scaler,
    "min-max-scaler": Scaler,
    "max-abs-scaler": Scaler,
    "row-scaler": RowScaler,
    "count-vectorizer": Vectorizer,
    "tfidf-vectorizer": Vectorizer,
    "hashing-vectorizer": Vectorizer,
    "table-encoder": TableEncoder,
    "patches": Patches,
    "conformal": Conformal,
}


def describe(model, indent=""):
    print(f"{indent}{model['kind']}")
    for name, array in model["arrays"].items():
        print(f"{indent}  {name}: {array.dtype} {list(array.shape)}")
    for step in model.get("steps", []):
        describe(step, indent + "  ")


def main():
    if len(sys.argv) == 2:
        describe(read_model(sys.argv[1]))
    elif len(sys.argv) == 3:
        model = Model(sys.argv[1])
        if not hasattr(model, "predict"):
            sys.exit(f"expected a model that predicts, found one of kind {model.kind}")
        for label in model.predict(np.load(sys.argv[2])):
            print(json.dumps(label))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
