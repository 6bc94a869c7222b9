#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SONiC's config_db.json becomes a scenario that runs: rates, marks, buffers, pauses as the switch has them; what is wrong in it is
named by its place. The same of a topology of containerlab."""
import json
import pathlib
import sys
import tempfile

from weft import BAD_INPUT, check, outcome, result_of

PORTS = {f"Ethernet{8 * i}": {"speed": "400000", "admin_status": "up" if i < 8 else "down"} for i in range(9)}
CONFIG = {
    "PORT": PORTS,
    "PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3,4"}},
    "QUEUE": {"Ethernet0|0": {"wred_profile": "LOSSY"}, "Ethernet0|3-4": {"wred_profile": "LOSSLESS"}},
    "WRED_PROFILE": {"LOSSY": {"ecn": "ecn_none"},
                     "LOSSLESS": {"ecn": "ecn_all", "green_min_threshold": "250000", "green_max_threshold": "1048576", "green_drop_probability": "5"}},
    "BUFFER_PG": {"Ethernet0|3-4": {"profile": "[BUFFER_PROFILE|lossless]"}},
    "BUFFER_PROFILE": {"lossless": {"pool": "[BUFFER_POOL|in]", "xoff": "260000", "dynamic_th": "-3"}},
    "BUFFER_POOL": {"in": {"size": "67108864"}},
    "PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "200"}, "Ethernet0": {"action": "drop", "detection_time": "200"}},
}
WANTED = ("pfc: true", "ecn_low: 250000B", "ecn_high: 1048576B", "ecn_share: 5%", "shared: 67108864B", "alpha: 0.125", "pfc_headroom: 260000B",
          "pfc_watch: 200ms", "pfc_watch_action: drop", "preset: roce-dcqcn", "nics: 8", "link_rate: 400000Mb/s")
WRONGS = (("WRED_PROFILE", "LOSSLESS", {"green_min_threshold": "25x"}, "WRED_PROFILE|LOSSLESS|green_min_threshold"),
          ("WRED_PROFILE", "LOSSLESS", {"green_min_threshold": "2000000"}, "are no pair"),
          ("QUEUE", "Ethernet0|3-4", {"wred_profile": "OTHER"}, "WRED_PROFILE|OTHER is not there"),
          ("BUFFER_PROFILE", "lossless", {"dynamic_th": "40"}, "dynamic_th"),
          ("PORT", "Ethernet8", {"speed": "fast"}, "PORT|Ethernet8|speed"))
CLAB = """name: lab
topology:
  nodes:
    leaf1: {kind: sonic-vs}
    h1: {kind: linux}
    h2: {kind: linux}
  links:
    - endpoints: ["h1:eth1", "leaf1:eth1"]
    - endpoints: ["h2:eth1", "leaf1:eth2"]
"""


def written(folder, name, text):
    file = pathlib.Path(folder, name)
    file.write_text(text, encoding="utf-8")
    return file


def imported(folder, file):
    code, scenario, error = outcome("topology", "--import", file)
    check(code == 0, f"{file.name} is read: {error.strip()}")
    return scenario, result_of("sim", written(folder, "made.yaml", scenario), "--json")


def main():
    with tempfile.TemporaryDirectory() as folder:
        scenario, result = imported(folder, written(folder, "config_db.json", json.dumps(CONFIG)))
        for line in WANTED:
            check(line in scenario, f"the scenario has {line}")
        check(result["run"]["end"] == "done" and result["scenario"]["cc"] == "dcqcn", "and runs, with DCQCN")
        check(result["network"]["ecn_low_bytes"] == 250000, "with the switch's marks")
        for table, row, fields, says in WRONGS:
            config = json.loads(json.dumps(CONFIG))
            config[table][row].update(fields)
            code, made, error = outcome("topology", "--import", written(folder, "wrong.json", json.dumps(config)))
            check(code == BAD_INPUT and says in error and made == "", f"{fields} is refused: {error.strip()}")
        code, _, error = outcome("topology", "--import", written(folder, "cut.json", json.dumps(CONFIG, indent=1)[:300]))
        check(code == BAD_INPUT and "cut.json:" in error and "not JSON" in error, f"a cut file, at its line: {error.strip()}")
        check(outcome("topology", "--import", written(folder, "none.json", "{}"))[0] == BAD_INPUT, "a file without ports")
        scenario, result = imported(folder, written(folder, "lab.clab.yml", CLAB))
        check("topology: graph" in scenario and result["run"]["end"] == "done", "containerlab's .clab.yml runs, too")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
