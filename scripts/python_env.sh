#!/usr/bin/env bash
# A private Python environment (.venv) with the peers that the tests compare Gasell with. Idempotent. Without a network the tests fall back to recorded answers, so
# that is said and is no failure. PEERS=bench also gets what the benchmarks compare with; PEERS=package makes .venv-package, with all that the Python package works with,
# for its tests (tests/python_package), PEERS=docs .venv-docs, with what the documentation site is built with (scripts/site.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
packages=("numpy>=2,<3" "pandas>=2.3,<3" "moto[server]>=5,<6" "gcp-storage-emulator")
if [[ ${PEERS:-} == bench ]]; then packages+=(numba numexpr jax polars duckdb pyarrow); fi

environment=.venv
if [[ ${PEERS:-} == package ]]; then
  environment=.venv-package
  packages=("numpy>=2,<3" pandas pyarrow polars "dask[array]" distributed ipykernel nbclient)
fi
if [[ ${PEERS:-} == docs ]]; then
  environment=.venv-docs
  packages=("markdown>=3.5,<4" "pygments>=2.17,<3")
fi

stamp=$environment/gasell-packages
if [[ -f $stamp && $(<"$stamp") == "${packages[*]}" ]]; then
  echo "python_env: $environment is there"
  exit 0
fi
echo "python_env: making $environment with ${packages[*]}"
python3 -m venv $environment
if $environment/bin/pip install --quiet --disable-pip-version-check --retries 1 --timeout 20 "${packages[@]}"; then
  printf '%s' "${packages[*]}" >"$stamp"
else
  echo "python_env: the packages cannot be had here; the tests use recorded answers" >&2
fi
