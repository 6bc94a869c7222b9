#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What shellcheck has to say about the tracked shell scripts: nothing. Argument: the root.
set -euo pipefail
root=$1
# shellcheck source=tests/lint/files.sh
. "$(dirname "$0")/files.sh"
command -v shellcheck >/dev/null || { echo "shellcheck is not here: skipped"; exit 77; }
cd "$root"
mapfile -t files < <(tracked . '*' | while read -r file; do
  if [[ $file == *.sh ]] || head -n 1 "$file" | tr -d '\0' | grep -qE '^#!.*[/ ](ba)?sh$'; then
    echo "$file"
  fi
done)
[ ${#files[@]} -gt 0 ] || { echo "no scripts below $root"; exit 1; }
shellcheck -x "${files[@]}"
echo "${#files[@]} scripts"
