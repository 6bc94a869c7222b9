#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The proof of tests/golden/program_tune_proof.py with five fabrics, ten draws of each search."""
import os
import pathlib
import subprocess
import sys

test = pathlib.Path(__file__).resolve().parent.parent / "golden" / "program_tune_proof.py"
cases = {"WEFT_PROOF_FABRICS": "5", "WEFT_PROOF_DRAWS": "10"}
sys.exit(subprocess.run([sys.executable, str(test)], env={**cases, **os.environ}).returncode)
