#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The generator for CUDA devices, its own text, compiled by the host's compiler and run on a device made of threads
# (tests/gpu/host). What a device's hardware does is not tested by this; what the generator asks of it is.
set -euo pipefail
cd "$WEFT_SOURCE"
cxx=$(command -v g++ || command -v clang++ || true)
[ -n "$cxx" ] || { echo "no C++ compiler"; exit 77; }
[ -z "${WEFT_SANITIZE:-}" ] || { echo "a test without sanitizers has run it"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
read -ra cc <<<"${WEFT_CC:-gcc}"
flags=(-O1 -g -Wall -Wextra -Wno-unused-parameter -D_GNU_SOURCE -I include -I include/installed)
objects=()
for source in lib/core/refusal.c lib/engine/stop.c lib/gpu/{data_host,lateness,link,link_check,link_file,link_guard,link_state,probe,record,replay,watch}.c tests/gpu/host/test.c; do
  object=$folder/$(basename "$source").o
  "${cc[@]}" -std=gnu2x "${flags[@]}" -c "$source" -o "$object"
  objects+=("$object")
done
"$cxx" -std=c++17 "${flags[@]}" -Wno-missing-field-initializers -I tests/gpu/host -c tests/gpu/host/generator.cpp -o "$folder/generator.o"
"$cxx" "$folder/generator.o" "${objects[@]}" -o "$folder/test" -lcmocka -lpthread
# Threads without a core make clocks differ by more than was measured before: what is wrong of times alone must be so each time.
for _ in 1 2 3; do
  timeout 150 "$folder/test" 2>&1 | tee "$folder/said" && exit 0
  grep -F '[  ERROR   ]' "$folder/said" | grep -qvF error_ns && exit 1
  grep -qF error_ns "$folder/said" || exit 1
done
exit 1
