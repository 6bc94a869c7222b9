#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The fuzz targets for 10 minutes each. WEFT_FUZZ_S: seconds for each target.
set -euo pipefail
WEFT_FUZZ_S=${WEFT_FUZZ_S:-600} exec "${WEFT_SOURCE:?}/tests/fuzz/fuzz.sh"
