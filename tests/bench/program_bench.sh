#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# weft bench gives every figure, and figures that fit each other. Times are printed, never judged: machines are noisy.
# Neither is the ratio of the two loops of weft bench dpdk: below one half, after three tries, is a warning.
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

# One case of the standard ones, and a scenario.
large=$("$weft" bench sim --repeat 3 --only perm128-400g-2mb --json -)
small=$("$weft" bench sim --repeat 3 --json - --scenario two-planes)
for figures in "$large" "$small"; do
  for name in $fields; do
    value=$(field "$figures" "$name")
    if [ -z "$value" ] || ! holds "$value > 0"; then
      complain "$name is '$value'"
    fi
  done
  [ "$(field "$figures" repeat)" = 3 ] || complain "repeat is not what was asked"
  [ "$(sed -n '/"cpu_s": \[/,/\]/p' <<<"$figures" | grep -c '^ *[0-9]')" = 3 ] || complain "not the times of 3 runs"
  grep -qE '"digest": "[0-9a-f]{16}"' <<<"$figures" || complain "no digest"
  holds "$(field "$figures" cpu_s_best) <= $(field "$figures" cpu_s_median)" || complain "the best is above the median"
  holds "$(field "$figures" hops) >= $(field "$figures" data_hops)" || complain "more data hops than hops"
  holds "$(field "$figures" data_hops) >= 2 * $(field "$figures" data_packets)" || complain "a packet with less than two hops"
  product="$(field "$figures" ns_per_hop_best) * $(field "$figures" hops) / 1e9 / $(field "$figures" cpu_s_best)"
  holds "$product > 0.999 && $product < 1.001" || complain "ns per hop times hops is not the time"
  holds "$(field "$figures" events_per_hop) > 1 && $(field "$figures" events_per_hop) < 3" || complain "events per hop"
done

# The case does what htsim did: 62,720 data packets, 461,608 packet-hops (365,540 of data), 16,484 ACKs. Both draw lots, so
# hops may differ by a little; data packets do not when nothing is trimmed.
[ "$(field "$large" data_packets)" = 62720 ] || complain "$(field "$large" data_packets) data packets, htsim has 62,720"
holds "$(field "$large" hops) > 0.98 * 461608 && $(field "$large" hops) < 1.02 * 461608" || complain "hops are not htsim's"
holds "$(field "$large" control_per_data_packet) > 0.25 && $(field "$large" control_per_data_packet) < 0.27" ||
  complain "control packets per data packet are not htsim's 0.263"

# A bench runs what weft sim runs.
digest=$(grep -oE '"digest": "[0-9a-f]{16}"' <<<"$large")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$weft" bench sim --show perm128-400g-2mb >"$work/case.yaml"
figures=$("$weft" sim "$work/case.yaml" --json) # whole: a reader that leaves early would break the pipe
[[ $figures == *"$digest"* ]] || complain "weft sim has another digest"

"$weft" bench sim --repeat 1 --only incast8,incast32 --json "$work/cases.json" >"$work/table"
grep -q 'ns per hop' "$work/table" || complain "the table has no time per hop"
[ "$(grep -c '^incast' "$work/table")" = 2 ] || complain "the table has not the two cases that were asked for"
[ "$(grep -c '"name": "incast' "$work/cases.json")" = 2 ] || complain "the file has not the two cases"
[ "$(find "$work" -name '.cases.json*')" = '' ] || complain "a part of the file was left"

# Every case is a scenario that weft sim accepts; the smaller ones are run.
while read -r name _; do
  "$weft" bench sim --show "$name" >"$work/$name.yaml"
  "$weft" sim "$work/$name.yaml" --footprint >"$work/said" || complain "$name: weft sim does not build it"
done < <("$weft" bench sim --list)
[ "$("$weft" bench sim --list | wc -l)" -ge 16 ] || complain "there are fewer than 16 cases"

# Bad words are refused in one line.
for words in '' 'nothing' 'sim --repeat 0' 'sim --repeat x' 'sim --repeat 1001' 'sim --repeat' 'sim --bogus' 'sim two' \
  'sim --scenario missing' 'sim --scenario missing.yaml' 'sim --only perm129' 'sim --only incast8,' 'sim --only' \
  'sim --only incast8 --scenario incast' 'sim --show incast' 'sim --json' 'sim --json missing/file.json' \
  'sim --json '"$work" 'dpdk --repeat 201' 'dpdk --repeat 0' 'dpdk --scenario incast' 'dpdk --only incast8' 'dpdk --list' \
  'dpdk --show incast8-400g' 'dpdk sim'; do
  status=0
  # shellcheck disable=SC2086 # words
  said=$("$weft" bench $words 2>&1 >/dev/null) || status=$?
  if [ "$status" -ne 2 ] || [ -z "$said" ] || [ "$(wc -l <<<"$said")" -ne 1 ]; then
    complain "weft bench $words: $status, $said"
  fi
done
for how in '>/dev/full' '>&-'; do
  status=0
  bash -c "'$weft' bench sim --repeat 1 --scenario two-planes --json - $how" 2>/dev/null || status=$?
  [ "$status" -eq 3 ] || complain "$how: exit $status"
done

# Frames over ring ports. The rows are, in this order: inside the cache with ICRC and without, outside it with and without.
rows='inside:true inside:false outside:true outside:false'
stages='rx parse parse_headers endpoint place build build_headers build_fill tx buffers'

# Row $2 (1..4) of the JSON text $1, one field a line.
row() {
  awk -v wanted="$2" '/"payload": "/ { n++ } n == wanted' <<<"$1"
}

# Stage $2 of loop $3 ("endpoint", "bare") in the row $1.
stage() {
  field "$(sed -n "/\"$3_stages\": {/,/}/p" <<<"$1")" "$2"
}

check_row() { # row, payload, icrc
  local value name
  grep -q "\"payload\": \"$2\"" <<<"$1" || complain "dpdk: no row '$2'"
  grep -q "\"icrc\": $3" <<<"$1" || complain "dpdk, $2: icrc is not $3"
  for name in frames set_bytes ratio endpoint_packets_per_s bare_packets_per_s endpoint_per_packet bare_per_packet \
    answers_per_packet payload_bytes_good frames_sent; do
    value=$(field "$1" $name)
    if [ -z "$value" ] || ! holds "$value > 0"; then
      complain "dpdk, $2, icrc $3: $name is '$value'"
    fi
  done
  [ "$(field "$1" payload_bytes_wrong)" = 0 ] || complain "dpdk, $2, icrc $3: wrong payload"
  [ "$(field "$1" frames_sent)" = "$(field "$1" frames_received)" ] || complain "dpdk, $2, icrc $3: frames were lost"
  for name in $stages; do
    value=$(stage "$1" "$name" endpoint)
    if [ -z "$value" ] || ! holds "$value > 0"; then
      complain "dpdk, $2, icrc $3: stage $name is '$value'"
    fi
  done
  for name in parse_icrc build_icrc; do
    for loop in endpoint bare; do
      value=$(stage "$1" $name $loop)
      holds "(${value:-0} > 0) == ($(if [ "$3" = true ]; then echo 1; else echo 0; fi))" ||
        complain "dpdk, $2, icrc $3: $name of $loop is '$value'"
    done
  done
  for name in parse_headers endpoint; do
    holds "$(stage "$1" $name bare) == 0" || complain "dpdk, $2: the bare loop has a stage $name"
  done
  holds "$(field "$1" answers_per_packet) < 1" || complain "dpdk, $2: more answers than packets"
}

status=0
said=$("$weft" bench dpdk --repeat 3 --json - 2>&1) || status=$?
if [ "$status" -eq 3 ] && grep -q 'built without DPDK' <<<"$said"; then
  [ "$(wc -l <<<"$said")" -eq 1 ] || complain "a build without DPDK says more than one line"
  echo "dpdk: left out, this build has none"
elif [ "$status" -ne 0 ]; then
  complain "weft bench dpdk: exit $status, $said"
else
  number=0
  for what in $rows; do
    number=$((number + 1))
    check_row "$(row "$said" $number)" "${what%:*}" "${what#*:}"
  done
  small_set=$(field "$(row "$said" 1)" set_bytes)
  large_set=$(field "$(row "$said" 3)" set_bytes)
  holds "$large_set > 100 * $small_set" || complain "dpdk: payload sets of $small_set and $large_set bytes"
  for _ in 1 2; do
    ratio=$(field "$(row "$said" 1)" ratio)
    if holds "$ratio >= 0.5"; then
      break
    fi
    said=$("$weft" bench dpdk --repeat 3 --json -) || complain "weft bench dpdk, again"
  done
  ratio=$(field "$(row "$said" 1)" ratio)
  holds "$ratio >= 0.5" || echo "warning: the endpoints' loop reaches $ratio of the bare loop; at least 0.5 is wanted"
  table=$("$weft" bench dpdk --repeat 1)
  for words in 'M packets/s' 'cycles per packet\|ns per packet' rx parse 'check ICRC' endpoint 'place (verify)' build 'fill payload' \
    'make ICRC' tx; do
    [ "$(grep -c "^ *\($words\) .*[0-9]" <<<"$table")" -ge 4 ] || complain "dpdk: the table has no '$words'"
  done
  for number in 1 2 3 4; do
    printf 'dpdk, payload %s the cache, icrc %s: ratio %.2f\n' \
      "$(row "$said" $number | sed -n 's/.*"payload": "\(.*\)",/\1/p')" \
      "$(row "$said" $number | sed -n 's/.*"icrc": \(.*\),/\1/p')" "$(field "$(row "$said" $number)" ratio)"
  done
fi

per_hop=$(field "$large" ns_per_hop_best)
per_hop_small=$(field "$small" ns_per_hop_best)
echo "128 hosts: $per_hop ns per hop; two flows: $per_hop_small ns; ratio $(awk "BEGIN { printf \"%.2f\", $per_hop / $per_hop_small }")"
[ "$failed" -eq 0 ]
