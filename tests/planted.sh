#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# planted.sh PROGRAM PATTERN [SEED]: PROGRAM holds a bug planted on purpose and must find it: end with a failure (not by a
# signal) and say something that matches PATTERN. A swarm, and the laws of paths, begin with world SEED.
# planted.sh SCRIPT PATTERN TEST HOST: HOST is a weft host with the bug, and TEST of SCRIPT must find it. Where the script
# skips itself, so does this.
set -uo pipefail
export WEFT_BYTES_FIRST=${3:-1} WEFT_PATH_LAWS_FIRST=${3:-1}
command=("$1")
if [ $# -gt 3 ]; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  ln -s "$(dirname "$WEFT")"/weft-* "$folder"
  ln -sf "$(realpath "$4")" "$folder/weft-host"
  cp "$WEFT" "$folder/weft" # which looks for the others beside itself
  export WEFT=$folder/weft
  command+=("$3")
fi
said=$("${command[@]}" 2>&1)
status=$?
if [ $# -gt 3 ] && [ "$status" -eq 77 ]; then
  echo "$said"
  exit 77
fi
if [ "$status" -eq 0 ]; then
  echo "the planted bug was not found"
  exit 1
fi
if [ "$status" -ge 128 ] || ! grep -qE -- "$2" <<<"$said"; then
  printf 'ended with %d, but not because of the planted bug; it said:\n%s\n' "$status" "$(tail -n 12 <<<"$said")"
  exit 1
fi
echo "found: $(grep -E -- "$2" <<<"$said" | tail -n 1)"
