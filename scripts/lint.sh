#!/usr/bin/env bash
# Checks the C++ files' format and runs clang-tidy on them.
#   scripts/lint.sh [--fix] [--format-only] [FILE...]    without files: all of the project's
# --fix writes the format instead of checking it. clang-tidy reads build/dev/compile_commands.json.
set -euo pipefail
cd "$(dirname "$0")/.."
fix=0 tidy=1 files=()
for argument in "$@"; do
  case "$argument" in
    --fix) fix=1 ;;
    --format-only) tidy=0 ;;
    -*) echo "lint: unknown argument '$argument'" >&2; exit 2 ;;
    *) files+=("$argument") ;;
  esac
done
tools=(clang-format-19)
((tidy)) && tools+=(clang-tidy-19)
for tool in "${tools[@]}"; do
  command -v $tool >/dev/null || { echo "lint: $tool is missing; scripts/setup.sh --dev installs it" >&2; exit 2; }
done
if ((${#files[@]} == 0)); then mapfile -t files < <(git ls-files '*.h' '*.hpp' '*.cpp' '*.c'); fi

if ((fix)); then clang-format-19 -i "${files[@]}"; else clang-format-19 --dry-run --Werror "${files[@]}"; fi
echo "lint: the format of ${#files[@]} files is fine"
if ((tidy)); then
  [[ -f build/dev/compile_commands.json ]] || cmake --preset dev >/dev/null
  mapfile -t sources < <(printf '%s\n' "${files[@]}" | grep -E '^(lang|compiler|runtime|stdlib|tools)/.*\.cpp$')
  printf '%s\0' "${sources[@]}" | xargs -0 -n 4 -P "$(nproc)" clang-tidy-19 --quiet -p build/dev
  echo "lint: clang-tidy has nothing to say about ${#sources[@]} files"
fi
