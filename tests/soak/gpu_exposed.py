#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where the machine holds the pace, exposed communication is the same on the generator's clock, as the hosts saw it, and
with the scenario's times alone. A machine that is busy releases slices late: it is given more time, and at last said to be too
busy (skipped). Where all slices together are late by less than the tolerance, a difference is a failure."""
import json
import os
import subprocess
import sys
import tempfile

from weft import SKIPPED, WEFT

TOLERANCE = 0.05


def run(dilation, link):
    words = ["emu", "gradients", "--ports", "memory", "--dilation", str(dilation), "--gpu", link, "--json"]
    with subprocess.Popen([WEFT, *words], stdout=subprocess.PIPE, text=True) as emu:
        subprocess.run([WEFT, "gpu", "--link", link], stdout=subprocess.DEVNULL, timeout=600, check=True)
        out, _ = emu.communicate(timeout=600)
    if emu.returncode != 0:
        sys.exit(f"not ok: exit {emu.returncode}")
    return json.loads(out)["gpu"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        for dilation in (2000, 20000, 50000):
            gpu = run(dilation, os.path.join(folder, "link"))
            device, host, model = (gpu[f"exposed_{of}_ps"] / 1e6 for of in ("device", "host", "model"))
            late = gpu["releases"] / gpu["ranks"] * gpu["release_late_max_ns"] / dilation / 1e3 # were each as late as the latest
            print(f"dilation {dilation}: {device:.2f} us at the device, {host:.2f} us at the host, {model:.2f} us by the model; "
                  f"slices of a rank late by at most {late:.2f} us")
            if gpu["elements_wrong"] > 0:
                sys.exit("not ok: elements are wrong")
            if abs(device / host - 1) <= TOLERANCE and abs(host / model - 1) <= TOLERANCE:
                return 0
            if late < TOLERANCE * model:
                sys.exit("not ok: the pace was held, and they differ")
    print("this machine is too busy to hold any pace")
    return SKIPPED


if __name__ == "__main__":
    sys.exit(main())
