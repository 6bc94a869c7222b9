#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every claim of docs/validation.md with as many runs as that page has, and the table of differences.
# WEFT_VALIDATE_RUNS: runs of each matrix (4).
set -euo pipefail
cd "${WEFT_SOURCE:?}"
PYTHONPATH=tests WEFT_VALIDATE_RUNS=${WEFT_VALIDATE_RUNS:-4} python3 tests/golden/program_validate.py
data=${WEFT_SHARED:-../shared}/data/htsim
if [ -e "$data/summary.csv" ]; then
  "${WEFT:?}" validate --data "$data" --differences
else
  echo "skipped: no reference data in $data"
fi
