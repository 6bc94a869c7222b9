#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/interop/all_dissected.c with all broken captures: tests/run holds a part of them against tshark.
set -euo pipefail
program=$(dirname "$(dirname "${WEFT:?}")")/tests/interop_all_dissected
[ -x "$program" ] || { echo "interop_all_dissected was not built (is cmocka there?): skipped"; exit 77; }
WEFT_DISSECT_ALL=1 "$program"
