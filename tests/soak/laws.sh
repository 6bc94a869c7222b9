#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The laws of lone flows, of lossless fabrics, of paths, of few EVs and of what failures cost, over thousands of worlds.
# WEFT_LAWS_COUNT: how many of each (2000).
set -euo pipefail
programs=$(dirname "$(dirname "${WEFT:?}")")/tests
count=${WEFT_LAWS_COUNT:-2000}
failed=0
for name in property_all_lone_flow property_all_lossless property_all_path_laws property_all_few_evs property_all_failure_costs; do
  [ -x "$programs/$name" ] || { echo "$name was not built (is cmocka there?): skipped"; exit 77; }
  WEFT_LONE_COUNT=$count WEFT_LOSSLESS_COUNT=$count WEFT_DEEP_COUNT=$count WEFT_TRIMMING_COUNT=$count WEFT_PATH_LAWS_COUNT=$count WEFT_FEW_EVS_COUNT=$count WEFT_COSTS_COUNT=$count \
    "$programs/$name" || failed=$((failed + 1))
done
[ "$failed" -eq 0 ]
