#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every tracked source says its licence in its first two lines. Argument: the root.
set -euo pipefail
root=$1
# shellcheck source=tests/lint/files.sh
. "$(dirname "$0")/files.sh"
wrong=0 seen=0

# Prose and LICENSE carry no such line; a file without a dot in its name counts when it is a script.
while read -r file; do
  case "${file##*/}" in
  *.*) ;;
  *) head -c 2 "$root/$file" | grep -q '#!' || continue ;;
  esac
  seen=$((seen + 1))
  if ! head -n 2 "$root/$file" | grep -q 'SPDX-License-Identifier: Apache-2\.0$'; then
    echo "$file: line 1 or 2 must say SPDX-License-Identifier: Apache-2.0"
    wrong=$((wrong + 1))
  fi
done < <(tracked "$root" '*.c' '*.h' '*.cu' '*.py' '*.sh' '*.lua' '*.js' '*.yaml' '*.yml' '*.in' help.txt \
  meson.build .clang-format .editorconfig .gitignore '[!.]*' | grep -vE '\.(md|json|csv|txt|svg|html|hdr|pcapng|pcap|png|patch)$|LICENSE$')
echo "$seen files, $wrong wrong"
[ "$seen" -gt 0 ] && [ "$wrong" -eq 0 ]
