#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cases of tests/property/program_extrapolation.py, hundreds of others: the error that is stated holds in 95 of 100."""
import os
import pathlib
import subprocess
import sys

test = pathlib.Path(__file__).resolve().parent.parent / "property" / "program_extrapolation.py"
cases = {"WEFT_CASES_FIRST": "10001", "WEFT_CASES_COUNT": "1000", "WEFT_CASES_FAULTY": "2500", "WEFT_CASES_PACKETS": "200000"}
sys.exit(subprocess.run([sys.executable, str(test)], env={**cases, **os.environ}).returncode)
