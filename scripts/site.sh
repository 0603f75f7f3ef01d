#!/usr/bin/env bash
# Builds the documentation site into build/site (or FOLDER): static pages that a browser opens from the disk.
#   scripts/site.sh [FOLDER]        GASELL=PROGRAM says which gasell tells the names and runs; else that of build/release or build/dev
set -euo pipefail
cd "$(dirname "$0")/.."
PEERS=docs scripts/python_env.sh
gasell=${GASELL:-}
for folder in build/release build/dev; do [[ -n $gasell || ! -x $folder/bin/gasell ]] || gasell=$folder/bin/gasell; done
[[ -n $gasell ]] || { echo "site: no gasell is built; CONTRIBUTING.md says how" >&2; exit 2; }
exec .venv-docs/bin/python docs/site/build.py --gasell "$gasell" --out "${1:-build/site}"
