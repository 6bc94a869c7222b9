#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Optimised builds guard themselves: programs are position independent, their tables of addresses are read-only before main()
# begins, and what they are made of has the stack protector and the checked calls of _FORTIFY_SOURCE.
set -euo pipefail
folder=$(dirname "$WEFT")
if [ -n "$WEFT_SANITIZE" ] || [ "$WEFT_OPTIMIZATION" = 0 ] || ! command -v readelf >/dev/null; then
  echo "a build with sanitizers or without optimisation has no guards, or there is no readelf: skipped"
  exit 77
fi
wrong=0
# $1: the program, $2: what it should have, $3...: a command that says whether it has
holds() {
  local program=$1 what=$2
  shift 2
  if ! "$@"; then
    echo "$program has no $what"
    wrong=$((wrong + 1))
  fi
}
has() { # $1: readelf's option, $2: the program, $3: a pattern
  readelf -W "$1" "$2" | grep -E "$3" >/dev/null
}
count=0
for program in "$folder"/weft "$folder"/weft-*; do
  if [ ! -f "$program" ] || [ ! -x "$program" ]; then continue; fi
  [ "$(head -c 4 "$program" | tail -c 3)" = ELF ] || continue
  count=$((count + 1))
  holds "$program" "position independence" has -h "$program" 'Type: +DYN'
  holds "$program" "RELRO" has -l "$program" 'GNU_RELRO'
  holds "$program" "BIND_NOW" has -d "$program" 'BIND_NOW|NOW'
  holds "$program" "stack that cannot be run" has -l "$program" 'GNU_STACK.* RW '
  holds "$program" "stack protector" has --dyn-syms "$program" '__stack_chk_fail'
  holds "$program" "checked calls" has --dyn-syms "$program" '__[a-z]+_chk(@|$)'
done
echo "$count programs, $wrong guards missing"
[ "$count" -gt 10 ] && [ "$wrong" -eq 0 ]
