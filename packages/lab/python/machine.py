"""What the Python side of this machine is: versions, the BLAS in use, and the rate of its float32 matrix product.

Prints one JSON object. Modules that are missing are named, never a failure. With an argument, that folder is searched first
(the checkout of the authors' package).
"""

import importlib
import json
import sys
import time

ROWS, FEATURES, FILTERS, RUNS = 1000, 784, 3000, 5


def version(name):
    try:
        return str(getattr(importlib.import_module(name), "__version__", "unknown"))
    except ImportError:
        return None


def rate():
    """Multiply-adds a second, best of a few runs."""
    import numpy as np

    generator = np.random.default_rng(0)
    x = generator.random((ROWS, FEATURES), dtype=np.float32)
    filters = generator.random((FEATURES, FILTERS), dtype=np.float32)
    best = float("inf")
    for _ in range(RUNS):
        start = time.process_time()
        x @ filters
        best = min(best, time.process_time() - start)
    return ROWS * FEATURES * FILTERS / best


def blas():
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return []
    keep = ("internal_api", "version", "architecture", "num_threads")
    return [{key: pool[key] for key in keep if key in pool} for pool in threadpool_info() if pool["user_api"] == "blas"]


def main():
    if len(sys.argv) > 1:
        sys.path.insert(0, sys.argv[1])
    versions = {name: version(name) for name in ("numpy", "scipy", "sklearn", "ranksim")}
    found = {"python": sys.version.split()[0], "versions": versions}
    if versions["numpy"]:
        found.update(rate=rate(), blas=blas())
    print(json.dumps(found))


main()
