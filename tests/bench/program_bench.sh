#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# weft bench gives every figure, and figures that fit each other. Times are printed, never judged: machines are noisy.
set -euo pipefail
weft=${WEFT:?}
fields='cpu_s_best cpu_s_median data_packets hops data_hops data_packets_per_s_best hops_per_s_best ns_per_hop_best memory_peak_bytes'
failed=0
complain() {
  echo "not ok: $*"
  failed=$((failed + 1))
}

# The number of field $2 in the JSON text $1.
field() {
  sed -n "s/^ *\"$2\": \([0-9.eE+-]*\),\{0,1\}$/\1/p" <<<"$1"
}

# Whether the awk expression $1 holds.
holds() {
  awk "BEGIN { exit !($1) }"
}

large=$("$weft" bench sim --repeat 3 --json)
small=$("$weft" bench sim --repeat 3 --json --scenario two-planes)
for figures in "$large" "$small"; do
  for name in $fields; do
    value=$(field "$figures" "$name")
    if [ -z "$value" ] || ! holds "$value > 0"; then
      complain "$name is '$value'"
    fi
  done
  [ "$(field "$figures" repeat)" = 3 ] || complain "repeat is not what was asked"
  grep -qE '"digest": "[0-9a-f]{16}"' <<<"$figures" || complain "no digest"
  holds "$(field "$figures" cpu_s_best) <= $(field "$figures" cpu_s_median)" || complain "the best is above the median"
  holds "$(field "$figures" hops) >= $(field "$figures" data_hops)" || complain "more data hops than hops"
  holds "$(field "$figures" data_hops) >= 2 * $(field "$figures" data_packets)" || complain "a packet with less than two hops"
  product="$(field "$figures" ns_per_hop_best) * $(field "$figures" hops) / 1e9 / $(field "$figures" cpu_s_best)"
  holds "$product > 0.999 && $product < 1.001" || complain "ns per hop times hops is not the time"
done

# A bench runs what weft sim runs.
digest=$(grep -oE '"digest": "[0-9a-f]{16}"' <<<"$large")
"$weft" sim perm128-400g --json | grep -qF "$digest" || complain "weft sim has another digest"

table=$("$weft" bench sim --repeat 1)
grep -q 'ns per packet-hop' <<<"$table" || complain "the table has no time per hop"

# Bad words are refused in one line.
for words in '' 'nothing' 'sim --repeat 0' 'sim --repeat x' 'sim --repeat 1001' 'sim --repeat' 'sim --bogus' 'sim two' \
  'sim --scenario missing' 'sim --scenario missing.yaml'; do
  status=0
  # shellcheck disable=SC2086 # words
  said=$("$weft" bench $words 2>&1 >/dev/null) || status=$?
  if [ "$status" -ne 2 ] || [ -z "$said" ] || [ "$(wc -l <<<"$said")" -ne 1 ]; then
    complain "weft bench $words: $status, $said"
  fi
done
for how in '>/dev/full' '>&-'; do
  status=0
  bash -c "'$weft' bench sim --repeat 1 --scenario two-planes --json $how" 2>/dev/null || status=$?
  [ "$status" -eq 3 ] || complain "$how: exit $status"
done

per_hop=$(field "$large" ns_per_hop_best)
per_hop_small=$(field "$small" ns_per_hop_best)
echo "128 hosts: $per_hop ns per hop; two flows: $per_hop_small ns; ratio $(awk "BEGIN { printf \"%.2f\", $per_hop / $per_hop_small }")"
[ "$failed" -eq 0 ]
