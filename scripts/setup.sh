#!/usr/bin/env bash
# Installs what Gasell needs to be built and tested, on Debian 12 and Ubuntu 24.04. Idempotent: what is there is left alone, and apt is not called when nothing is missing.
#   scripts/setup.sh         the compiler, the libraries, the tools of the tests
#   scripts/setup.sh --dev   also clang-format and clang-tidy
# Apache Arrow C++, for Parquet files and object stores, comes out of the wheel of pyarrow into build/arrow, where the distribution has none; without a network Gasell is built without it.
# So is ducc's library of Fourier transforms, which comes out of the sources of the package ducc0 into build/ducc.
set -euo pipefail

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

want_dev=0
for argument in "$@"; do
  case "$argument" in
    --dev) want_dev=1 ;;
    -h | --help) sed -n '2,6p' "$0" | sed 's/^# \?//'; exit 0 ;;
    *) fail "unknown argument '$argument' (only --dev is known)" ;;
  esac
done
command -v apt-get >/dev/null || fail "this script knows apt only (Debian 12, Ubuntu 24.04); docs of the packages to install elsewhere: cmake/Dependencies.cmake"

packages=(
  g++ cmake ninja-build ccache pkg-config git
  llvm-19-dev libclc-19 libzstd-dev zlib1g-dev
  libtbb-dev libfmt-dev libcli11-dev nlohmann-json3-dev libfast-float-dev libutf8proc-dev libxxhash-dev libpcre2-dev libhwy-dev libopenblas64-0-pthread libhdf5-dev libcairo2-dev libpango1.0-dev fonts-dejavu-core tzdata curl
  catch2 python3 python3-dev python3-venv xz-utils
)
if ((want_dev)); then packages+=(clang-format-19 clang-tidy-19); fi

installed() { [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }
known() { apt-cache show "$1" >/dev/null 2>&1; }

as_root=()
if ((EUID != 0)); then
  if command -v sudo >/dev/null; then as_root=(sudo); fi
fi
apt() {
  if ((EUID != 0)) && ((${#as_root[@]} == 0)); then fail "root rights are needed to install packages: run as root, or install sudo"; fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 -o DPkg::Lock::Timeout=120 "$@"
}

# Boost 1.81 or newer has another package name in each distribution.
boost=""
for version in 1.90 1.88 1.83 1.81; do
  if installed "libboost$version-dev"; then boost="libboost$version-dev"; break; fi
done

missing=()
for package in "${packages[@]}"; do
  installed "$package" || missing+=("$package")
done
if [[ -z $boost ]] || ((${#missing[@]})); then
  say "updating apt's lists"
  apt update -qq
  if [[ -z $boost ]]; then
    for version in 1.83 1.81 1.88 1.90; do
      if known "libboost$version-dev"; then boost="libboost$version-dev"; break; fi
    done
    [[ -n $boost ]] || fail "no Boost of version 1.81 or newer among apt's packages; Debian 12 and Ubuntu 24.04 have one"
    missing+=("$boost")
  fi
  unknown=()
  for package in "${missing[@]}"; do known "$package" || unknown+=("$package"); done
  if ((${#unknown[@]})); then
    fail "apt knows no ${unknown[*]}; Debian 12 and Ubuntu 24.04 (with the component 'universe') have them"
  fi
  say "installing ${missing[*]}"
  apt install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  say "installed ${#missing[@]} packages"
else
  say "nothing is missing"
fi

# Apache Arrow C++ (plugins/arrow): its headers and libraries are in the wheel of pyarrow, which needs no Python here.
readonly arrow_version=26
fetch_arrow() {
  local target
  target=$(realpath -m -- "$(dirname "$0")/../build/arrow")
  if { [[ -f $target/pyarrow/include/parquet/arrow/reader.h ]] && compgen -G "$target/pyarrow/libarrow_s3.so.*" >/dev/null; } || pkg-config --exists "parquet >= $arrow_version"; then return; fi
  say "fetching Apache Arrow C++ $arrow_version out of the wheel of pyarrow"
  rm -rf "$target"
  mkdir -p "$target"
  if python3 -m venv "$target/venv" &&
    "$target/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --only-binary :all: --dest "$target" "pyarrow==$arrow_version.*" &&
    python3 -m zipfile -e "$target"/pyarrow-*.whl "$target/wheel"; then
    mkdir "$target/pyarrow"
    mv "$target"/wheel/pyarrow/include "$target"/wheel/pyarrow/{libarrow,libarrow_s3,libparquet}.so.* "$target/pyarrow/"
    find "$target/wheel" -ipath '*dist-info*' \( -name 'LICENSE*' -o -name 'NOTICE*' \) -exec cp {} "$target/pyarrow/" \;
    say "Apache Arrow C++ is in $target/pyarrow"
  else
    rm -rf "$target"
    say "Apache Arrow C++ cannot be fetched: Gasell is built without Parquet, Arrow IPC and ORC files; run this again with a network to add them"
    return
  fi
  rm -rf "$target/venv" "$target/wheel" "$target"/pyarrow-*.whl
}
fetch_arrow

# The Fourier transforms of ducc (runtime/transforms): of the package's sources only these files are taken, which are under the BSD licence of three clauses (or the GPL, which the
# rest of the package is under).
readonly ducc_version=0.42.0
readonly ducc_address=https://files.pythonhosted.org/packages/d0/28/e2b293b1744a63dd61465fdefe1b15d1d9bdbf6ff72fca4cb2f629084a14/ducc0-$ducc_version.tar.gz
readonly ducc_sha256=4e11c59b53a43355b053aebb2a62ee16eebeed026575f7d216cf09d437ce52ef
ducc_files=(fft/{fft,fft1d_impl,fftnd_impl}.h infra/{aligned_array,error_handling,mav,misc_utils,simd,threading,useful_macros}.h infra/mav.cc math/{cmplx,unity_roots}.h)
fetch_ducc() {
  local target file
  target=$(realpath -m -- "$(dirname "$0")/../build/ducc")
  if [[ -f $target/version && $(<"$target/version") == "$ducc_version" ]]; then return; fi
  say "fetching ducc's Fourier transforms $ducc_version"
  rm -rf "$target"
  mkdir -p "$target"
  if ! curl --fail --silent --show-error --location --retry 2 --output "$target/sources.tar.gz" "$ducc_address"; then
    rm -rf "$target"
    say "ducc cannot be fetched: Gasell is built without np.fft; run this again with a network to add it"
    return
  fi
  if ! sha256sum --status --check <<<"$ducc_sha256  $target/sources.tar.gz"; then
    rm -rf "$target"
    fail "what $ducc_address gives is not what was there: its SHA-256 is another one"
  fi
  tar -xzf "$target/sources.tar.gz" -C "$target" --strip-components=2 "${ducc_files[@]/#/ducc0-$ducc_version/src/ducc0/}"
  rm "$target/sources.tar.gz"
  for file in "${ducc_files[@]}"; do
    grep -q '^/\* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-or-later \*/$' "$target/ducc0/$file" || { rm -rf "$target"; fail "$file of ducc does not say that it is under the BSD licence"; }
  done
  printf '%s\n' "$ducc_version" >"$target/version"
  say "ducc's Fourier transforms are in $target/ducc0"
}
fetch_ducc
