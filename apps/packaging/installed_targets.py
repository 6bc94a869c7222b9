#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ninja has to make for `meson install --no-rebuild`, as words: tests need not be built for a package.

  installed_targets.py FOLDER      a folder that meson has set up"""
import json
import pathlib
import subprocess
import sys

folder = pathlib.Path(sys.argv[1]).resolve()
told = subprocess.run(["meson", "introspect", "--targets", str(folder)], capture_output=True, text=True, check=True).stdout
targets = [target for target in json.loads(told) if target["installed"]]
print(" ".join(sorted({str(pathlib.Path(name).relative_to(folder)) for target in targets for name in target["filename"]})))
