#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The generator on a CUDA device compiles for every architecture that nvcc knows from sm_75 on.
set -euo pipefail
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [ ! -x "$nvcc" ]; then
  echo "there is no nvcc: skipped"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
count=0
for arch in $("$nvcc" --list-gpu-arch | sed 's/compute_//'); do
  if [ "${arch%[af]}" -lt 75 ]; then
    continue
  fi
  for source in generator measure; do
    "$nvcc" -c -std=c++17 -O2 -I "$WEFT_SOURCE/include" -I "$WEFT_SOURCE/include/installed" "-gencode=arch=compute_$arch,code=sm_$arch" \
      "$WEFT_SOURCE/lib/gpu/$source.cu" -o "$folder/$source.o"
  done
  count=$((count + 1))
  echo "sm_$arch: compiled"
done
echo "$count architectures"
[ "$count" -gt 5 ]
