#!/usr/bin/env python3
"""Estimators beside scikit-learn: the same script under both, each a process of its own.

  tests/bench/estimators.py --gasell build/release/bin/gasell --python PYTHON [--rows 500000] [--features 20] [--documents 50000] [--dtype float32] [--only 'PCA|Ridge'] [--runs 2]

PYTHON is an interpreter with NumPy, pandas and scikit-learn. Data is made by formulas, so both see the same numbers. Of each step the fastest of --runs counts;
a step ends when its result is in memory. The table says how many times as fast Gasell is, and the sum of each result, by which they are compared.
"""

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT = r'''
import time
import warnings
import numpy as np
import pandas as pd
from sklearn.decomposition import NMF, PCA, TruncatedSVD
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

ROWS, FEATURES, DOCUMENTS, RUNS, DTYPE = @sizes@
warnings.simplefilter('ignore')
n, p = ROWS, FEATURES
at = np.arange(n * p)
X = np.array((np.sin(at * 0.37).reshape(n, p) + np.cos(at * 1.7).reshape(n, p)).astype(DTYPE))
w = np.linspace(-1, 1, p).astype(DTYPE)
y = np.array((X @ w + np.sin(np.arange(n) * 3.3) > 0).astype(int))
z = np.array(X @ w + np.sin(np.arange(n) * 3.3))
few = n // 10
words = [f"word{k * 7919 % 5003}" for k in range(20000)]
texts = pd.Series([" ".join(words[(k * 131) % 15000:(k * 131) % 15000 + 5 + k % 40]) for k in range(DOCUMENTS)])
labels = np.arange(DOCUMENTS) * 7 % 3 % 2


def step(name, work):
    best = None
    for _ in range(RUNS):
        start = time.time()
        total = float(work())
        taken = time.time() - start
        best = taken if best is None else min(best, taken)
    print(f"{name}|{best:.4f}|{total!r}", flush=True)


scaler = StandardScaler().fit(X)
logistic = LogisticRegression().fit(X, y)
hashed = TfidfTransformer().fit_transform(HashingVectorizer().transform(texts))
step("StandardScaler.fit", lambda: StandardScaler().fit(X).var_.sum())
step("StandardScaler.transform", lambda: np.abs(scaler.transform(X)).sum())
step("LinearRegression.fit", lambda: np.abs(LinearRegression().fit(X, z).coef_).sum())
step("Ridge.fit", lambda: np.abs(Ridge().fit(X, z).coef_).sum())
step("Lasso.fit", lambda: np.abs(Lasso(alpha=0.01).fit(X, z).coef_).sum())
step("LogisticRegression.fit", lambda: np.abs(LogisticRegression().fit(X, y).coef_).sum())
step("LogisticRegression.predict_proba", lambda: logistic.predict_proba(X)[:, 1].sum())
step("roc_auc_score", lambda: roc_auc_score(y, logistic.decision_function(X)))
step("KMeans.fit", lambda: KMeans(8, init=X[:8], n_init=1, max_iter=20).fit(X).inertia_)
step("MiniBatchKMeans.fit", lambda: np.sqrt(MiniBatchKMeans(8, init=X[:8], n_init=1, max_iter=1, max_no_improvement=None, random_state=0).fit(X).inertia_ / n).round(1))
step("PCA.fit", lambda: PCA(5).fit(X).explained_variance_.sum())
step("TruncatedSVD.fit", lambda: TruncatedSVD(5, random_state=0, n_iter=10).fit(X).singular_values_.sum())
step("TruncatedSVD.fit of texts", lambda: TruncatedSVD(10, random_state=0, n_iter=10).fit(hashed).singular_values_[0])
step("NMF.fit", lambda: NMF(5, init="nndsvd", tol=0, max_iter=20, random_state=0).fit(np.abs(X[:few])).reconstruction_err_)
step("GaussianNB.fit", lambda: GaussianNB().fit(X, y).var_.sum())
step("DecisionTreeClassifier.fit", lambda: DecisionTreeClassifier(max_depth=8, random_state=0).fit(X[:few], y[:few]).score(X[:few], y[:few]))
step("RandomForestClassifier.fit", lambda: RandomForestClassifier(10, random_state=0).fit(X[:few], y[:few]).score(X[:few], y[:few]))
step("ExtraTreesClassifier.fit", lambda: ExtraTreesClassifier(10, random_state=0).fit(X[:few], y[:few]).score(X[:few], y[:few]))
step("GradientBoostingClassifier.fit", lambda: GradientBoostingClassifier(n_estimators=10).fit(X[:few], y[:few]).score(X[:few], y[:few]))
step("HistGradientBoostingRegressor.fit", lambda: HistGradientBoostingRegressor(max_iter=50, early_stopping=False).fit(X[:2 * few], z[:2 * few]).score(X[:few], z[:few]))
step("HistGradientBoostingClassifier.fit", lambda: HistGradientBoostingClassifier(max_iter=50, early_stopping=False).fit(X[:2 * few], y[:2 * few]).score(X[:few], y[:few]))
step("KNeighborsClassifier.predict", lambda: KNeighborsClassifier(5).fit(X[:few], y[:few]).predict(X[-1000:]).sum())
step("CountVectorizer.fit_transform", lambda: CountVectorizer().fit_transform(texts).sum())
step("HashingVectorizer.transform", lambda: HashingVectorizer().transform(texts).sum())
step("TfidfTransformer.fit_transform", lambda: TfidfTransformer().fit_transform(hashed).sum())
step("LogisticRegression.fit of texts", lambda: LogisticRegression(max_iter=10).fit(hashed, labels).coef_.sum())
'''


def measured(command, script):
    done = subprocess.run([*command, str(script)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed\n{done.stderr[-2000:]}")
    lines = [line.split("|") for line in done.stdout.splitlines() if line.count("|") == 2]
    return {name: (float(seconds), float(total)) for name, seconds, total in lines}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasell", default="build/release/bin/gasell")
    parser.add_argument("--python", default=sys.executable)
    for name, default in (("rows", 500_000), ("features", 20), ("documents", 50_000), ("runs", 2)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--dtype", default="float64", choices=("float32", "float64"), help="of the samples")
    parser.add_argument("--only", default="", help="a regular expression: the steps whose names it finds")
    options = parser.parse_args()
    sizes = json.dumps([options.rows, options.features, options.documents, options.runs, options.dtype])[1:-1]
    lines = SCRIPT.replace("@sizes@", sizes).split("\n")
    lines = [line for line in lines if not line.startswith('step("') or re.search(options.only, line.split('"')[1])]
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "estimators.gsl"
        script.write_text("\n".join(lines), encoding="utf-8")
        peer = measured([options.python, "-W", "ignore"], script)
        ours = measured([options.gasell], script)
    print(f"| {'step':34} | scikit-learn, s | Gasell, s | times as fast | same |\n|{'-' * 36}|---|---|---|---|")
    wrong = 0
    for name, (seconds, total) in peer.items():
        own, own_total = ours[name]
        same = math.isclose(total, own_total, rel_tol=1e-3, abs_tol=1e-9)
        wrong += not same
        print(f"| {name:34} | {seconds:.3f} | {own:.3f} | {seconds / own:.1f} | {'yes' if same else f'{total!r}, {own_total!r}'} |")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
