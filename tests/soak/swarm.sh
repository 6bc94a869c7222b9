#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The swarms and the counters with thousands of seeds. WEFT_SWARM_COUNT: how many worlds of each (5000); WEFT_BYTES_COUNT:
# of the swarm with bytes (10000); WEFT_PROCESSES_COUNT: of worlds that several processes run (200); WEFT_PAIRS_COUNT: pairs of
# adapters that differ (300000).
set -euo pipefail
programs=$(dirname "$(dirname "${WEFT:?}")")/tests
count=${WEFT_SWARM_COUNT:-5000}
bytes=${WEFT_BYTES_COUNT:-10000}
processes=${WEFT_PROCESSES_COUNT:-200}
pairs=${WEFT_PAIRS_COUNT:-300000}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0
for name in swarm_all_swarm swarm_all_bytes swarm_all_timers swarm_all_processes property_all_counters property_adapter_pairs; do
  [ -x "$programs/$name" ] || { echo "$name was not built (is cmocka there?): skipped"; exit 77; }
  status=0
  WEFT_SWARM_COUNT=$count WEFT_COUNTERS_COUNT=$count WEFT_BYTES_COUNT=$bytes WEFT_TIMERS_COUNT=$bytes WEFT_PROCESSES_COUNT=$processes \
    WEFT_PAIRS_COUNT=$pairs \
    "$programs/$name" >"$log" 2>&1 || status=$?
  if [ "$status" -eq 0 ]; then
    echo "$name: $(grep -E '^[0-9]+ (worlds|pairs)' "$log")"
  else
    failed=$((failed + 1))
    printf 'not ok: %s ended with %d:\n' "$name" "$status"
    tail -n 12 "$log"
  fi
done
[ "$failed" -eq 0 ]
