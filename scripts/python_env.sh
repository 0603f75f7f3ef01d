#!/usr/bin/env bash
# A private Python environment (.venv) with the peers that the tests compare Gasell with. Idempotent. Without a network the tests fall back to recorded answers, so
# that is said and is no failure. PEERS=bench also gets what the benchmarks compare with.
set -euo pipefail
cd "$(dirname "$0")/.."
packages=("numpy>=2,<3" "pandas>=2.3,<3" "moto[server]>=5,<6" "gcp-storage-emulator")
if [[ ${PEERS:-} == bench ]]; then packages+=(numba numexpr jax polars duckdb pyarrow); fi

stamp=.venv/gasell-packages
if [[ -f $stamp && $(<"$stamp") == "${packages[*]}" ]]; then
  echo "python_env: .venv is there"
  exit 0
fi
echo "python_env: making .venv with ${packages[*]}"
python3 -m venv .venv
if .venv/bin/pip install --quiet --disable-pip-version-check --retries 1 --timeout 20 "${packages[@]}"; then
  printf '%s' "${packages[*]}" >"$stamp"
else
  echo "python_env: the packages cannot be had here; the tests use recorded answers" >&2
fi
