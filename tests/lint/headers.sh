#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each public header compiles alone: in C with gcc and clang, in C++ with g++ and clang++ (nvcc is a C++ compiler).
# Argument: the root. A compiler that is not there is named and left out; none at all is a failure.
set -euo pipefail
root=$1
warnings="-Wall -Wextra -Wundef -Wno-unused-parameter -Werror"
wrong=0 compiled=0

for compiler in "gcc -std=gnu2x -x c -Wshadow -Wstrict-prototypes" "clang -std=gnu2x -x c -Wshadow -Wstrict-prototypes" \
  "g++ -std=c++17 -x c++" "clang++ -std=c++17 -x c++"; do
  if ! command -v "${compiler%% *}" >/dev/null; then
    echo "${compiler%% *} is not here: left out"
    continue
  fi
  for header in "$root"/include/weft/*/*.h "$root"/include/installed/weft/*/*.h; do
    [ -e "$header" ] || continue
    # shellcheck disable=SC2086 # options are words
    if ! echo "#include <weft/${header##*/weft/}>" | $compiler $warnings -fsyntax-only -I"$root/include" -I"$root/include/installed" -; then
      echo "${header#"$root"/}: does not compile alone with ${compiler%% *}"
      wrong=$((wrong + 1))
    fi
    compiled=$((compiled + 1))
  done
done
echo "$compiled compilations, $wrong wrong"
[ "$compiled" -gt 0 ] && [ "$wrong" -eq 0 ]
