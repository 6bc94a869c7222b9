#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus reads metrics.txt of two runs, and each expression of the Grafana dashboard in apps/packaging has data in it, over
all runs and over one of them alone. Nothing leaves the loopback interface."""
import functools
import http.server
import json
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import weft
from weft import SOURCE, check, check_parts, skip

DASHBOARD = SOURCE / "apps/packaging/grafana/weft.json"
LOSS = "{kind: loss, at: {t0: 2, up: 1, plane: 0}, probability: 2%}"
RUNS = {"rail": ["rail-8x4", "--set", "watch.links=true", "--set", "traffic.bytes=8MB", "--fault", LOSS], "incast": ["incast"]}
DEADLINE_S = 60


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def make_runs(folder):
    """{name: result}, each with its metrics.txt."""
    results = {}
    for name, words in RUNS.items():
        for call in (["sim", *words, "--out", folder / name], ["report", folder / name, "--quiet"]):
            done = weft.run(*call)
            if done.returncode != 0:
                sys.exit(f"FAILED: weft {' '.join(map(str, call))}: {done.stderr}")
        results[name] = json.loads((folder / name / "result.json").read_text())
    return results


def ask(port, path, **words):
    """The data of an answer, or None where there is none yet."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}?{urllib.parse.urlencode(words)}", timeout=10) as answer:
            return json.loads(answer.read())["data"]
    except (urllib.error.HTTPError, urllib.error.URLError, ConnectionError):
        return None


def samples(port, expression):
    told = ask(port, "/api/v1/query", query=expression)
    return told["result"] if told else []


def wait_for_scrape(port):
    """Returns whether both runs are in the database, whole."""
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        if len(samples(port, "weft_run_end_info")) == len(RUNS):
            return True
        time.sleep(0.2)
    return False


def expressions(dashboard):
    """[(title, expression)] of all panels."""
    return [(panel["title"], target["expr"]) for panel in dashboard["panels"] for target in panel["targets"]]


def check_dashboard(port, results):
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    names = {variable["name"] for variable in dashboard["templating"]["list"]}
    check(names == {"source", "scenario", "digest"} and dashboard["uid"] and dashboard["schemaVersion"] >= 36, "the dashboard has its variables")
    told = expressions(dashboard)
    used = set(re.findall(r"\$\{?([a-z]+)", json.dumps(dashboard["panels"])))
    check(used == names, f"panels use each variable, and no other: {', '.join(sorted(used))}")
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in dashboard["panels"]]
    check(len(told) >= 20 and len(set(places)) == len(places), f"{len(places)} panels with {len(told)} expressions, none upon another")
    rail = results["rail"]
    for title, expression in told:
        for run, scenario, digest in (("all runs", ".*", ".*"), ("one run", rail["scenario"]["name"], rail["run"]["digest"])):
            found = samples(port, expression.replace("$scenario", scenario).replace("$digest", digest))
            check(found, f"{title}, {run}: {len(found)} series")
            if run == "one run":
                check(all(one["metric"].get("scenario") == scenario for one in found), f"{title}: of {scenario} alone")
    for variable in ("scenario", "digest"):
        values = ask(port, f"/api/v1/label/{variable}/values", **{"match[]": "weft_run_end_info"})
        wanted = {result["scenario"]["name"] if variable == "scenario" else result["run"]["digest"] for result in results.values()}
        check(set(values or []) == wanted, f"values of ${variable}: {values}")


def check_values(port, results):
    for result in results.values():
        digest = result["run"]["digest"]
        for name, value in (("weft_goodput_total_bytes_per_second", result["goodput"]["total_bps"] / 8),
                            ("weft_transport_data_packets", result["transport"]["data_packets"]),
                            ("weft_run_last_completion_seconds", result["run"]["last_completion_ps"] / 1e12)):
            found = samples(port, f'{name}{{digest="{digest}"}}')
            got = float(found[0]["value"][1]) if len(found) == 1 else None
            check(got is not None and abs(got / value - 1) < 1e-9, f"{name} of {result['scenario']['name']} is {got}, in result.json {value}")


def main(folder):
    if not shutil.which("prometheus"):
        skip("prometheus is not here (Debian's package prometheus)")
    results = make_runs(folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    jobs = "".join(f"  - job_name: {run}\n    metrics_path: /{run}/metrics.txt\n    static_configs: [{{targets: ['127.0.0.1:{server.server_port}']}}]\n"
                   for run in RUNS)
    (folder / "prometheus.yml").write_text(f"global: {{scrape_interval: 1s}}\nscrape_configs:\n{jobs}")
    port = free_port()
    with open(folder / "log", "w", encoding="utf-8") as log:
        prometheus = subprocess.Popen(["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                                       f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
    try:
        if check(wait_for_scrape(port), "Prometheus scraped both runs"):
            check_dashboard(port, results)
            check_values(port, results)
        else:
            print((folder / "log").read_text(encoding="utf-8")[-2000:])
    finally:
        prometheus.terminate()
        prometheus.wait(timeout=60)
        server.shutdown()


check_parts(main)
