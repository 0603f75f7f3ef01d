#!/usr/bin/env bash
# Sets up, builds the release and runs the main job: 2 TB of random numbers summed on this machine's cores.
# Arguments go to gasell, e.g. scripts/main_job.sh --explain --threads 1
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
cmake --preset release
cmake --build --preset release --target gasell_cli
time build/release/bin/gasell "$@" examples/two_terabytes.gsl
