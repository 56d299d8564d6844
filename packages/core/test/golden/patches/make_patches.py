"""Golden vectors of pooled patches: a second statement of packages/core/src/kernels/patches.ts, in numpy and from its
description alone. Prints JSON; `patches.json` is its output:

    python3 packages/core/test/golden/patches/make_patches.py > packages/core/test/golden/patches/patches.json
"""

import json

import numpy as np


class Draws:
    """Park and Miller's generator, so that the numbers do not depend on the version of numpy."""

    def __init__(self, seed):
        self.state = seed

    def below(self, limit, shape):
        out = np.empty(int(np.prod(shape)), dtype=np.int64)
        for j in range(out.size):
            self.state = self.state * 48271 % 2147483647
            out[j] = self.state * limit // 2147483647
        return out.reshape(shape)


def doubled_ranks(rows):
    """Twice the average-tie rank of each value in its row: values below it count two, equal ones one, itself one."""
    below = (rows[:, None, :] < rows[:, :, None]).sum(axis=2)
    equal = (rows[:, None, :] == rows[:, :, None]).sum(axis=2)
    return 2 * below + equal + 1


def pooled(images, filters, patch, stride, grid, n_best):
    """images: rows x height x width x channels. Returns rows x (cells x filters)."""
    rows, height, width, channels = images.shape
    high, wide = min(patch, height), min(patch, width)
    view = np.lib.stride_tricks.sliding_window_view(images, (high, wide), axis=(1, 2))
    view = view[:, ::stride, ::stride].transpose(0, 1, 2, 4, 5, 3)
    down, across = view.shape[1:3]
    windows = view.reshape(rows, down, across, high * wide * channels).astype(np.int64)
    response = windows @ filters.T.astype(np.int64)
    m = len(filters)
    largest = response.max(axis=-1, keepdims=True)
    k_th = np.sort(response, axis=-1)[..., [max(0, m - n_best)]]
    span = largest - k_th
    similarity = (255 * (response - k_th) + span // 2) // np.maximum(span, 1)
    similarity = np.where((response > k_th) & (span > 0), similarity, 0)

    grid_down, grid_across = min(grid, down), min(grid, across)
    sums = np.zeros((rows, grid_down * grid_across, m), dtype=np.int64)
    for y in range(down):
        for x in range(across):
            sums[:, y * grid_down // down * grid_across + x * grid_across // across] += similarity[:, y, x]
    most = -(-down // grid_down) * -(-across // grid_across) * 255
    return sums.reshape(rows, -1) >> max(0, most.bit_length() - 15)


def as_bytes(sums, limit):
    """255 from the limit on, smaller sums in proportion, by a factor of 24 bits after the point, rounded."""
    factor = 255 * 2**24 // limit
    return (np.minimum(sums, limit) * factor + 2**23) // 2**24


CASES = [
    # rows, width, height, channels, patch, stride, grid, nBest, filters, values below
    (3, 9, 8, 1, 3, 1, 2, 4, 10, 256),
    (2, 10, 10, 3, 4, 2, 3, 8, 9, 256),
    (3, 30, 1, 1, 7, 1, 4, 5, 12, 256),
    (2, 12, 12, 1, 5, 1, 5, 9, 20, 3),
    (2, 6, 7, 2, 9, 1, 2, 3, 5, 256),
    (1, 24, 24, 1, 2, 1, 1, 4, 6, 256),
    (2, 11, 11, 1, 3, 3, 9, 40, 7, 2),
]

BYTES = [
    # the same, and from which sum on values are 255
    (3, 9, 8, 1, 3, 1, 2, 4, 10, 256, 1000),
    (2, 10, 10, 3, 4, 2, 3, 8, 9, 256, 255),
    (2, 12, 12, 1, 5, 1, 5, 9, 20, 3, 37),
    (1, 24, 24, 1, 2, 1, 1, 4, 6, 256, 3600),
    (2, 6, 7, 2, 9, 1, 2, 3, 5, 256, 1),
    (3, 30, 1, 1, 7, 1, 2, 5, 12, 256, 32767),
]


def main():
    cases = []
    for number, case in enumerate(CASES + BYTES):
        rows, width, height, channels, patch, stride, grid, n_best, m, values, *limit = case
        draws = Draws(number + 1)
        images = draws.below(values, (rows, height, width, channels))
        images[0, : height // 2] = values // 2  # windows without contrast
        n = min(patch, height) * min(patch, width) * channels
        filters = doubled_ranks(draws.below(9, (m, n)))
        sums = pooled(images, filters, patch, stride, grid, n_best)
        cases.append(
            {
                **{"width": width, "height": height, "channels": channels},
                **{"patch": patch, "stride": stride, "grid": grid, "nBest": n_best},
                **({"limit": limit[0]} if limit else {}),
                "images": images.reshape(rows, -1).tolist(),
                "filters": filters.tolist(),
                "pooled": (as_bytes(sums, *limit) if limit else sums).tolist(),
            }
        )
    print("[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]")


main()
