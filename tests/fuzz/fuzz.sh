#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The fuzz targets with clang's libFuzzer, address and undefined behaviour sanitisers, whatever compiler the project is
# built with. Arguments: the targets to run; without, all of them. The corpus is kept in the build folder, so that each run
# goes on from the last. WEFT_FUZZ_S: seconds for each target (10 for frames and 20 for captures, which come from outside, 3 for the others). An
# input that is found is left in the build folder; to run it again: the target with its path.
set -euo pipefail
command -v clang >/dev/null || { echo "clang is not here: skipped"; exit 77; }
cd "${WEFT_SOURCE:?}"
folder=$(dirname "$(dirname "${WEFT:?}")")/fuzz
mkdir -p "$folder"
flags=(-std=gnu2x -D_GNU_SOURCE -DWITH_LIBFUZZER -O1 -g -ffp-contract=off "-fsanitize=fuzzer,address,undefined"
  -fno-sanitize-recover=all -Iinclude -Iinclude/installed)
echo 'int LLVMFuzzerTestOneInput(const unsigned char *at, unsigned long n) { (void)at; return (int)(n & 0); }' >"$folder/probe.c"
clang -fsanitize=fuzzer,address,undefined "$folder/probe.c" -o "$folder/probe" 2>/dev/null ||
  { echo "clang has no libFuzzer here: skipped"; exit 77; }

# The inputs that target $1 begins with, into folder $2.
first_inputs() {
  case $1 in
  scenario) cp apps/scenarios/*.yaml tests/golden/broken/*.yaml "$2" ;;
  trace) cp tests/fuzz/trace.txt "$2" ;;
  plan) printf 'tp-cp-ep-pp-dp\nlayers=4\nhidden=64\nheads=4\nkv_heads=2\nhead_dim=16\nvocab=100\nffn=256\nsequence=128\npp=2\n' >"$2/plan" ;;
  goal) printf 'num_ranks 2\nrank 0 {\na: calc 9 cpu 1\nb: send 8b to 1 tag 2\nb requires a\n}\nrank 1 {\nc: recv 8b from 0 tag 2\nd: calc 1\nd irequires c\n}\n' >"$2/goal" ;;
  jitter) printf '1\n1.01 # slow\n# of a log\n0.99\n' >"$2/jitter" ;;
  mllog) cp tests/fuzz/mllog.txt "$2" ;;
  step) printf '{"step": {"step_ps": 3120000000000}}' >"$2/step" ;;
  measured) printf '{"collectives": [{"kind": "all_gather", "bytes": 4096, "ranks": 256, "stands_for": 8, "time_ps": 900000000}]}' >"$2/one" ;;
  result) results_first "$2" ;;
  manifest) cp "$folder/book/manifest.json" "$2" ;;
  hdr) cp "$folder"/book/cases/one-packet/run/*.hdr "$2" ;;
  profile) cp apps/profiles/*.yaml "$2" ;;
  traces) traces_first "$2" ;;
  imports) imports_first "$2" ;;
  sample)
    printf 'groups=2,steps=8,buckets=1,fill=4' >"$2/all"
    printf 'packets=40M' >"$2/packets"
    ;;
  frames) ;; # it writes its own, see below
  capture) captures_first "$2" ;;
  calls) printf 'pa0p00b0B0b0B0w1abW0hz0b0iI' >"$2/calls" ;;
  records) cp tests/gpu/azure-rank-0.txt "$2" && records_first "$2" ;;
  peers) printf '%0300d' 0 >"$2/sound" && printf '2111000000\205\1\2\3\206\4\5\6\207\7\10\11\210\12\13' >"$2/odd" ;;
  esac
}

# A record of one step.
records_first() {
  printf 'weft-record 2\nrank 0 ranks 2 buckets 1 steps 1 parts 5 slice_bytes 64 element_bytes 2 seed 1\n' >"$1/record"
  printf 'gate 0 0 0 7 0\nfill 0 0 0 7 0\nreduce 0 0 0 0 9\nupdate 0 0 0 5 5\ngate 1 0 0 0 4\n' >>"$1/record"
}

# A run, a partial one, a study, a book; its folder stays for others.
results_first() {
  "$WEFT" sim two-racks --json >"$1/run"
  "$WEFT" sim two-planes --json --set limits.time=20us >"$1/partial" 2>/dev/null || [ $? -eq 5 ]
  "$WEFT" sim two-planes --seeds 2 --sweep queue.bytes=64KiB,128KiB --json >"$1/study"
  rm -rf "$folder/book"
  "$WEFT" validate-fabric two-planes --quick --only one-packet --out "$folder/book" >"$folder/book.log"
  cp "$folder/book/book.json" "$1/book"
}

# A trace of each format, small.
traces_first() {
  printf '\7\n\0050.0.4\047\10\1\22\1x\30\7R\r\n\tcomm_typeH\1R\r\n\tcomm_sizeHd' >"$1/chakra"
  printf '{"workload_graph": [{"Id": 1, "NodeType": 4, "runtime": 7}, {"Id": 2, "NodeType": 7, "data_deps": [1], "comm_type": 0, "comm_size": 64}]}' >"$1/json"
  printf '{"nodes": [{"id": 2, "name": "record_param_comms", "ctrl_deps": 1, "attrs": [{"name": "collective_name", "value": "allreduce"}, {"name": "dtype", "value": "Float"}, {"name": "in_msg_nelems", "value": 9}, {"name": "pg_size", "value": 2}]}]}' >"$1/pytorch"
  printf '{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "ncclK", "ts": 1.5, "dur": 2, "args": {"Collective name": "broadcast", "Group size": 2, "dtype": "Int", "In msg nelems": 4, "Process Group Ranks": "[0, 1]"}}]}' >"$1/kineto"
  printf '[rank0 ~ rank3]\ncomm_type,comm_group,comm_group_size,msg_size\nCommType.all_reduce,CommGroup.tp_group,2,64\n' >"$1/csv"
  gzip -c "$1/csv" >"$1/csv.gz"
}

# A matrix with all kinds of triggers, and a topology.
imports_first() {
  printf 'Nodes 8\nConnections 5\nTriggers 3\n0->1 id 1 start 0 size 9 send_done_trigger 1\n1->2 id 2 trigger 1 size 7 recv_done_trigger 2 send_done_trigger 2\n3->4 id 3 trigger 2 size 1 send_done_trigger 3\n5->6 trigger 3 size 9\n0->3 start 1 size 9\ntrigger id 1 oneshot\ntrigger id 2 barrier count 2\ntrigger id 3 multishot\n' >"$1/cm"
  printf 'Nodes 16\nTiers 2\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 4\nRadix_Up 2\nDownlink_Latency_ns 500\nOversubscribed 2\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 500\n' >"$1/topo"
}

# The beginning of each capture, and one packed, behind the byte that chooses (see all_capture.c).
captures_first() {
  local file
  { printf '<' && gzip -c pcaps/trim-last-hop.pcapng; } >"$1/packed"
  for file in pcaps/*.pcapng "${WEFT_SHARED:-../shared}"/data/captures/given/{roce,robust,other}/*.pcap*; do
    [ ! -e "$file" ] || { printf '<' && head -c 32000 "$file"; } >"$1/${file##*/}"
  done
}

# Where the source of target $1 is.
source_of() {
  case $1 in
  hdr) echo tests/fuzz/result_hdr.c ;;
  frames) echo tests/fuzz/wire_frames.c ;;
  calls) echo tests/fuzz/adapter_calls.c ;;
  records | peers) echo "tests/fuzz/gpu_$1.c" ;;
  *) echo "tests/fuzz/all_$1.c" ;;
  esac
}

targets=(scenario trace sample result manifest hdr profile)
wire=() libraries=(-lyaml -ljansson -lm)
if echo '#include <isa-l/crc.h>' | clang -fsyntax-only -x c - 2>/dev/null; then
  targets+=(frames calls capture)
  wire=(lib/wire/*.c lib/adapter/*.c lib/capture/*.c lib/flow/*.c)
  libraries+=(-lisal)
else
  echo "ISA-L is not here: no frames, no captures, no calls of adapters"
fi
targets+=(goal imports jitter measured mllog plan records peers step)
traces=()
if command -v protoc-c >/dev/null && pkg-config --exists libprotobuf-c zlib; then
  targets+=(traces)
  protoc-c --proto_path=lib/trace --c_out="$folder" lib/trace/chakra.proto
  flags+=("-I$folder")
  mapfile -t traces < <(find lib/trace -name '*.c' ! -name '*_none.c')
  traces+=("$folder/chakra.pb-c.c")
  libraries+=(-lprotobuf-c -lz)
else
  echo "protobuf-c or zlib is not here: no traces"
fi

[ $# -eq 0 ] || targets=("$@")

# How long target $1 runs.
seconds_of() {
  case $1 in
  frames) echo "${WEFT_FUZZ_S:-10}" ;;
  capture) echo "${WEFT_FUZZ_S:-20}" ;;
  *) echo "${WEFT_FUZZ_S:-3}" ;;
  esac
}

# What all targets are made of is compiled once, one object a file: a/b.c is a_b.o.
objects=$folder/objects
rm -rf "$objects"
mkdir -p "$objects"
compile() {
  local source name
  for source; do
    name=${source//\//_}
    clang "${flags[@]}" "-I$(cut -d/ -f1,2 <<<"$source")" -c "$source" -o "$objects/${name%.c}.o"
  done
}
mapfile -t sources < <(find lib/{core,measure,cc,transport,fabric,workload,scenario,host,world} -name '*.c')
sources+=(
  lib/gpu/{data_host,generator_host,lateness,link,link_check,link_file,link_guard,link_state,record,replay,watch}.c
  lib/engine/stop.c "${wire[@]}" "${traces[@]}")
# Readers of results and logs, whose schemas are made from docs.
python3 lib/result/schemas.py . "$folder"
mapfile -t readers < <(find lib/{result,diagnose,verdict,study,page} -name '*.c')
sources+=("${readers[@]}" "$folder/schema_texts.c")
libraries+=(-lcrypto)
half=$((${#sources[@]} / 2))
compile "${sources[@]:0:half}" &
first_half=$!
compile "${sources[@]:half}"
wait "$first_half"

failed=0
for target in "${targets[@]}"; do
  seconds=$(seconds_of "$target")
  mkdir -p "$folder/$target"
  first_inputs "$target" "$folder/$target"
  clang "${flags[@]}" "$(source_of "$target")" "$objects"/*.o "${libraries[@]}" -o "$folder/fuzz_$target"
  if WEFT_FUZZ_FIRST="$folder/$target" "$folder/fuzz_$target" -max_total_time="$seconds" -max_len=65536 -timeout=10 \
    -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$folder/$target-" "$folder/$target" >"$folder/$target.log" 2>&1; then
    printf '%s: %s executions in %s s\n' "$target" \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/$target.log")" "$seconds"
  else
    failed=$((failed + 1))
    printf 'not ok: %s:\n' "$target"
    tail -n 60 "$folder/$target.log"
  fi
done
[ "$failed" -eq 0 ]
