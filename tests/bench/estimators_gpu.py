#!/usr/bin/env python3
"""Estimators on one GPU beside the same written in CuPy by hand: what somebody writes who has CuPy and no library of estimators.

  tests/bench/estimators_gpu.py --gpu --gasell build/release/bin/gasell --python PYTHON [--elements 50000000] [--runs 3] [NAME ...]

PYTHON is an interpreter with CuPy. Samples of 50 features, --elements in all, float64 and float32. CuPy's texts centre, form X.T @ X and solve, as is usual there; Gasell's are
scikit-learn's names. Logistic regressions end at the same optimum (CuPy's by Newton's steps). Results may differ by 1 %: both are sums of what the models say.
"""

import steps

DATA = r'''
features = 50
rows = N // features
at = np.arange(rows * features)
doubles = np.array((np.sin(at * 0.37) + np.cos(at * 1.7) + np.sin(at * 0.0013 * (at % features))).reshape(rows, features))
singles = np.array(doubles.astype(np.float32))
weights = np.linspace(-1, 1, features)
target = np.array(doubles @ weights + np.sin(np.arange(rows) * 3.3))
side = np.array((target > 0).astype(int))

if "@module@" == "cupy":
    def scaled(X):
        return np.abs((X - X.mean(0)) / X.std(0)).sum(0)

    def linear(X):
        centred = X - X.mean(0)
        return np.linalg.lstsq(centred, (target - target.mean()).astype(X.dtype), rcond=None)[0]

    def ridge(X):
        centred = X - X.mean(0)
        return np.linalg.solve(centred.T @ centred + np.eye(features, dtype=X.dtype), centred.T @ (target - target.mean()).astype(X.dtype))

    def logistic(X):
        X = np.concatenate([X, np.ones((rows, 1), X.dtype)], axis=1)
        beta, penalty = np.zeros(features + 1, X.dtype), np.eye(features + 1, dtype=X.dtype)
        penalty[-1, -1] = 0
        for _ in range(8):
            p = 1 / (1 + np.exp(-(X @ beta)))
            gradient = X.T @ (p - side).astype(X.dtype) + penalty @ beta
            beta = beta - np.linalg.solve(X.T @ (X * (p * (1 - p))[:, None]) + penalty, gradient)
        return beta[:-1]

    def kmeans(X):
        centres, squares, labels = X[:8], (X * X).sum(1), None
        for _ in range(20):
            distances = squares[:, None] - 2 * (X @ centres.T) + (centres * centres).sum(1)
            now = distances.argmin(1)
            if labels is not None and bool((now == labels).all()):
                break
            labels = now
            hot = (labels[:, None] == np.arange(8)).astype(X.dtype)
            centres = (hot.T @ X) / hot.sum(0)[:, None]
        distances = squares[:, None] - 2 * (X @ centres.T) + (centres * centres).sum(1)
        return distances.min(1).sum()

    def pca(X):
        centred = X - X.mean(0)
        return np.linalg.eigvalsh(centred.T @ centred / (rows - 1))[-5:].sum()

    def truncated(X):
        return np.sqrt(np.linalg.eigvalsh(X.T @ X)[-5:]).sum()
else:
    from sklearn.cluster import KMeans
    from sklearn.decomposition import PCA, TruncatedSVD
    from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
    from sklearn.preprocessing import StandardScaler

    def scaled(X):
        return np.abs(StandardScaler().fit_transform(X)).sum(0)

    def linear(X):
        return LinearRegression().fit(X, target).coef_

    def ridge(X):
        return Ridge().fit(X, target).coef_

    def logistic(X):
        return LogisticRegression(tol=1e-6).fit(X, side).coef_

    def kmeans(X):
        return np.asarray(KMeans(8, init=X[:8], n_init=1, max_iter=20, tol=0).fit(X).inertia_)

    def pca(X):
        return np.asarray(PCA(5).fit(X).explained_variance_.sum())

    def truncated(X):
        return np.asarray(TruncatedSVD(5, random_state=0, n_iter=10).fit(X).singular_values_.sum())

STEPS = {}
for kind, X in (("f64", doubles), ("f32", singles)):
    for name, fit in (
        ("StandardScaler", scaled),
        ("LinearRegression", linear),
        ("Ridge", ridge),
        ("LogisticRegression", logistic),
        ("KMeans", kmeans),
        ("PCA", pca),
        ("TruncatedSVD", truncated),
    ):
        STEPS[f"{name} {kind}"] = lambda fit=fit, X=X: fit(X)
'''

if __name__ == "__main__":
    steps.main(__doc__, DATA, elements=50_000_000, tolerance=1e-2)
