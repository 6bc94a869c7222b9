#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft pcap analyze --nic: counters as `rdma statistic -j` and `ethtool --json -S` print them, made from what a capture has: equal ones
agree; one that is a packet above or below is told, with whose it can be; drops of the NIC are told; files that are none are refused."""
import json
import pathlib
import sys
import tempfile

import weft
from weft import SOURCE, check

PCAPS = SOURCE / "pcaps"
# counter: what it counts, by the side of the NIC that it is of
RXE = {"sent_pkts": ("source", "packets"), "rcvd_pkts": ("target", "packets"), "out_of_seq_request": ("source", "naks"), "send_rnr_err": ("source", "rnrs")}
MLX5 = {"tx_vport_rdma_unicast_packets": ("source", "packets"), "packet_seq_err": ("target", "naks"), "np_cnp_sent": ("source", "cnps"),
        "rp_cnp_handled": ("target", "cnps"), "np_ecn_marked_roce_packets": ("target", "ce")}
OTHERS = {"tx_rdma_ucast_pkts": ("source", "packets"), "rx_rdma_ucast_pkts": ("target", "packets"), "resp_tx_pkt_seq_err": ("source", "naks"),
          "req_rx_pkt_seq_err": ("target", "naks"), "RNR sent": ("source", "rnrs"), "RNR received": ("target", "rnrs"),
          "rnr_nak_retry_err": ("target", "rnrs"), "tx_rdma_cnp_pkts": ("source", "cnps"), "rx_rdma_cnp_pkts": ("target", "cnps"),
          "RxECNMrkd": ("target", "ce"), "rx_rdma_ecn_pkts": ("target", "ce"),
          "np_cnp_pkts": ("source", "cnps"), "cnp_tx_pkts": ("source", "cnps"), "cnp_rx_pkts": ("target", "cnps"), "roce_only_tx_pkts": ("source", "packets"), "roce_only_rx_pkts": ("target", "packets")}


def ran(*words):
    done = weft.run("pcap", "analyze", *words)
    return done.returncode, done.stdout, done.stderr


def files(folder, moved, **more):
    """Two files of counters between which each went up by what `moved` says."""
    start = {name: 1000 + 7 * i for i, name in enumerate(moved)}
    rows = ({**start, "lifespan": 5}, {**{name: start[name] + by for name, by in moved.items()}, "lifespan": 12})
    paths = (folder / "before.json", folder / "after.json")
    for path, row in zip(paths, rows):
        path.write_text(json.dumps([{"ifindex": 0, "ifname": "rxe0", "port": 1, **row, **more}]), encoding="utf-8")
    return paths


def told(path, address, before, after):
    status, out, error = ran(path, "--nic", address, "--before", before, "--after", after, "--json")
    return {row["counter"]: row for row in json.loads(out)["nic"]} if status == 0 else {"error": error}


def check_counters(folder, name, meaning):
    path = PCAPS / f"{name}.pcapng"
    streams = json.loads(ran(path, "--json")[1])["streams"]
    for address in {stream["source"] for stream in streams}:
        places = {}  # several taps see the same packets
        for one in streams:
            if address in (one["source"], one["target"]):
                places[one["place"]] = places.get(one["place"], 0) + one["packets"]
        here = [one for one in streams if one["place"] == max(places, key=places.get)]
        moved = {counter: sum(one[figure] for one in here if one[side] == address) for counter, (side, figure) in meaning.items()}
        rows = told(path, address, *files(folder, moved))
        check(all(rows[counter]["state"] == "agrees" and rows[counter]["moved"] == by for counter, by in moved.items()), f"{name} {address}: {moved} agree")
        for counter, by in moved.items():
            for change, state in ((1, "nic_has_more"), (-1, "nic_has_less")):
                if by + change < 0:
                    continue
                paths = files(folder, {**moved, counter: by + change})
                rows = told(path, address, *paths)
                states = {other: row["state"] for other, row in rows.items()}
                right = states[counter] == state and sum(one != "agrees" for one in states.values()) == 1
                check(right, f"{name} {address}: {counter} {by + change}, not {by}: {states[counter]}")
                _, out, _ = ran(path, "--nic", address, "--before", paths[0], "--after", paths[1])
                said = [line for line in out.splitlines() if line.startswith(f"  {counter} went up")]
                is_sent = meaning[counter][0] == "source"
                want = ("lost before it" if is_sent else "missed") if change > 0 else "the NIC miscounts"
                check(len(said) == 1 and want in said[0] and f"{len(moved) - 1} counters agree" in out, f"{counter}: {said}")


def check_drops(folder):
    paths = files(folder, {"sent_pkts": 0, "out_of_buffer": 3})
    _, out, _ = ran(PCAPS / "rocev2-cnp.pcapng", "--nic", "10.9.9.9", "--before", paths[0], "--after", paths[1])
    check("out_of_buffer went up by 3: the NIC dropped" in out and "1 counter agrees" in out, "what the NIC dropped itself")
    paths = files(folder, {"tx_pkts": 0, "rnr_naks_rcvd": 0, "rx_roce_discards": 4})
    _, out, _ = ran(PCAPS / "rocev2-cnp.pcapng", "--nic", "10.9.9.9", "--before", paths[0], "--after", paths[1])
    check("rx_roce_discards went up by 4: the NIC dropped" in out, "bnxt_re's drops")


def check_refusals(folder):
    path = PCAPS / "rocev2-cnp.pcapng"
    before, after = files(folder, {"sent_pkts": 5})
    two, text, other, none = (folder / name for name in ("two.json", "text.json", "other.json", "none.json"))
    two.write_text(json.dumps([{"ifname": "a", "sent_pkts": 1}, {"ifname": "b", "sent_pkts": 1}]), encoding="utf-8")
    text.write_text("link rxe0/1 sent_pkts 5\n", encoding="utf-8")
    other.write_text(json.dumps([{"ifname": "b", "sent_pkts": 1}]), encoding="utf-8")
    none.write_text(json.dumps([{"ifname": "rxe0", "lifespan": 1}]), encoding="utf-8")
    for words in (["--nic", "::1"], ["--nic", "::1", "--before", before], ["--before", before, "--after", after], ["--nic", "nobody", "--before", before, "--after", after],
                  *(["--nic", "::1", "--before", bad, "--after", after] for bad in (two, text, other, folder / "absent")),
                  ["--nic", "::1", "--before", none, "--after", none], ["--nic", "::1", "--before", after, "--after", before]):
        status, out, error = ran(path, *words)
        check(status == 2 and out == "" and error.count("\n") == 1, f"refused: {error.strip()}")


with tempfile.TemporaryDirectory() as room:
    check_counters(pathlib.Path(room), "rocev2-go-back-n", RXE)
    check_counters(pathlib.Path(room), "rocev2-cnp", MLX5)
    check_counters(pathlib.Path(room), "rocev2-go-back-n", OTHERS)
    check_counters(pathlib.Path(room), "rocev2-cnp", OTHERS)
    check_drops(pathlib.Path(room))
    check_refusals(pathlib.Path(room))
sys.exit(1 if check.failed else 0)
