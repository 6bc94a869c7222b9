#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 64-bit Arm, under qemu-user: the cross file builds the tree, the unit tests and those over memory ports pass, and the golden
# table, whose digests were made on x86, comes out the same. Needs Debian's cross compiler, qemu-user, and apt's archive for the
# libraries (22 MB), or a folder that has them: WEFT_AARCH64_SYSROOT.
set -euo pipefail
skip() {
  echo "$1: skipped"
  exit 77
}
for tool in aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ qemu-aarch64 pkg-config; do
  command -v "$tool" >/dev/null || skip "there is no $tool (Debian: gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user)"
done
cd "${WEFT_SOURCE:?}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sysroot=${WEFT_AARCH64_SYSROOT:-$folder/sysroot}

# Libraries for Arm in a folder, from an apt of its own: the packages of this machine stay as they are.
fetch() {
  mkdir -p "$folder"/apt/state/lists/partial "$folder"/apt/cache/archives/partial "$sysroot/usr/lib"
  : >"$folder/apt/state/status"
  local options=(-q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o "Dir::State=$folder/apt/state" -o Debug::NoLocking=1
    -o "Dir::State::status=$folder/apt/state/status" -o "Dir::Cache=$folder/apt/cache" -o APT::Sandbox::User="$(id -un)")
  apt-get "${options[@]}" update
  apt-get "${options[@]}" -y --no-install-recommends -d install libc6-dev libgcc-12-dev libyaml-dev libjansson-dev libssl-dev \
    libisal-dev zlib1g-dev libcmocka-dev
  ln -s usr/lib "$sysroot/lib" # what packages have below /lib lies there, too
  for package in "$folder"/apt/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$sysroot"
  done
}
if [ ! -d "$sysroot" ] && ! fetch >"$folder/log" 2>&1; then
  tail -n 3 "$folder/log"
  skip "no libraries for Arm can be had here"
fi

printf "[constants]\nsysroot = '%s'\n" "$sysroot" >"$folder/sysroot.ini"
build=$folder/build
programs=(weft weft-sim weft-emu)
meson setup "$build" --cross-file "$folder/sysroot.ini" --cross-file cross/aarch64-linux-gnu.ini >"$folder/log" 2>&1 ||
  { tail -n 20 "$folder/log" && exit 1; }
mapfile -t tests < <(ninja -C "$build" -t targets all | sed -n 's#^\(tests/\(unit_[a-z0-9_]*\|drive_all_\(wall\|wall_others\|truth\)\)\): c_LINKER.*#\1#p')
ninja -j2 -C "$build" "${programs[@]/#/apps/}" "${tests[@]}" >"$folder/log" 2>&1 || { tail -n 20 "$folder/log" && exit 1; }

failed=0
for test in "${tests[@]}"; do
  (cd "$folder" && timeout 1800 qemu-aarch64 -L "$sysroot" "$build/$test") >"$folder/log" 2>&1 || {
    echo "$test failed:" && tail -n 20 "$folder/log"
    failed=$((failed + 1))
  }
done
echo "${#tests[@]} tests in C, $failed failed"

# The golden table starts `weft`: here that is this.
mkdir "$folder/bin"
cat >"$folder/bin/weft" <<END
#!/bin/sh
name=\$1
shift
exec qemu-aarch64 -L '$sysroot' '$build'/apps/weft-"\$name" "\$@"
END
chmod +x "$folder/bin/weft"
PYTHONPATH=tests WEFT=$folder/bin/weft python3 tests/golden/program_table.py || failed=$((failed + 1))
[ "$failed" -eq 0 ]
