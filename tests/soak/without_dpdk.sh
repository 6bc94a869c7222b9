#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A build on a system without DPDK: builds, passes its tests, and says what it lacks. DPDK is hidden behind a folder of
# links to all other .pc files, which is where pkg-config is told to look.
set -euo pipefail
build=$WEFT_SOURCE/build-without-dpdk # in the tree: programs find the shipped scenarios from there
room=$(mktemp -d)
trap 'rm -rf "$room" "$build"' EXIT
mkdir "$room/pc"
IFS=: read -ra folders <<<"$(pkg-config --variable pc_path pkg-config)"
for folder in "${folders[@]}"; do
  find "$folder" -maxdepth 1 -name '*.pc' ! -name 'libdpdk*' -exec ln -sf -t "$room/pc" {} + 2>/dev/null || true
done
export PKG_CONFIG_LIBDIR=$room/pc PKG_CONFIG_PATH=
if pkg-config --exists libdpdk; then
  echo "not ok: DPDK is not hidden"
  exit 1
fi

rm -rf "$build"
meson setup "$build" "$WEFT_SOURCE" --buildtype=release >"$room/log" || { tail -n 40 "$room/log"; exit 1; }
grep -q 'DPDK (frames through ports).*missing' "$room/log" || { echo "not ok: the summary does not say it"; exit 1; }
ninja -C "$build" >"$room/log" || { tail -n 40 "$room/log"; exit 1; }
if ldd "$build/apps/weft-emu" | grep -q librte_; then
  echo "not ok: weft-emu is linked with DPDK"
  exit 1
fi

status=0
said=$("$build/apps/weft" emu two-racks --ports ring 2>&1) || status=$?
if [ "$status" != 3 ] || [[ $said != "weft emu: this weft was built without DPDK; --ports memory carries the same frames" ]]; then
  printf 'not ok: exit %s: %s\n' "$status" "$said"
  exit 1
fi
meson test -C "$build" --no-rebuild --print-errorlogs --suite unit --suite drive --suite golden \
  --suite interop
