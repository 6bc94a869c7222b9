#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Names that say nothing, unfinished marks, and paths of somebody's machine. Argument: the root.
set -euo pipefail
root=$1
# shellcheck source=tests/lint/files.sh
. "$(dirname "$0")/files.sh"
wrong=0
# Written so that this file does not hold them itself.
marks='\b(TO''DO|FIX''ME|XX''X|HA''CK)\b'
paths='(^|[^[:alnum:]_.])/(work|home|root|Users)/|/tmp/[a-z]'

mapfile -t files < <(tracked "$root" '*')
[ ${#files[@]} -gt 0 ] || { echo "no files below $root"; exit 1; }
for file in "${files[@]}"; do
  if grep -qiE '(^|[/_.-])(utils?|common|managers?|helpers?)([/_.-]|$)' <<<"$file"; then
    echo "$file: a name that says nothing"
    wrong=$((wrong + 1))
  fi
done
cd "$root"
if grep -nIE "$marks" "${files[@]}" /dev/null; then
  echo "unfinished marks: finish them, or say it in docs"
  wrong=$((wrong + 1))
fi
if grep -nIE "$paths" "${files[@]}" /dev/null; then
  echo "paths of one machine"
  wrong=$((wrong + 1))
fi
echo "${#files[@]} files, $wrong wrong"
[ "$wrong" -eq 0 ]
