#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What states an error, in hundreds of random worlds: times and quantiles of samples. WEFT_STATED_COUNT: how many worlds of
# each (900: of some nothing is stated). Each says what share held.
set -euo pipefail
programs=$(dirname "$(dirname "${WEFT:?}")")/tests
count=${WEFT_STATED_COUNT:-900}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0
for name in property_all_sample_error property_all_sample_quantiles; do
  [ -x "$programs/$name" ] || { echo "$name was not built (is cmocka there?): skipped"; exit 77; }
  status=0
  WEFT_SAMPLE_FIRST=50000 WEFT_SAMPLE_COUNT=$count WEFT_QUANTILES_FIRST=50000 WEFT_QUANTILES_COUNT=$count \
    "$programs/$name" >"$log" 2>&1 || status=$?
  printf '%s:\n' "$name"
  grep -E '^([a-z0-9]+: )?[0-9]+ of [0-9]+ held|^[0-9]+ worlds' "$log" || true
  if [ "$status" -ne 0 ]; then
    failed=$((failed + 1))
    printf 'not ok: %s ended with %d:\n' "$name" "$status"
    tail -n 12 "$log"
  fi
done
[ "$failed" -eq 0 ]
