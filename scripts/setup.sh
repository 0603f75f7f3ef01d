#!/usr/bin/env bash
# Installs what Gasell needs to be built and tested, on Debian 12 and Ubuntu 24.04. Idempotent: what is there is left alone, and apt is not called when nothing is missing.
#   scripts/setup.sh         the compiler, the libraries, the tools of the tests
#   scripts/setup.sh --dev   also clang-format and clang-tidy
# Apache Arrow C++, for Parquet files and object stores, comes out of the wheel of pyarrow into build/arrow, where the distribution has none; without a network Gasell is built without it.
set -euo pipefail

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

want_dev=0
for argument in "$@"; do
  case "$argument" in
    --dev) want_dev=1 ;;
    -h | --help) sed -n '2,5p' "$0" | sed 's/^# \?//'; exit 0 ;;
    *) fail "unknown argument '$argument' (only --dev is known)" ;;
  esac
done
command -v apt-get >/dev/null || fail "this script knows apt only (Debian 12, Ubuntu 24.04); docs of the packages to install elsewhere: cmake/Dependencies.cmake"

packages=(
  g++ cmake ninja-build ccache pkg-config git
  llvm-19-dev libclc-19 libzstd-dev zlib1g-dev
  libtbb-dev libfmt-dev libcli11-dev nlohmann-json3-dev libfast-float-dev libedit-dev libutf8proc-dev libxxhash-dev libpcre2-dev libhwy-dev libopenblas64-0-pthread tzdata curl
  catch2 python3 python3-venv xz-utils
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
