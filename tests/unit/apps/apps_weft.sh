#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The dispatcher: what it finds, what it says, how it ends.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# $1: a sentence; $2: expected exit status; $3: text expected in what is printed; the rest is run.
expect() {
  local status=0 output
  output=$("${@:4}" 2>&1) || status=$?
  if [ "$status" -eq "$2" ] && grep -qF -- "$3" <<<"$output"; then
    echo "ok: $1"
  else
    printf 'not ok: %s: exit %d, expected %d and "%s":\n%s\n' "$1" "$status" "$2" "$3" "$output"
    failed=$((failed + 1))
  fi
}

# Makes command $2 below folder $1, which says where it is from and ends with 7.
make_command() {
  mkdir -p "$folder/$1"
  printf '#!/bin/sh\necho "%s got $*"\nexit 7\n' "$1" >"$folder/$1/weft-$2"
  chmod +x "$folder/$1/weft-$2"
}

mkdir -p "$folder/bin"
cp "${WEFT:?}" "$folder/bin/weft"
weft=$folder/bin/weft
export PATH="$folder/closed:$folder/path:$PATH"
make_command bin one
make_command libexec/weft one
make_command libexec/weft two
make_command path two
make_command path three
make_command path locked
make_command closed three
make_command closed four
make_command bin locked
printf 'no program' >"$folder/bin/weft-locked"
chmod -x "$folder/bin/weft-locked" "$folder/path/weft-locked"
chmod 000 "$folder/closed" # root sees through it

expect 'the version names the program and a commit' 0 'weft 0.' "$weft" --version
expect 'help lists the sections of its help.txt' 0 'EXIT STATUS' "$weft" --help
expect 'help without a command is the same' 0 'EXIT STATUS' "$weft" help
expect 'no command is bad input' 2 'usage: weft' "$weft"
expect 'an unknown command is named' 2 "'nonsense' is not a command" "$weft" nonsense
expect 'one that was misspelt is named' 2 "'smi' is not a command; did you mean weft sim?" "$weft" smi
expect 'also a longer one' 2 "did you mean weft validate-fabric?" "$weft" validate-fabrci
expect 'an unknown command is answered with the list' 2 'commands:' "$weft" nonsense
expect 'a command that is not there is a command' 3 'there is no program weft-sim' "$weft" sim
expect 'the summaries stand in one column' 2 '    sim              run a scenario' "$weft" nonsense
expect 'also that of the longest name' 2 '    validate-fabric  run the operators' "$weft" nonsense
expect 'a path is no command' 2 "'../bin/weft' is not a command" "$weft" ../bin/weft
expect 'an unknown option is no command' 2 "'--nonsense' is not a command" "$weft" --nonsense
expect 'a command beside it comes first and keeps its exit status' 7 'bin got a b' "$weft" one a b
expect 'then libexec' 7 'libexec/weft got x' "$weft" two x
if [ "$(id -u)" -ne 0 ]; then
  expect 'a closed folder of PATH is passed over' 7 'path got' "$weft" three
  expect 'and is no reason' 2 'is not a command' "$weft" four
fi
chmod 755 "$folder/closed"
rm -rf "$folder/closed"
expect 'then PATH' 7 'path got' "$weft" three
expect 'help of a command asks the command' 7 'libexec/weft got --help' "$weft" help two
expect 'a command that may not be run is an error of the environment' 3 'weft-locked' "$weft" locked
expect 'text that cannot be written is an error' 3 'cannot write' bash -c "'$weft' --help >/dev/full"
[ "$failed" -eq 0 ]
