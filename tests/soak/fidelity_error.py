#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cases of tests/property/program_fidelity_error.py, hundreds of others: the error that --fidelity sample states holds in 95 of 100."""
import os
import pathlib
import subprocess
import sys

test = pathlib.Path(__file__).resolve().parent.parent / "property" / "program_fidelity_error.py"
cases = {"WEFT_DEPTH_FIRST": "10001", "WEFT_DEPTH_COUNT": "500"}
sys.exit(subprocess.run([sys.executable, str(test)], env={**cases, **os.environ}).returncode)
