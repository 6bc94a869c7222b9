#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What programs of their own get: installed into an empty root, the example of docs/howto must compile with nothing but
# pkg-config's flags, run, and carry its 10 MB. The build's own compiler and sanitisers are used, as the archive needs them.
set -euo pipefail
build=$(cd "$(dirname "$WEFT")/.." && pwd)
example=$WEFT_SOURCE/docs/howto/two-endpoints.c
command -v pkg-config >/dev/null || { echo "pkg-config is not here: skipped"; exit 77; }
command -v meson >/dev/null || { echo "meson is not here: skipped"; exit 77; }

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
meson install -C "$build" --no-rebuild --quiet --tags devel --destdir "$root" >"$root/log" || { cat "$root/log"; exit 1; }
pc=$(find "$root" -name weft.pc)
[ -n "$pc" ] || { echo "no weft.pc was installed"; exit 1; }
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$root

cd "$root"
read -ra flags < <(pkg-config --cflags --libs weft)
read -ra extra <<<"${WEFT_SANITIZE:+-fsanitize=$WEFT_SANITIZE}"
read -ra compiler <<<"${WEFT_CC:-cc}"
echo "${compiler[*]} two-endpoints.c ${flags[*]} ${extra[*]}"
[[ "${flags[*]}" == *"$root"* ]] || { echo "these flags do not point into the installation"; exit 1; }
"${compiler[@]}" -Wall -Wextra -Werror "$example" "${flags[@]}" "${extra[@]}" -o two-endpoints
./two-endpoints | tee out
grep -q '10 of 10, in order; bytes all the same' out

# The headers are whole: each of them compiles alone from the installation, in C and, where there is a compiler, in C++.
read -ra cflags < <(pkg-config --cflags weft)
for header in "${pc%/lib*}"/include/weft/*/*.h; do
  name=${header##*/weft/}
  echo "#include <weft/$name>" | "${compiler[@]}" -Wall -Wextra -Werror -Wno-unused-parameter -fsyntax-only -x c "${cflags[@]}" -
  if command -v c++ >/dev/null; then
    echo "#include <weft/$name>" | c++ -Wall -Wextra -Werror -Wno-unused-parameter -fsyntax-only -x c++ "${cflags[@]}" -
  fi
done

# The documentation shows what comes out, to the last digit: the program has one seed and no clock.
diff <(sed -n '/^    time  /,/^    messages  /s/^    //p' "$WEFT_SOURCE/docs/howto/use-the-endpoint.md") out ||
  { echo "docs/howto/use-the-endpoint.md shows another output"; exit 1; }
