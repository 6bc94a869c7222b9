# SPDX-License-Identifier: Apache-2.0
"""The shipped scenarios, and what makes each small enough for a test: each kind of thing that it has still happens."""
import pathlib

SOURCE = pathlib.Path(__file__).resolve().parents[1]
FOLDER = SOURCE / "apps" / "scenarios"
SMALL = [word for key in ("steps", "buckets", "fill") for word in ("--set", f"sample.{key}=1")]
SYSTEMS = ("a100-4096", "azure-gb200-llama405b-112", "coreweave-gb300-deepseek-v3", "google-tpu-v5p-6144", "meta-24k-roce",
           "nvidia-gb300-gpt-oss-20b", "nvidia-h100-8192-quantum2", "tpu-v3-1024")
WORDS = {name: SMALL for name in SYSTEMS} | {  # what makes it small, or what it needs
    "azure-gb200-llama405b": ["--sample", "groups=1,steps=1,buckets=1,fill=1"],
    "drill-ring-roce": ["--variant", "mrc", "--set", "traffic.bytes=16MiB"],
    "drill-ring-loss-0.1": ["--variant", "mrc", "--set", "traffic.bytes=16MiB"],
    "drill-ring-loss-1": ["--variant", "mrc", "--set", "traffic.bytes=16MiB"],
    "drill-all-to-all": ["--variant", "mrc"],
    **{f"drill-load-{what}": ["--variant", "mrc-100"] for what in ("trunk", "t1", "t0", "plane", "nic-port")},
    "drill-loss-1": ["--variant", "mrc"],
    "compare-ring": ["--variant", "mrc", "--set", "traffic.bytes=4MiB"],
    "compare-all-to-all": ["--variant", "mrc", "--set", "traffic.bytes=64kB"],
    "coreweave-gb300-deepseek-v3": [*SMALL, "--set", "sample.groups=1"],
    "uec": [*SMALL, "--set", "sample.groups=1"],
    "two-jobs": ["--variant", "packed"],
    "jobs-two-rings": ["--variant", "packed"],
    "jobs-two-models": ["--variant", "packed"],
    "trace-default": None,  # runs a file of the user's
    "trace-nodes": None,  # the same
}


def names():
    """Of all that need no file of the user's."""
    return [path.stem for path in sorted(FOLDER.glob("*.yaml")) if WORDS.get(path.stem, []) is not None]
