#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each shipped system runs as its scenario says, in two minutes of CPU time at most. Prints what it took. Of two the shipped sample
# says too little, and the program says so. What packets expose of them is held by exposed_systems.py.
set -euo pipefail
python3 - <<'END'
import json
import os
import subprocess
import sys

SYSTEMS = """azure-gb200-llama405b azure-gb200-llama405b-112 coreweave-gb300-deepseek-v3 nvidia-gb300-gpt-oss-20b
nvidia-h100-8192-quantum2 google-tpu-v5p-6144 meta-24k-roce tpu-v3-1024 a100-4096 uec""".split()
TOO_FEW_STEPS = ("coreweave-gb300-deepseek-v3", "meta-24k-roce")
failed = 0
for system in SYSTEMS:
    done = subprocess.run([os.environ["WEFT"], "sim", system, "--json"], capture_output=True, text=True)
    says_why = done.returncode == 5 and system in TOO_FEW_STEPS
    result = json.loads(done.stdout) if done.returncode == 0 or says_why else None
    holds = result is not None and result["run"]["end"] == "done" and result["plan"]["sampled"] and result["speed"]["cpu_s"] < 120
    failed += not holds
    if result is not None:
        plan, speed = result["plan"], result["speed"]
        print(f"{system:28} {speed['cpu_s']:6.1f} s of CPU, {speed['wall_s']:6.1f} s; {plan['packets_run'] / 1e6:5.1f} of "
              f"{plan['packets_all'] / 1e6:10.0f} million packets{'' if holds else '  FAILED'}", flush=True)
    else:
        print(f"{system}: {done.stderr.strip()}", flush=True)
sys.exit(1 if failed else 0)
END
