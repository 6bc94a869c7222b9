#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 1,000 writes of 64 KiB each way between weft host and Linux's own RoCE, of each kind. WEFT_RXE_WRITES: how many.
set -euo pipefail
WEFT_RXE_WRITES=${WEFT_RXE_WRITES:-1000} exec python3 "${WEFT_SOURCE:?}/tests/interop/program_host_rxe.py"
