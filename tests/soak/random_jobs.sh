#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Three fidelities of 100 random jobs of all ways to share agree (tests/property/program_random_jobs.py runs 20).
set -euo pipefail
WEFT_JOBS_FIRST=0 WEFT_JOBS_COUNT=${WEFT_JOBS_COUNT:-100} exec python3 "$(dirname "$0")/../property/program_random_jobs.py"
