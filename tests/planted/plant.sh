#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plants a bug: copies lib/SOURCE and the headers of its room into folder TREE, applies PATCH there, and writes the source
# that comes of it to OUT, for a test that must find the bug. A patch that does not fit the sources exactly is an error;
# tests/planted/renew.sh fits it to sources that have moved.
#
#   plant.sh PATCH ROOT SOURCE TREE OUT DEPENDENCIES
set -euo pipefail
patch=$1 root=$2 source=lib/$3 tree=$4 out=$5 dependencies=$6
room=lib/${3%%/*}

complain() {
  printf '%s %s\n' "$patch" "$1" >&2
  exit 1
}

rm -rf "$tree"
mkdir -p "$tree"
mapfile -t headers < <(cd "$root" && find "$room" -name '*.h' | sort)
(cd "$root" && cp --parents -t "$tree" "$source" "${headers[@]}")
while read -r file; do
  [ -e "$tree/$file" ] || complain "changes $file, which is neither $source nor a header of its room"
done < <(sed -n 's|^+++ b/\([^[:space:]]*\).*|\1|p' "$patch")
said=$(patch -d "$tree" -p1 -F0 --no-backup-if-mismatch -r - <"$patch" 2>&1) || complain "does not fit $source as it is now:
$said
Renew it with tests/planted/renew.sh $(basename "$patch" .patch), or by hand."
{
  printf '#line 1 "%s"\n' "$source"
  cat "$tree/$source"
} >"$out"
printf '%s:' "$out" >"$dependencies"
printf ' %s' "$patch" "$root/$source" "${headers[@]/#/$root/}" >>"$dependencies"
printf '\n' >>"$dependencies"
