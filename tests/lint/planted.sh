#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016 # backquotes of Markdown
# The negative control of each lint: a small tree that is right passes, and with one fault planted the same lint fails and
# names it. Argument: the lint.
set -euo pipefail
lint=$1
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
spdx='// SPDX-License-Identifier: Apache-2.0'

# The tree that is right.
mkdir -p "$tree/include/weft/core" "$tree/include/installed/weft/cc" "$tree/lib/core" "$tree/lib/cc" "$tree/lib/engine"
cp "$root/.clang-format" "$tree"
printf '%s\n#pragma once\n\n#include <stdint.h>\n\ntypedef int64_t ps_t;\n' "$spdx" >"$tree/include/weft/core/time.h"
printf '%s\n#pragma once\n\n#include <weft/core/time.h>\n\nps_t cc_pick(ps_t now);\n' "$spdx" >"$tree/include/installed/weft/cc/cc.h"
printf '%s\n#include <weft/cc/cc.h>\n\nps_t cc_pick(ps_t now)\n{\n\treturn now + 1;\n}\n' "$spdx" >"$tree/lib/cc/pick.c"
printf 'Read [pick](lib/cc/pick.c) and `lib/cc/pick.c`.\n' >"$tree/README.md"
printf '#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\nset -e\necho\n' >"$tree/run"
if [ "$lint" = circles ]; then
  printf '%s\n#include <weft/cc/cc.h>\n\nps_t cc_round(ps_t now)\n{\n\treturn cc_pick(now);\n}\n' "$spdx" >"$tree/lib/cc/round.c"
  printf '# none\n' >"$tree/circles.txt"
fi
if [ "$lint" = walks ] || [ "$lint" = glossary ]; then
  mkdir -p "$tree/docs" "$tree/apps/pick"
  printf '| file | function | what happens |\n|---|---|---|\n| `lib/cc/pick.c` | `cc_pick` | picks |\n' >"$tree/docs/architecture.md"
  printf '| term | meaning |\n|---|---|\n| EV | entropy value |\n' >"$tree/docs/glossary.md"
  printf 'NAME\n    pick - counts EVs of FILE\n\nOPTIONS\n    --out FILE\n        Into FILE.\n' >"$tree/apps/pick/help.txt"
fi
if [ "$lint" = layers ]; then
  mkdir -p "$tree/docs"
  printf 'core | pure | | nouns\ncc | pure | core | windows\nfabric | pure | core | switches\nengine | impure | core | clocks\n' >"$tree/lib/rooms.txt"
  printf '| room | is |\n|---|---|\n' >"$tree/docs/architecture.md"
  "$here/layers.py" "$tree" --write >/dev/null
fi
if [ "$lint" = banned ]; then
  mkdir -p "$tree/tests/lint"
  printf 'lib/cc/\tdraft\treader\n' >"$tree/tests/lint/words.tsv"
fi
if [ "$lint" = figures ]; then
  mkdir -p "$tree/docs" "$tree/lib/result"
  printf '| `run.end_ps` | time or null | when it ended |\n' >"$tree/docs/result.md"
  printf 'FIGURE("run", "end_ps", PS, TRAFFIC, end(it), "when it ended")\n' >"$tree/lib/result/figures.def"
fi

# Compiles lib/cc/pick.c into the archive that purity.sh reads.
archive() {
  gcc -O1 -c -I"$tree/include" -I"$tree/include/installed" -o "$tree/lib/cc_pick.c.o" "$tree/lib/cc/pick.c"
  rm -f "$tree/libweft_cc.a"
  ar crT "$tree/libweft_cc.a" "$tree/lib/cc_pick.c.o" # thin, as meson makes them
}

# Compiles the files of lib/cc as the room's objects, which circles.py reads.
objects() {
  local object made=() file
  mkdir -p "$tree/build/lib/libweft_cc.a.p"
  for file in "$tree"/lib/cc/*.c; do
    object=lib/libweft_cc.a.p/cc_$(basename "$file").o
    gcc -O1 -c -I"$tree/include" -I"$tree/include/installed" -o "$tree/build/$object" "$file"
    made+=("{\"output\": \"$object\"}")
  done
  (IFS=, && printf '[%s]\n' "${made[*]}") >"$tree/build/compile_commands.json"
}

run_lint() {
  case "$lint" in
  circles) objects && "$here/circles.py" "$tree/build" "$tree/circles.txt" ;;
  purity) archive && "$here/purity.sh" "$here/pure_symbols.txt" "$tree/libweft_cc.a" ;;
  layers | sizes | draws | banned | links | walks | prose | glossary) "$here/$lint.py" "$tree" ;;
  *) "$here/$lint.sh" "$tree" ;;
  esac
}

# Plants a fault by adding $3 to file $2 of the tree: the lint must fail then and print $1. In $3, \\n ends a line.
finds() {
  local expected=$1 file=$tree/$2 status=0 output
  mkdir -p "${file%/*}"
  [ -e "$file" ] && cp -p "$file" "$tree.kept"
  printf '%b' "$3" >>"$file"
  output=$(run_lint 2>&1) || status=$?
  if [ "$status" -ne 1 ] || ! grep -qF -- "$expected" <<<"$output"; then
    printf 'planted in %s, expected "%s", got exit %d:\n%s\n' "$2" "$expected" "$status" "$output"
    exit 1
  fi
  printf 'found: %s\n' "$expected"
  rm "$file"
  if [ -e "$tree.kept" ]; then mv "$tree.kept" "$file"; fi
}

# A tool that is not here skips its lint, and its control.
run_lint || exit $?

long=$(for ((i = 0; i < 70; i++)); do printf '\\tnow++;\\n'; done)
case "$lint" in
layers)
  finds 'weft/cc/cc.h: core may use only: nothing' lib/core/x.c '#include <weft/cc/cc.h>\n'
  mkdir -p "$tree/include/weft/fabric"
  printf '%s\n#pragma once\n' "$spdx" >"$tree/include/weft/fabric/fabric.h"
  finds 'weft/fabric/fabric.h: cc may use only: core' lib/cc/pick.c '#include <weft/fabric/fabric.h>\n'
  finds 'weft/cc/cc.h: engine may use only' lib/engine/x.c '#include <weft/cc/cc.h>\n'
  finds 'time.h: cc is pure' lib/cc/pick.c '#include <time.h>\n'
  finds 'stays in its own room' lib/cc/pick.c '#include "../core/x.h"\n'
  finds 'no such file in this room' lib/cc/pick.c '#include "x.h"\n'
  finds 'no room has this header' lib/cc/pick.c '#include <weft/tools.h>\n'
  finds 'not in the table' lib/tools/x.c '#include <stdint.h>\n'
  finds 'the table of rooms is not lib/rooms.txt' docs/architecture.md '| room | is |\n|---|---|\n| core | clocks |\n'
  ;;
purity)
  finds 'cc/pick.c: a pure room may not use clock_gettime' lib/cc/pick.c \
    '#include <time.h>\nlong now(void);\nlong now(void)\n{\n\tstruct timespec t;\n\treturn clock_gettime(0, &t);\n}\n'
  finds 'cc/pick.c: a pure room may not use malloc' lib/cc/pick.c \
    'void *malloc(unsigned long);\nvoid *more(void);\nvoid *more(void)\n{\n\treturn malloc(9);\n}\n'
  finds 'cc/pick.c: calls is a global that can change' lib/cc/pick.c \
    'static int calls;\nint count(void);\nint count(void)\n{\n\treturn ++calls;\n}\n'
  ;;
circles)
  finds 'lib/cc: 2 files in circles, 0 allowed: pick round' lib/cc/pick.c \
    'ps_t cc_round(ps_t now);\nps_t cc_again(ps_t now);\nps_t cc_again(ps_t now)\n{\n\treturn cc_round(now);\n}\n'
  finds 'lib/cc: pick need not be called a table' circles.txt 'lib/cc table pick\n'
  finds 'lib/cc: no file pack, which is called a table' circles.txt 'lib/cc table pack\n'
  finds 'lib/cd: no such room or program' circles.txt 'lib/cd 2\n'
  ;;
headers)
  finds 'include/installed/weft/cc/cc.h: does not compile alone with gcc' include/installed/weft/cc/cc.h 'uint8_x cc_missing(void);\n'
  finds 'include/installed/weft/cc/cc.h: does not compile alone with g++' include/installed/weft/cc/cc.h 'int cc_old(int class);\n'
  ;;
format) finds 'pick.c' lib/cc/pick.c 'int  f(void) { return 1; }\n' ;;
spdx)
  finds 'lib/cc/bare.c: line 1 or 2' lib/cc/bare.c 'int x;\n'
  finds 'bare: line 1 or 2' bare '#!/bin/sh\necho\n'
  ;;
sizes)
  finds 'a function of 72 lines' lib/cc/long.c "void f(int now)\n{\n$long}\n"
  finds 'lib/cc/long.c: 801 lines' lib/cc/long.c "$(printf '//\\n%.0s' {1..801})"
  finds 'lib/cc/pick.h: a private header of 3 lines with 0 users' lib/cc/pick.h "$spdx\n#pragma once\nint pick;\n"
  for ((i = 0; i < 39; i++)); do printf '%s\n' "$spdx" >"$tree/lib/cc/many$i.c"; done
  finds 'lib/cc: 41 sources, at most 40' lib/cc/one_more.c 'int x;\n'
  finds 'include/installed/weft/cc/cc.h: 306 lines' include/installed/weft/cc/cc.h "$(printf '//\\n%.0s' {1..300})"
  ;;
banned)
  finds 'lib/cc/x.c:2: draft_pick: the word is reader, not draft' lib/cc/x.c '\nint draft_pick(void);\n'
  ;;
draws)
  finds 'lib/cc/x.c:3: two draws' lib/cc/x.c 'int f(struct rng *rng)\n{\n\treturn g(pick(rng, 1), pick(rng, 2));\n}\n'
  finds 'lib/cc/x.c:2: two draws' lib/cc/x.c 'struct x x = {.a = rng_below(&rig->rng, 2),\n\t.b = rng_next(&rig->rng)};\n'
  finds 'lib/cc/x.c:3: two draws' lib/cc/x.c 'void f(struct rng *rng)\n{\n\tat[rng_below(rng, 4)] ^= 1 << rng_below(rng, 8);\n}\n'
  ;;
words)
  finds 'a name that says nothing' lib/cc/path_utils.c 'int x;\n'
  finds 'unfinished marks' lib/cc/pick.c '// TO''DO: more\n'
  finds 'paths of one machine' lib/cc/pick.c '// see /ho''me/somebody/notes\n'
  ;;
links)
  finds 'docs/x.md:1: ../lib/cc/pack.c is not there' docs/x.md 'See [this](../lib/cc/pack.c).\n'
  finds 'docs/x.md:1: lib/cc/pack.c is not there' docs/x.md 'See `lib/cc/pack.c`.\n'
  finds 'docs/x.md:3: x.md has no heading #two' docs/x.md '# One\n\n[one](x.md#one), [two](x.md#two)\n'
  finds 'docs/x.md: no README.md lists it' docs/x.md '# One\n'
  finds 'lib/cc/x.c:1: pack.h is not there' lib/cc/x.c '// See pack.h, pick.c and errno.h.\n'
  ;;
walks)
  finds 'docs/architecture.md:4: lib/cc/pick.c does not define cc_pack()' docs/architecture.md '| `lib/cc/pick.c` | `cc_pack` | packs |\n'
  finds 'docs/architecture.md:4: lib/cc/pack.c does not define cc_pick()' docs/architecture.md '| `lib/cc/pack.c` | `cc_pick` | picks |\n'
  finds 'docs/x.md: lib/cc/pack.c has no cc_pick' docs/x.md 'It is `cc_pack` and `cc_pick` in `lib/cc/pack.c`.\n'
  ;;
prose)
  wide=$(printf 'a word %.0s' {1..18})
  finds 'docs/x.md:3: 126 columns' docs/x.md "# Page\\n\\n$wide\\n"
  finds 'docs/x.md:2: 128 columns' docs/x.md "* one\\n  $wide\\n"
  tables="| $wide |\\n\\n    $wide\\n\\n\`\`\`\\n$wide\\n\`\`\`\\n"
  finds 'docs/x.md:9: 126 columns' docs/x.md "$tables\\n$wide\\n"
  ;;
glossary)
  finds 'apps/pick/help.txt: PSN is not in docs/glossary.md' apps/pick/help.txt '        With PSNs and EVs.\n'
  finds 'docs/x.md: QPN is not in docs/glossary.md' docs/x.md '| QPN | EV |\n|---|---|\n'
  ;;
figures)
  finds 'has not the row of figures.def: | `run.hops` | integer | over all |' lib/result/figures.def 'FIGURE("run", "hops", COUNT, ALWAYS, it->hops, "over all")\n'
  finds 'has not the row of figures.def: | `run.end_ps` | time | its end |' lib/result/figures.def 'FIGURE("run", "end_ps", PS, ALWAYS, end(it), "its end")\n'
  ;;
scripts) finds 'SC2086' run "rm \$1\n" ;;
*) echo "no control for $lint" && exit 1 ;;
esac
