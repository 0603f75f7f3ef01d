#!/usr/bin/env bash
# Makes the Python wheel of a release build with the libraries of the portable bundle (scripts/bundle.sh, which it runs): one file for CPython 3.10 and later on any
# x86-64 Linux with glibc 2.36 or newer.
#   scripts/wheel.sh [--out DIR]    DIR: dist unless said
set -euo pipefail
out=dist
while (($#)); do
  case "$1" in
    --out) (($# > 1)) || { echo "wheel: --out wants a folder" >&2; exit 1; }; out=$(realpath -m -- "$2"); shift 2 ;;
    -h | --help) sed -n '2,4p' "$0" | sed 's/^# \?//'; exit 0 ;;
    *) echo "wheel: unknown argument '$1' (only --out DIR is known)" >&2; exit 1 ;;
  esac
done
cd "$(dirname "$0")/.."
scripts/bundle.sh
bundles=(build/bundle/gasell-*/)
python3 tools/python/wheel.py --build build/release --bundle "${bundles[0]%/}" --out "$out"
