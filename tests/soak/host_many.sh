#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 64 ranks of weft host on one machine. WEFT_HOST_RANKS: how many.
set -euo pipefail
WEFT_HOST_RANKS=${WEFT_HOST_RANKS:-64} exec python3 "${WEFT_SOURCE:?}/tests/golden/program_host_many.py" Many.test_many_ranks_on_one_machine
