#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kinds of tests/property/program_pcap_planted.py with twenty seeds each."""
import os
import pathlib
import subprocess
import sys

test = pathlib.Path(__file__).resolve().parent.parent / "property" / "program_pcap_planted.py"
cases = {"WEFT_PLANTED_FIRST": "101", "WEFT_PLANTED_COUNT": "20"}
sys.exit(subprocess.run([sys.executable, str(test)], env={**cases, **os.environ}).returncode)
