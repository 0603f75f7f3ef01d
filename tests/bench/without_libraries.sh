#!/bin/bash
# The tables of products, decompositions, transforms and the published comparison on a GPU, each with NVIDIA's libraries and without, and the accuracy of transforms both ways.
#
#   tests/bench/without_libraries.sh GASELL PYTHON_WITH_CUPY_AND_SCIPY [FOLDER]
#
# Writes FOLDER/NAME.md (here unless said). Results are checked before they are timed; exit status 1 where one is wrong.
set -u
gasell=${1:?a gasell}
python=${2:?a Python with CuPy and SciPy}
folder=${3:-.}
here=$(dirname "$0")
status=0

table() { # name, command …
  local name=$1
  shift
  if ! "$@" > "$folder/$name.md" 2>&1; then
    echo "$name: failed, see $folder/$name.md"
    status=1
  fi
}

mkdir -p "$folder"
for part in "" without; do
  option=${part:+--without-libraries}
  suffix=${part:+-without-libraries}
  table "products$suffix" python3 "$here/products.py" --gpu --gasell "$gasell" --python "$python" --elements 4000 --runs 15 $option
  table "transforms$suffix" python3 "$here/transforms.py" --gpu --gasell "$gasell" --python "$python" --runs 15 $option
  table "published$suffix" python3 "$here/published.py" --gpu --gasell "$gasell" --python "$python" --runs 10 $option
done
table tiled-products python3 "$here/tiled_products.py" --gasell "$gasell"
table accuracy python3 "$here/transform_accuracy.py" --gasell "$gasell" --python "$python" --device gpu
GASELL_CUFFT=0 table accuracy-without-libraries python3 "$here/transform_accuracy.py" --gasell "$gasell" --python "$python" --device gpu
exit $status
