#!/usr/bin/env bash
# Makes the portable bundle: a folder gasell-VERSION-linux-x86_64/ and the same as .tar.xz, which runs on any x86-64 Linux with glibc 2.36 or newer (that of Debian 12;
# built on a machine with a newer one, it may need that: the last lines say which), with or without a GPU, with nothing installed. The result is checked.
#   scripts/bundle.sh [--out DIR]    DIR: build/bundle unless said
# The archive depends on the commit, the compiler and the libraries alone: names are sorted, times are the commit's (or SOURCE_DATE_EPOCH).
set -euo pipefail
say() { printf 'bundle: %s\n' "$*"; }
fail() { printf 'bundle: %s\n' "$*" >&2; exit 1; }

out=""
while (($#)); do
  case "$1" in
    --out) (($# > 1)) || fail "--out wants a folder"; out=$(realpath -m -- "$2"); shift 2 ;;
    -h | --help) sed -n '2,5p' "$0" | sed 's/^# \?//'; exit 0 ;;
    *) fail "unknown argument '$1' (only --out DIR is known)" ;;
  esac
done
cd "$(dirname "$0")/.."
out=${out:-$PWD/build/bundle}
readonly build=build/release most_bytes=$((64 << 20))

scripts/setup.sh
cmake --preset release >/dev/null
cmake --build --preset release
version=$($build/bin/gasell --version | grep -oE '[0-9]+(\.[0-9]+)+' | head -1)
name=gasell-$version-linux-x86_64
folder=$out/$name
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}

# What is ours.
rm -rf "$folder" "$folder.tar.xz"
mkdir -p "$folder"
cmake --install $build --prefix "$folder" --strip >/dev/null
cp -r README.md CHANGELOG.md CONTRIBUTING.md LICENSE docs examples "$folder"

# The shared libraries that are not part of glibc, in a folder that only we look into: a program that finds libgasell.so in lib/ must not find an old libstdc++ beside it.
private=$folder/lib/gasell
mkdir -p "$private"
openblas=$(sed -n 's/^OPENBLAS:FILEPATH=//p' $build/CMakeCache.txt)  # opened at run time, so that no program names it
mapfile -t shared < <({ echo "$(basename "$openblas") => $openblas"; ldd $build/bin/gasell $build/lib/libgasell.so "$openblas"; } | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
  grep -vE '/lib(c|m|dl|pthread|rt|mvec)\.so\.[0-9]+$')
for library in "${shared[@]}"; do install -m 644 "$library" "$private/"; done

# The plugin of Parquet files brings Apache Arrow's libraries, which come with symbols.
arrow=$(sed -n 's/^GASELL_ARROW_ROOT:PATH=//p' $build/CMakeCache.txt)
[[ -f $private/gasell_arrow.so ]] || fail "the plugin for Parquet files was not built: scripts/setup.sh fetches Apache Arrow C++"
for library in "$private"/libarrow.so.* "$private"/libarrow_s3.so.* "$private"/libparquet.so.*; do
  if [[ -f $library ]]; then strip --strip-unneeded "$library"; fi
done

# libhdf5 of the distributions needs libcurl and what that needs, more than all else here: files of HDF5 are read where it is installed and Gasell is built.
rm -f "$private/gasell_hdf5.so"
# Likewise pictures: cairo and pango bring the libraries of a desktop and want its fonts.
rm -f "$private/gasell_pictures.so"

# Whose work is in it, and under which licences.
owner() { dpkg -S "$1" 2>/dev/null || dpkg -S "/usr$(realpath "$1" | sed 's|^/usr||')"; }
owner_of() { owner "$1" | sed -E 's/:.*//; s/,.*//' | head -1; }
licences=$folder/licences
mkdir -p "$licences"
page=$folder/THIRD_PARTY.md
printf '%s\n' "# Third-party work in this bundle" "" "The texts are in licences/; the licences that they name only are there too." "" "| package | version | as | text |" "|---|---|---|---|" >"$page"
third_party() {
  local package=$1 as=$2
  local text=/usr/share/doc/$package/copyright
  [[ -f $text ]] || fail "no licence is found of $package ($text)"
  cp -L "$text" "$licences/$package.txt"
  printf '| %s | %s | %s | [text](licences/%s.txt) |\n' "$package" "$(dpkg-query -W -f='${Version}' "$package" | head -1)" "$as" "$package" >>"$page"
}
{
  for library in "${shared[@]}"; do echo "$(owner_of "$library")|lib/gasell/$(basename "$library")"; done
  for package in llvm-19-dev libzstd-dev zlib1g-dev libutf8proc-dev libxxhash-dev libpcre2-dev; do echo "$package|linked in"; done
  for package in libfmt-dev libcli11-dev nlohmann-json3-dev libfast-float-dev "$(owner_of /usr/include/boost/version.hpp)"; do echo "$package|compiled in"; done
  libclc=$(sed -n 's/^LIBCLC:FILEPATH=//p' $build/CMakeCache.txt)
  if [[ -n $libclc ]]; then echo "$(owner_of "$libclc")|device bitcode, compiled in"; fi
} | LC_ALL=C sort -u | while IFS='|' read -r package as; do third_party "$package" "$as"; done
if compgen -G "$private/libarrow.so.*" >/dev/null; then
  cat "$arrow"/LICENSE* "$arrow"/NOTICE* >"$licences/apache-arrow.txt"
  version_of_arrow=$($build/bin/gasell doctor | grep -oE 'Apache Arrow [0-9.]+' | grep -oE '[0-9.]+$')
  printf '| Apache Arrow C++ and Parquet | %s | lib/gasell/libarrow, lib/gasell/libarrow_s3, lib/gasell/libparquet | [text](licences/apache-arrow.txt) |\n' "$version_of_arrow" >>"$page"
fi
ducc=$(sed -n 's/^GASELL_DUCC_ROOT:PATH=//p' $build/CMakeCache.txt)
[[ -f $ducc/version ]] || fail "np.fft was not built: scripts/setup.sh fetches ducc"
sed -n '1,/^\*\/$/p; /^All rights reserved/,/^\*\/$/p' "$ducc/ducc0/fft/fft.h" >"$licences/ducc.txt"
printf '| ducc0, its Fourier transforms | %s | compiled in | [text](licences/ducc.txt) |\n' "$(<"$ducc/version")" >>"$page"
grep -hoE '/usr/share/common-licenses/[A-Za-z0-9.+-]*[A-Za-z0-9]' "$licences"/*.txt | sort -u | while read -r text; do
  if [[ -f $text ]]; then cp -L "$text" "$licences/$(basename "$text")"; fi
done

(cd "$out" && find "$name" -print0 | LC_ALL=C sort -z |
  tar --null --no-recursion --files-from=- --format=ustar --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$epoch" --create |
  xz --threads=1 --x86 --lzma2=preset=9e,dict=128MiB >"$name.tar.xz")
bytes=$(stat -c %s "$folder.tar.xz")
say "$folder.tar.xz: $((bytes >> 20)).$(((bytes % (1 << 20)) * 10 >> 20)) MiB ($(du -sm "$folder" | cut -f1) MiB unpacked)"
((bytes <= most_bytes)) || fail "the archive is larger than $((most_bytes >> 20)) MiB"
scripts/check_bundle.py "$folder.tar.xz"
