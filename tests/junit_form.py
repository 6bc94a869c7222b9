# SPDX-License-Identifier: Apache-2.0
"""What the schemas of Ant's JUnit tasks and of Jenkins ask of suites and cases, and their order."""
import re


def faults(root):
    """What of a file stands against them; `root` is its element testsuites."""
    needed = {"testsuite": {"name", "package", "hostname", "timestamp", "id", "tests", "failures", "errors", "skipped", "time"},
              "testcase": {"classname", "name", "time"}, "failure": {"type", "message"}, "error": {"type", "message"}, "skipped": {"type", "message"},
              "testsuites": set(), "properties": set(), "system-out": set(), "system-err": set()}
    forms = {"timestamp": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", "time": r"\d+\.\d{3}", "id": r"\d+", "tests": r"\d+", "failures": r"\d+", "errors": r"\d+", "skipped": r"\d+"}
    bad = [one.tag for one in root.iter() if set(one.keys()) != needed.get(one.tag)]
    bad += [f"{key}={value}" for one in root.iter() for key, value in one.items() if value == "" or not re.fullmatch(forms.get(key, "(?s).+"), value)]
    for at, suite in enumerate(root):
        tags = [one.tag for one in suite]
        bad += [] if tags == ["properties", *["testcase"] * (len(tags) - 3), "system-out", "system-err"] and suite.get("id") == str(at) else [suite.get("name")]
        bad += [case.get("name") for case in suite.iter("testcase") if len(case) > 1]
    bad += [] if root.tag == "testsuites" and len(root) > 0 else [root.tag]
    return bad
