#!/usr/bin/env bash
# Sets up, builds for development and runs every test. Arguments go to ctest, e.g. scripts/test.sh -R language.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
scripts/python_env.sh
PEERS=docs scripts/python_env.sh
first=()
[[ -e build/dev/CMakeCache.txt ]] || first=(-DGASELL_PRECOMPILED_HEADERS=ON) # half the time; later builds find in ccache what did not change
cmake --preset dev "${first[@]}"
cmake --build --preset dev
ctest --test-dir build/dev --output-on-failure --parallel "$(nproc)" "$@"
