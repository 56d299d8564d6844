"""Estimators for scikit-learn that the command `ranksim` trains and numpy asks.

The three of the authors' package `ranksim` are here by name, parameter and attribute, so a script moves by one import line:

    from ranksim_estimators import RankSimilarityClassifier, RankSimilarityTransform, RSPClassifier

RanksimClassifier trains what `ranksim train` trains: the recipe that suits the rows.

`ranksim` needs Node 20 or later: `npm install --global ranksim`. The environment's RANKSIM_COMMAND, or `command`, says how else
it is called. A trained estimator no longer needs it, and can be pickled. Rows are arrays, data frames or scipy's sparse rows.
"""

import copy
import json
import numbers
import os
import shutil
import subprocess
import tempfile

import numpy as np
from scipy.sparse import issparse, save_npz
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ranksim_model import Model

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before scikit-learn 1.6

    def validate_data(estimator, x, y="no_validation", **checks):
        return estimator._validate_data(x, y, **checks)


#: Types that a file of rows may have; others become float64.
NUMBERS = {np.dtype(name) for name in ("u1", "u2", "f4", "f8")}


def train(x, y, flags, command=None):
    """The model of `ranksim train` for rows and labels: numbers from 0, or a matrix of 0 and 1 with a column for each label."""
    with tempfile.TemporaryDirectory(prefix="ranksim-") as folder:
        rows, labels, model = (os.path.join(folder, name) for name in ("x.npz", "y.npy", "model.ranksim"))
        x = x if x.dtype in NUMBERS else x.astype(np.uint8 if x.dtype == bool else np.float64)
        if issparse(x):
            save_npz(rows, x.tocsr(), compressed=False)
        else:
            np.savez(rows, x=x)
        line = [*command_words(command), "train", rows, "--model", model, "--quiet", *flags]
        if y is not None:
            np.save(labels, y)
            line += ["--labels", labels]
        done = subprocess.run(line, capture_output=True, text=True)
        if done.returncode != 0:
            raise ValueError(f"ranksim train: {done.stderr.strip()}")
        return Model(model)


def command_words(command=None):
    """How the command is called, as a list of words."""
    words = command or os.environ.get("RANKSIM_COMMAND", "").split()
    if words:
        return list(words)
    found = shutil.which("ranksim")
    if found is None:
        raise FileNotFoundError("the command ranksim is not here: npm install --global ranksim, or set RANKSIM_COMMAND")
    return [found]


def settings(values):
    """Flags of the command for parameters by name; those that are None keep their defaults."""
    text = lambda value: str(value).lower() if isinstance(value, (bool, np.bool_)) else str(value)
    return [word for name, value in values.items() if value is not None for word in ("--set", f"{name}={text(value)}")]


class _Trained(BaseEstimator):
    """What all estimators share: rows are checked as scikit-learn checks them, and a fitted one has `model_`."""

    def _rows(self, x):
        check_is_fitted(self, "model_")
        shape = getattr(x, "shape", ())
        if len(shape) == 2 and shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input. "
                "Shape of input is different from what was seen in `fit`"
            )
        return validate_data(self, x, accept_sparse=["csr"], reset=False)

    def _asked(self, n_best):
        """The model with another number of filters whose similarity counts."""
        model = copy.copy(self.model_)
        model.params = {**model.params, "nBest": n_best}
        return model


class RanksimClassifier(ClassifierMixin, _Trained):
    """A classifier that `ranksim train` trains: the recipe is chosen by held-out rows.

    `preset` is fast, balanced, best or paper. `settings` are parameters of the command by name, such as {"filters": 200}.
    """

    def __init__(self, preset="balanced", estimator=None, settings=None, seed=0, command=None):
        self.preset = preset
        self.estimator = estimator
        self.settings = settings
        self.seed = seed
        self.command = command

    def fit(self, X, y):
        X, y = validate_data(self, X, y, accept_sparse=["csr"])
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        flags = ["--preset", self.preset, "--seed", str(self.seed), *settings(self.settings or {})]
        flags += [] if self.estimator is None else ["--estimator", self.estimator]
        self.model_ = train(X, codes.astype(np.int64), flags, self.command)
        return self

    def predict(self, X):
        X = self._rows(X)
        return self.classes_[np.asarray(self.model_.predict(X), int)]

    def predict_proba(self, X):
        X = self._rows(X)
        return self.model_.predict_proba(X)


INITIALIZE = {"random": "random", "weighted_avg": "weightedAverage", "plusplus": "plusplus"}
SPREADING = {"max": "max", "weighted_avg": "weightedAverage", None: "none"}
DISTRIBUTION = {None: "rank", "confusion": "confusion", "savage": "savage"}
FILTER_FUNCTION = {"auto": "meanRank", "median": "medianRank", "mean": "mean"}
CLASS_WEIGHT = {"balanced": "proportional", "uniform": "uniform"}


def _named(parameter, value, names):
    """What the command calls a value; functions of Python cannot be handed to it."""
    if callable(value):
        raise ValueError(f"{parameter}: a function of Python cannot train in another process; expected {list(names)}")
    if not isinstance(value, (str, type(None))) or value not in names:
        raise ValueError(f"Unrecognized {parameter}: {value!r}; expected one of {list(names)}")
    return names[value]


class _RankSimilarity(_Trained):
    """The parameters that the authors' three estimators share."""

    def __init__(
        self, *, n_filters="auto", max_filters=5000, n_fast_filters=1000, initialize="random", spreading="max",
        n_iter=5, random_state=None, filter_function="auto", create_distribution=None,
    ):  # fmt: skip
        self.n_filters = n_filters
        self.max_filters = max_filters
        self.n_fast_filters = n_fast_filters
        self.initialize = initialize
        self.spreading = spreading
        self.n_iter = n_iter
        self.random_state = random_state
        self.filter_function = filter_function
        self.create_distribution = create_distribution

    def _train(self, estimator, x, y, more=None):
        rows = x.shape[0]
        if self.n_filters != "auto":
            if not isinstance(self.n_filters, numbers.Integral):
                raise TypeError(f"n_filters does not take {type(self.n_filters)} value, enter integer value")
            if self.n_filters <= 0:
                raise ValueError(f"Expected n_filters > 0. Got {self.n_filters}")
            if self.n_filters >= rows and self.initialize == "plusplus":
                raise ValueError(
                    "When n_filters >= n_samples initialize cannot be 'plusplus'. "
                    "Setting initialize='weighted_avg' is recommended."
                )
        seed = self.random_state
        if not isinstance(seed, numbers.Integral):
            seed = check_random_state(seed).randint(2**31)
        values = {
            "filters": self.n_filters,
            "maxFilters": self.max_filters,
            "fastFilters": self.n_fast_filters,
            "initialize": _named("initialize", self.initialize, INITIALIZE),
            "spreading": _named("spreading", self.spreading, SPREADING),
            "iterations": self.n_iter,
            "filterFunction": _named("filter_function", self.filter_function, FILTER_FUNCTION),
            "distribution": _named("create_distribution", self.create_distribution, DISTRIBUTION),
            **(more or {}),
        }
        flags = ["--estimator", estimator, "--set", "table=false", "--seed", str(seed), *settings(values)]
        self.model_ = train(x, y, flags)
        self.n_filters_ = self.model_.count

    @property
    def filters_(self):
        """features x filters: the weights, each filter's add up to 1."""
        weights = self.model_.weights(0, self.model_.count).astype(np.float64)
        total = weights.sum(axis=1, keepdims=True)
        return np.divide(weights, total, out=weights, where=total > 0).T.astype(np.float32)

    def _more_tags(self):
        return {"poor_score": True, "_xfail_checks": {"check_classifiers_classes": "three classes in two features"}}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if tags.classifier_tags is not None:
            tags.classifier_tags.poor_score = True
        return tags


class RankSimilarityTransform(TransformerMixin, _RankSimilarity):
    """The paper's transform: similarities, from 0 to 1, to the nearest of the filters."""

    def fit(self, X, y=None):
        X = validate_data(self, X, accept_sparse=["csr"], ensure_min_features=2)
        self._train("transform", X, None)
        return self

    def transform(self, X, n_best=25):
        X = self._rows(X)
        return self._asked(n_best).transform(X)


class RankSimilarityClassifier(ClassifierMixin, _RankSimilarity):
    """The paper's classifier: the class of the strongest filter."""

    def __init__(
        self, *, n_filters="auto", max_filters=10000, n_fast_filters=1000, initialize="random", spreading="max",
        class_weight="balanced", n_iter=5, random_state=None, filter_function="auto", create_distribution=None,
        per_label=False,
    ):  # fmt: skip
        super().__init__(
            n_filters=n_filters, max_filters=max_filters, n_fast_filters=n_fast_filters, initialize=initialize,
            spreading=spreading, n_iter=n_iter, random_state=random_state, filter_function=filter_function,
            create_distribution=create_distribution,
        )  # fmt: skip
        self.class_weight = class_weight
        self.per_label = per_label

    def fit(self, X, y):
        X, y = validate_data(self, X, y, accept_sparse=["csr"], ensure_min_features=2)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        more = {"classWeight": self._class_weight(), "distributionPerClass": self.per_label or None}
        self._train("classifier", X, codes.astype(np.int64), more)
        self.filter_labels_ = np.asarray(self.model_.arrays["filter_class"], int)
        self.n_class_filters_ = np.bincount(self.filter_labels_, minlength=len(self.classes_))
        return self

    def _class_weight(self):
        """Its name, or JSON of the weights by class number; classes that a dict leaves out weigh 1."""
        weight = self.class_weight
        if isinstance(weight, (list, tuple, np.ndarray)):
            weight = dict(zip(self.classes_.tolist(), weight))
        if not isinstance(weight, dict):
            return _named("class_weight", weight, CLASS_WEIGHT)
        names = self.classes_.tolist()
        for name in weight:
            if name not in names:
                raise ValueError(f"Class: {name!r} does not exist in input data")
        return json.dumps({c: float(weight.get(name, 1)) for c, name in enumerate(names)})

    def predict(self, X):
        X = self._rows(X)
        return self.classes_[np.asarray(self.model_.predict(X), int)]

    def predict_proba(self, X, n_best=25):
        X = self._rows(X)
        return self._asked(n_best).predict_proba(X)


class RSPClassifier(ClassifierMixin, _RankSimilarity):
    """The paper's probabilistic classifier: shares of labels among the rows of similar filters. y may have several columns."""

    def fit(self, X, y):
        X, y = validate_data(self, X, y, accept_sparse=["csr"], ensure_min_features=2, multi_output=True)
        check_classification_targets(y)
        columns = (y.toarray() if issparse(y) else np.asarray(y)).reshape(X.shape[0], -1)
        self.n_outputs_ = columns.shape[1]
        found = [np.unique(column, return_inverse=True) for column in columns.T]
        classes, codes = [names for names, _ in found], [own for _, own in found]
        if len(classes) == 1 and len(classes[0]) == 1:
            raise ValueError("RSPClassifier cannot be fit when only one class is present.")
        # Each row has one label of each column.
        labels = codes[0].astype(np.int64)
        if self.n_outputs_ > 1:
            labels = np.concatenate([np.eye(len(n), dtype=np.uint8)[c] for n, c in zip(classes, codes)], axis=1)
        self._train("probabilistic", X, labels)
        shares = self.model_.shares()
        ends = np.cumsum([len(names) for names in classes])[:-1]
        of = lambda part: np.divide(part, part.sum(axis=1, keepdims=True))
        self.filter_labels_ = [of(part) for part in np.split(shares, ends, axis=1)]
        self.classes_ = classes if self.n_outputs_ > 1 else classes[0]
        return self

    def predict_proba(self, X, n_best=25):
        X = self._rows(X)
        if self.n_outputs_ == 1:
            return self._asked(n_best).predict_proba(X)
        similar = self.model_.similarities(X, n_best)
        out = []
        for shares in self.filter_labels_:
            best = np.stack([(similar * share).max(axis=1) for share in shares.T], axis=1)
            best[~best.any(axis=1)] = 1
            out.append(best / best.sum(axis=1, keepdims=True))
        return out

    def predict(self, X):
        found = self.predict_proba(X)
        if self.n_outputs_ == 1:
            return self.classes_[found.argmax(axis=1)]
        return np.stack([names[p.argmax(axis=1)] for names, p in zip(self.classes_, found)], axis=1)

    def _more_tags(self):
        return {**super()._more_tags(), "multioutput": True}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output, tags.target_tags.multi_output = True, True
        return tags
