#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SONiC's config_db.json becomes a scenario that runs: rates, marks, buffers, pauses as the switch has them; what is wrong in it is
named by its place. The same of a topology of containerlab, alone and with the config_db.json of each of its switches."""
import json
import pathlib

from weft import BAD_INPUT, check, check_parts, outcome, result_of

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
          ("WRED_PROFILE", "LOSSLESS", {"green_min_threshold": "2000000"}, "are not a pair"),
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

MERGED = """name: two
topology:
  nodes:
    leaf-1: {kind: sonic-vs}
    leaf2: {kind: sonic-vs}
    h1: {kind: linux}
    h2: {kind: linux}
  links:
    - endpoints: ["h1:eth1", "leaf-1:eth1"]
    - endpoints: ["h2:eth1", "leaf2:Ethernet0"]
    - endpoints: ["leaf-1:eth3", "leaf2:Ethernet16"]
"""


def config_of(hostname, port16=None, **tables):
    """CONFIG of a switch with that name, whose third port has 100 Gb/s: Ethernet16, which is eth3."""
    config = json.loads(json.dumps(CONFIG))
    config["PORT"]["Ethernet16"] = {"speed": "100000", "admin_status": "up"} if port16 is None else port16
    config["DEVICE_METADATA"] = {"localhost": {"hostname": hostname}} if hostname else {}
    for table, rows in tables.items():
        for row, fields in rows.items():
            config[table][row].update(fields)
    return json.dumps(config)


def check_merged(folder):
    """A fabric with the settings of its switches, and what does not go together, by name."""
    lab = written(folder, "two.clab.yml", MERGED)
    one, two, nameless = (written(folder, name + ".json", config_of(name if name != "none" else "")) for name in ("leaf-1", "leaf2", "none"))
    code, scenario, error = outcome("topology", "--import", lab, "--config", one, "--config", two)
    for line in ("topology: graph", "link_rate: 400Gb/s", "to: leaf2, rate: 100Gb/s}", "preset: roce-dcqcn", "ecn_low: 250000B", "pfc_headroom: 260000B"):
        check(code == 0 and line in scenario, f"merged: {line} {error.strip()}")
    result = result_of("sim", written(folder, "made.yaml", scenario), "--json")
    check(result["run"]["end"] == "done" and result["network"]["ecn_low_bytes"] == 250000, "and runs, with the switches' marks")
    check(outcome("topology", "--import", lab, "--config", f"leaf-1={nameless}", "--config", two)[1] == scenario, "a switch may be named beside its file")
    wrongs = (([one], "switch `leaf2` has no --config"), ([one, one], "leaf_1 has a file already"), ([nameless], "has no hostname"),
              ([one, f"leaf3={two}"], "has no switch `leaf3`"), ([one, lab], "this is not a config_db.json"),
              ([one, written(folder, "marks.json", config_of("leaf2", WRED_PROFILE={"LOSSLESS": {"green_min_threshold": "200000"}}))],
               "green_min_threshold of leaf2 is 200000, of leaf_1 250000"),
              ([one, written(folder, "slow.json", config_of("leaf2", {"speed": "40000"}))], "two.clab.yml:11: one end of the link has 100 Gb/s, leaf2 40 Gb/s"),
              ([one, written(folder, "down.json", config_of("leaf2", {"speed": "100000", "admin_status": "down"}))], "PORT|Ethernet16 is down"))
    for configs, says in wrongs:
        code, made, error = outcome("topology", "--import", lab, *(word for file in configs for word in ("--config", file)))
        check(code == BAD_INPUT and says in error and made == "", f"refused: {says}: {error.strip()}")
    twice = written(folder, "twice.clab.yml", MERGED.replace("leaf-1:eth3", "leaf-1:eth1"))
    code, made, error = outcome("topology", "--import", twice)
    check(code == BAD_INPUT and "twice.clab.yml:11: port `eth1` of `leaf_1` has a link already, of line 9" in error and made == "", f"a port has one link: {error.strip()}")
    for end in ("leaf-1:e1-4", "leaf-1:eth", "leaf-1:Ethernet0.7", "leaf-1"):
        named = written(folder, "named.clab.yml", MERGED.replace("leaf-1:eth1", end))
        code, made, error = outcome("topology", "--import", named, "--config", one, "--config", two)
        check(code == BAD_INPUT and f"PORT has no port for `{end[7:]}` of leaf_1" in error and made == "", f"no port: {end}: {error.strip()}")


def written(folder, name, text):
    file = pathlib.Path(folder, name)
    file.write_text(text, encoding="utf-8")
    return file


def imported(folder, file):
    code, scenario, error = outcome("topology", "--import", file)
    check(code == 0, f"{file.name} is read: {error.strip()}")
    return scenario, result_of("sim", written(folder, "made.yaml", scenario), "--json")


def main(folder):
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
    for name in ("config_db.json", "lab.clab.yml"):
        code, _, error = outcome("sim", pathlib.Path(folder, name))
        check(code == BAD_INPUT and "weft topology --import" in error, f"weft sim {name} says what makes a scenario of it: {error.strip()}")
    check_merged(folder)


if __name__ == "__main__":
    check_parts(main)
