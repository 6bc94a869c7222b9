#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The shipped scenarios over five seeds, with gcc (-O3, -O2) and with clang, optimised and not: one digest for each scenario and
# seed, and another for another seed; and the swarm's random worlds, whose digests it knows. WEFT_SOAK_SEEDS: how many seeds (5).
set -euo pipefail
seeds=${WEFT_SOAK_SEEDS:-5}
# What makes the large ones small enough for a build without optimisation.
declare -A shorter=(
  [azure-gb200-llama405b]='skip'
  [trace-default]='skip' # needs a trace
  [trace-nodes]='skip'   # the same
  [clos-131072]='skip'   # needs gigabytes
  [jobs-two-models]='skip' # its variants are seeds
  [link-down]='--set traffic.bytes=4MiB'
  [loss]='--set traffic.bytes=4MiB'
)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "${WEFT_SOURCE:?}"
for build in gcc-release gcc-debugoptimized gcc-debug clang-release clang-debug; do
  command -v "${build%-*}" >/dev/null || { echo "$build: no such compiler, left out"; continue; }
  if ! { CC=${build%-*} meson setup "$folder/$build" --buildtype="${build#*-}" &&
    ninja -j2 -C "$folder/$build" apps/weft apps/weft-sim tests/swarm_all_swarm; } >"$folder/log" 2>&1; then
    tail -n 20 "$folder/log"
    exit 1
  fi
done

# The digest of scenario $2 with seed $3 by the program in $1.
digest() {
  local more=()
  read -ra more <<<"${shorter[$2]:-}"
  "$1/apps/weft" sim "apps/scenarios/$2.yaml" --seed "$3" "${more[@]}" --json | sed -n 's/^ *"digest": "\([0-9a-f]*\)",$/\1/p'
}

failed=0 runs=0
for build in "$folder"/*/; do
  "$build/tests/swarm_all_swarm" >"$folder/log" 2>&1 && continue
  failed=$((failed + 1))
  printf 'not ok: %s: random worlds\n' "$(basename "$build")"
  tail -n 8 "$folder/log"
done
for path in apps/scenarios/*.yaml; do
  name=$(basename "$path" .yaml)
  [ "${shorter[$name]:-}" != skip ] || continue
  all=''
  for seed in $(seq "$seeds"); do
    found=$(for build in "$folder"/*/; do digest "$build" "$name" "$seed"; done | sort -u)
    runs=$((runs + 1))
    if ! [[ $found =~ ^[0-9a-f]{16}$ ]]; then
      failed=$((failed + 1))
      printf 'not ok: %s, seed %s has these digests:\n%s\n' "$name" "$seed" "$found"
    fi
    all+="$found"$'\n'
  done
  printf '%s: %s different runs of %s\n' "$name" "$(printf '%s' "$all" | sort -u | wc -l)" "$seeds"
done
[ "$runs" -gt 0 ] && [ "$failed" -eq 0 ]
