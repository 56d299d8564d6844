"""A peer on images: macro F1, processor seconds of fit and predict, bytes and multiply-adds of an image.

Reads a job (JSON, the only argument: system, seed, train, test) and writes figures to the path it names. The files hold x (rows
of bytes, square images) and y. All on one thread. Bytes are those of the weights as 32-bit numbers.
"""

import json
import sys
import time

import numpy as np
from sklearn.metrics import f1_score

EPOCHS = 10


def mlp(seed):
    """scikit-learn's MLP with one layer of 100, 10 epochs."""
    import warnings

    from sklearn.neural_network import MLPClassifier

    warnings.simplefilter("ignore")  # 10 epochs do not converge, which is the point
    model = MLPClassifier((100,), max_iter=EPOCHS, random_state=seed)
    return (
        lambda x, y: model.fit(scaled(x), y),
        lambda x: model.predict(scaled(x)),
        lambda: [w.size for w in model.coefs_ + model.intercepts_],
        lambda: sum(w.size for w in model.coefs_),
    )


def hog(seed):
    """Histograms of gradients, then scikit-learn's linear SVM."""
    from skimage.feature import hog as histograms
    from sklearn.svm import LinearSVC

    def features(x):
        side = int(len(x[0]) ** 0.5)
        how = {"orientations": 8, "pixels_per_cell": (4, 4), "cells_per_block": (2, 2)}
        return np.array([histograms(row.reshape(side, side), **how) for row in x], np.float32)

    model = LinearSVC(random_state=seed)
    pixels = []

    def fit(x, y):
        pixels.append(x.shape[1])
        model.fit(features(x), y)

    return (
        fit,
        lambda x: model.predict(features(x)),
        lambda: [model.coef_.size, model.intercept_.size],
        # Gradients and their size and angle take about 6 for a pixel, blocks 2 for a feature.
        lambda: 6 * pixels[0] + 2 * model.coef_.shape[1] + model.coef_.size,
    )


def cnn(seed):
    """Two convolutions of 3 x 3 (32 and 64 channels), each with pooling, and a layer of 128: Adam, batches of 128, 10 epochs."""
    import torch
    from torch import nn

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    model = nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.LazyLinear(128), nn.ReLU(), nn.Linear(128, 10),
    )  # fmt: skip
    side = []

    def images(x):
        side[:] = [int(x.shape[1] ** 0.5)]
        return torch.from_numpy(scaled(x)).reshape(-1, 1, side[0], side[0])

    def fit(x, y):
        images_, truth = images(x), torch.from_numpy(y.astype(np.int64))
        model(images_[:1])  # now the sizes are known
        optimizer, loss = torch.optim.Adam(model.parameters()), nn.CrossEntropyLoss()
        model.train()
        for _ in range(EPOCHS):
            for batch in torch.randperm(len(x)).split(128):
                optimizer.zero_grad()
                loss(model(images_[batch]), truth[batch]).backward()
                optimizer.step()
        model.eval()

    def predict(x):
        with torch.no_grad():
            return np.concatenate([model(part).argmax(1).numpy() for part in images(x).split(1000)])

    def multiply_adds():
        first = side[0] - 2
        second = first // 2 - 2
        dense = sum(layer.weight.numel() for layer in model if isinstance(layer, nn.Linear))
        return first**2 * model[0].weight.numel() + second**2 * model[3].weight.numel() + dense

    return fit, predict, lambda: [p.numel() for p in model.parameters()], multiply_adds


def scaled(x):
    return x.astype(np.float32) / 255


def main():
    job = json.loads(sys.argv[1])
    seen, unseen = np.load(job["train"]), np.load(job["test"])
    fit, predict, sizes, multiply_adds = {"mlp": mlp, "hog": hog, "cnn": cnn}[job["system"]](job["seed"])
    began = time.process_time()
    fit(seen["x"], seen["y"])
    fitted = time.process_time()
    found = predict(unseen["x"])
    ended = time.process_time()
    macro = float(f1_score(unseen["y"], found, average="macro"))
    costs = {"fitCpu": fitted - began, "predictCpu": ended - fitted}
    figures = {"macro": macro, **costs, "bytes": 4 * sum(sizes()), "macs": multiply_adds()}
    with open(job["out"], "w") as file:
        json.dump({"figures": figures}, file)


main()
