#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# planted.sh PROGRAM PATTERN [SEED]: PROGRAM holds a bug planted on purpose and must find it: end with a failure (not by a
# signal) and say something that matches PATTERN. A swarm, and the laws of paths, begin with world SEED.
set -uo pipefail
export WEFT_BYTES_FIRST=${3:-1} WEFT_PATH_LAWS_FIRST=${3:-1}
said=$("$1" 2>&1)
status=$?
if [ "$status" -eq 0 ]; then
  echo "the planted bug was not found"
  exit 1
fi
if [ "$status" -ge 128 ] || ! grep -qE -- "$2" <<<"$said"; then
  printf 'ended with %d, but not because of the planted bug; it said:\n%s\n' "$status" "$(tail -n 12 <<<"$said")"
  exit 1
fi
echo "found: $(grep -E -- "$2" <<<"$said" | tail -n 1)"
