#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tests/golden/program_pcap_memory.py says of 200 MB, of 4 GB."""
import os
import pathlib
import subprocess
import sys

test = pathlib.Path(__file__).resolve().parent.parent / "golden" / "program_pcap_memory.py"
sys.exit(subprocess.run([sys.executable, str(test)], env={"WEFT_MEMORY_BYTES": "4000000000", **os.environ}).returncode)
