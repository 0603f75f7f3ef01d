#!/usr/bin/env python3
"""Runs the array API's conformance suite over gasell.array_api: all tests but those of array_api_xfails.txt must pass.

    PYTHONPATH=build/dev/python array_api_suite.py SUITE [--examples N]

SUITE: a checkout of github.com/data-apis/array-api-tests with its submodule; its requirements.txt is installed."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("suite", type=Path)
parser.add_argument("--examples", type=int, default=20, help="a test")
options, others = parser.parse_known_args()
expected = Path(__file__).with_name("array_api_xfails.txt").resolve()
command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--disable-warnings", f"--max-examples={options.examples}",
           f"--xfails-file={expected}", "array_api_tests", *others]
sys.exit(subprocess.run(command, cwd=options.suite, env={**os.environ, "ARRAY_API_TESTS_MODULE": "gasell.array_api"}).returncode)
