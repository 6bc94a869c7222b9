# SPDX-License-Identifier: Apache-2.0
"""How far a process is, on a machine that others keep busy: a clock on the wall says nothing there."""
import os
import pathlib
import time

PATIENCE_S = 600  # then it hangs


def processor_s(pid):
    """Processor time of a process and of its children, 0 when it has ended."""
    try:
        words = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    except OSError:
        return 0
    return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK") + sum(map(processor_s, children))


def wait_for_work(process, seconds):
    """Waits until a process that was started has had the processor for so long; it may end before."""
    deadline = time.monotonic() + PATIENCE_S
    while process.poll() is None and processor_s(process.pid) < seconds:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{process.args[0]} had {processor_s(process.pid):.2f} s of the processor in {PATIENCE_S} s")
        time.sleep(0.01)
