#!/usr/bin/env python3
"""Opens a ranksim model file with numpy alone and, for a classifier, predicts the same classes as the library.

    python3 read_model.py model.safetensors                what the file holds
    python3 read_model.py model.safetensors rows.npy       one class a line, as JSON

FORMAT.md describes the file. This script shows how little it takes to read one; it is not tuned for speed.
"""

import hashlib
import json
import sys

import numpy as np

TYPES = {"F64": "<f8", "F32": "<f4", "U32": "<u4", "U16": "<u2", "I16": "<i2", "U8": "u1"}
BEFORE_DIGEST = b'{"__metadata__":{"format":"ranksim","version":"1","digest":"'


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
    add_arrays(model, "", {name: view(data, start, entry) for name, entry in header.items()})
    return model


def view(data, start, entry):
    begin, end = entry["data_offsets"]
    return np.frombuffer(data[start + begin : start + end], TYPES[entry["dtype"]]).reshape(entry["shape"])


def add_arrays(model, prefix, arrays):
    """Gives each part of the model its arrays: those of step 1 are named 1.filters, 1.norm and so on."""
    own = {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}
    model["arrays"] = {name: array for name, array in own.items() if "." not in name}
    for i, step in enumerate(model.get("steps", [])):
        add_arrays(step, f"{prefix}{i}.", arrays)


def filters(model, first, last):
    """The weights of some filters, one row each: stored as they are, or as a base weight and its exceptions."""
    arrays = model["arrays"]
    if "filters" in arrays:
        return arrays["filters"][first:last]
    base, offsets = arrays["base"], arrays["filter_offsets"]
    indices, exceptions = arrays["filter_indices"], arrays["filter_weights"]
    weights = np.empty((len(base[first:last]), model["meta"]["features"]), exceptions.dtype)
    for row, f in zip(weights, range(first, last)):
        row[:] = base[f]
        row[indices[offsets[f] : offsets[f + 1]]] = exceptions[offsets[f] : offsets[f + 1]]
    return weights


def products(x, w):
    """x.w for every row of x and every filter of w, added in the order in which the library adds."""
    x64, w64 = x.astype(np.float64), w.astype(np.float64)
    if x.dtype.kind in "biu" and w.dtype.kind in "biu":
        return x64 @ w64.T  # whole numbers below 2^53 are exact in any order
    lane = np.zeros((8, len(x), len(w)))
    for i in range(x.shape[1]):
        lane[i % 8] += np.outer(x64[:, i], w64[:, i])
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]))


def predict(model, x):
    """The class of each row: that of the strongest filter; of several, the class with most of them, then the lowest."""
    if model["kind"] != "classifier":
        raise ValueError(f"expected a classifier, found a model of kind {model['kind']}")
    if model["meta"]["params"].get("voters", 1) != 1:
        raise ValueError("expected a model in which the strongest filter alone decides, found voters")
    if x.ndim != 2 or x.shape[1] != model["meta"]["features"]:
        raise ValueError(f"expected rows of {model['meta']['features']} features, found shape {x.shape}")
    norm, filter_class = model["arrays"]["norm"], model["arrays"]["filter_class"]
    blocks = [products(x, filters(model, f, min(f + 64, len(norm)))) for f in range(0, len(norm), 64)]
    response = np.concatenate(blocks, axis=1) / norm
    if "filter_bank" in model["arrays"]:
        return committee(model, response)
    strongest = response == response.max(axis=1, keepdims=True)
    votes = strongest @ (filter_class[:, None] == np.arange(len(model["meta"]["classes"]))).astype(np.float64)
    return [model["meta"]["classes"][c] for c in votes.argmax(axis=1)]


def committee(model, response):
    """The class that scores most: the sum over the banks of its largest response; the lowest of equals."""
    bank, filter_class = model["arrays"]["filter_bank"], model["arrays"]["filter_class"]
    classes = model["meta"]["classes"]
    scores = np.zeros((len(response), len(classes)))
    for b in range(bank.max() + 1):
        for c in range(len(classes)):
            scores[:, c] += response[:, (bank == b) & (filter_class == c)].max(axis=1)
    return [classes[c] for c in scores.argmax(axis=1)]


def describe(model, indent=""):
    print(f"{indent}{model['kind']}")
    for name, array in model["arrays"].items():
        print(f"{indent}  {name}: {array.dtype} {list(array.shape)}")
    for step in model.get("steps", []):
        describe(step, indent + "  ")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        describe(read_model(sys.argv[1]))
    elif len(sys.argv) == 3:
        for label in predict(read_model(sys.argv[1]), np.load(sys.argv[2])):
            print(json.dumps(label))
    else:
        sys.exit(__doc__)
