#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A host in wall time that gets made-up frames beside its own for half a minute. WEFT_FUZZ_S: seconds.
set -euo pipefail
WEFT_FUZZ_S=${WEFT_FUZZ_S:-30} exec "$(dirname "${WEFT:?}")/../tests/drive_all_wall_others"
