#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fits planted bugs to sources that have moved: applies each patch to a copy, as near as it goes, and writes it anew. Look at
# the difference: a bug that landed elsewhere is none, and its test says so.
#
#   tests/planted/renew.sh NAME...    names of patches, without .patch; none: all that do not fit
set -euo pipefail
cd "$(dirname "$0")/../.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
failed=0
if [ $# -eq 0 ]; then
  for file in tests/planted/*.patch; do
    patch -p1 -F0 --dry-run -s -f <"$file" >/dev/null 2>&1 || set -- "$@" "$(basename "$file" .patch)"
  done
fi
for name; do
  file=tests/planted/$name.patch
  mapfile -t touched < <(sed -n 's|^+++ b/\([^[:space:]]*\).*|\1|p' "$file")
  mkdir -p "$copy/$name/a" "$copy/$name/b"
  cp --parents -t "$copy/$name/a" "${touched[@]}"
  cp --parents -t "$copy/$name/b" "${touched[@]}"
  if ! patch -d "$copy/$name/b" -p1 -F3 --no-backup-if-mismatch -r - <"$file"; then
    echo "not renewed: $file"
    failed=1
    continue
  fi
  {
    sed '/^--- /,$d' "$file"
    for one in "${touched[@]}"; do
      diff -u --label "a/$one" --label "b/$one" "$copy/$name/a/$one" "$copy/$name/b/$one" || [ $? -eq 1 ]
    done
  } >"$copy/new"
  cp "$copy/new" "$file"
  echo "renewed: $file"
done
exit "$failed"
