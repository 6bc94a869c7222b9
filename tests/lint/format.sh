#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every tracked .c and .h file is as clang-format writes it. Argument: the root. Mend with: clang-format -i FILE.
set -euo pipefail
root=$1
# shellcheck source=tests/lint/files.sh
. "$(dirname "$0")/files.sh"
command -v clang-format >/dev/null || { echo "clang-format is not here: skipped"; exit 77; }
mapfile -t files < <(tracked "$root" '*.c' '*.h')
[ ${#files[@]} -gt 0 ] || { echo "no files below $root"; exit 1; }
cd "$root"
clang-format --dry-run -Werror --style=file "${files[@]}"
echo "${#files[@]} files"
