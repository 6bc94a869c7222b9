#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The linker as witness that a room is pure: what it takes from outside weft must stand in pure_symbols.txt, and it has no
# global that can change. Arguments: the list, then the rooms' archives (libweft_<room>.a).
set -euo pipefail
list=$1
shift
[ $# -gt 0 ] || { echo "no archives" >&2; exit 1; }

# sysv rows of `nm`, as: room/file.c symbol class section. meson names an archive's member
# <room>_<file>.c.o, with its folder where the archive is thin.
rows() {
  local archive room
  for archive in "$@"; do
    room=${archive##*/libweft_}
    nm -A -f sysv "$archive" | awk -F'|' -v room="${room%.a}" '
      NF >= 7 {
        split($1, where, ":")
        gsub(/ /, "", where[3]); gsub(/ /, "", $3); gsub(/[ \t]/, "", $7)
        sub(/\.o$/, "", where[2]); sub(/.*\//, "", where[2])
        if (index(where[2], room "_") == 1) where[2] = substr(where[2], length(room) + 2)
        print room "/" where[2], where[3], $3, $7
      }'
  done
}

mapfile -t allowed < <(grep -v '^#' "$list")
all=$(rows "$@")
ours=" $(awk '$3 ~ /^[TDRBVWGS]$/ { printf "%s ", $2 }' <<<"$all")"

# Whether symbol $2 of object $1 stands in the list.
is_allowed() {
  local line pattern
  for line in "${allowed[@]}"; do
    # shellcheck disable=SC2053 # a pattern
    [[ $1 == ${line%%:*} ]] || continue
    for pattern in ${line#*:}; do
      # shellcheck disable=SC2053
      [[ $2 == $pattern ]] && return 0
    done
  done
  return 1
}

wrong=0 seen=0
set -f
while read -r object symbol class section; do
  seen=$((seen + 1))
  if [ "$class" = U ] || [ "$class" = w ]; then
    case "$ours" in *" $symbol "*) continue ;; esac
    if ! is_allowed "$object" "$symbol"; then
      echo "$object: a pure room may not use $symbol"
      wrong=$((wrong + 1))
    fi
  else
    case "$section" in
    .data.rel.ro*) ;;
    .data* | .bss* | .tdata* | .tbss* | \*COM\*)
      echo "$object: $symbol is a global that can change"
      wrong=$((wrong + 1))
      ;;
    esac
  fi
done <<<"$all"
echo "$# archives, $seen symbols, $wrong wrong"
[ "$seen" -gt 0 ] && [ "$wrong" -eq 0 ]
