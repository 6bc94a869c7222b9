#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Twelve faults at places drawn from 20 seeds: the culprit is named first in at least 90 % of the runs, and nobody on a
# healthy one. The table is that of docs/howto/name-the-culprit.md. WEFT_CULPRIT_SEEDS: how many seeds.
set -euo pipefail
WEFT_CULPRIT_SEEDS=${WEFT_CULPRIT_SEEDS:-20} exec python3 "${WEFT_SOURCE:?}/tests/golden/program_culprits.py"
