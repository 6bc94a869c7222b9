#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft pcap anonymize: the analysis says the same of a capture before and after, but for addresses, which map one to one; no
address, key or payload is left in the bytes; tshark reads the same lengths, times, operations and states of checksums; one key
gives one mapping over several files. Without the given captures, or without tshark, their part is left out and said so."""
import ipaddress
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import weft
from weft import SHARED, SOURCE, check

GIVEN = pathlib.Path(SHARED, "data", "captures", "given")
ADDRESS = re.compile(r"\d+\.\d+\.\d+\.\d+|[0-9a-f]*:[0-9a-f:]*:[0-9a-f]*(?:\d+\.\d+\.\d+\.\d+)?")
OWN = ["clean-write", "headers-only", "ipv4", "reorder", "srv6", "trim-last-hop", "loss-timer", "backup-path", "rocev2-go-back-n", "rocev2-cnp"]
STAYS = ["frame.len", "frame.cap_len", "frame.time_epoch", "infiniband.bth.opcode", "infiniband.bth.psn", "infiniband.bth.destqp", "ip.id", "ip.dsfield",
         "ipv6.flow", "udp.srcport", "udp.length", "infiniband.reth.dmalen", "infiniband.aeth.syndrome", "ip.checksum.status", "udp.checksum.status"]
GOES = ["eth.src", "eth.dst", "ip.src", "ip.dst", "ipv6.src", "ipv6.dst", "infiniband.reth.va", "infiniband.reth.r_key", "infiniband.immdt", "infiniband.payload"]
SPECIAL = {"ff:ff:ff:ff:ff:ff", "00:00:00:00:00:00", "0.0.0.0", "::", "::1"}


def ran(*words, given=None):
    done = weft.run("pcap", *words, text=False, input=given)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def mapping(before, after):
    """Of two texts that are alike but for addresses: from one to the other. None: they are not, or it is not one to one."""
    before, after = (re.sub(r"(, seen at|capture points|the path from)\b.*", "", text) for text in (before, after))  # names of places go, too
    if ADDRESS.sub("A", before) != ADDRESS.sub("A", after):
        return None
    pairs = set(zip(ADDRESS.findall(before), ADDRESS.findall(after)))
    ret = dict(pairs)
    return ret if len(ret) == len(pairs) == len(set(ret.values())) else None


def anonymized(path, folder, key="a key"):
    out = folder / (path.name + f".{abs(hash(key))}.pcapng")
    status, said, error = ran("anonymize", path, "-o", out, "--key", key, "--force")
    return (out if status == 0 else None), said + error


def check_alike(path, folder):
    out, said = anonymized(path, folder)
    if out is None:
        check(False, f"{path.name}: {said}")
        return {}
    before, after = ran("analyze", "--table", path), ran("analyze", "--table", out)
    pairs = mapping(before[1], after[1])
    check(before[0] == after[0] == 0 and pairs is not None, f"{path.name}: the analysis says the same")
    data = out.read_bytes()
    left = [address for address in pairs or {} if ipaddress.ip_address(address).packed in data]
    check(not left and all(old != new for old, new in (pairs or {}).items()), f"{path.name}: none of {len(pairs or {})} addresses is left {left}")
    return pairs or {}


# ---------------------------------------------------------------- what tshark reads


def fields(path, names):
    words = ["tshark", "-r", str(path), "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-o", "udp.ignore_ipv6_zero_checksum:TRUE",
             "-T", "fields"]
    for name in names:
        words += ["-e", name]
    done = subprocess.run(words, capture_output=True, timeout=120)
    return done.returncode, [line.split("\t") for line in done.stdout.decode().split("\n")[:-1]]


def packed(name, value):
    if name.startswith("eth."):
        return bytes.fromhex(value.replace(":", ""))
    if name.startswith("ip"):
        return ipaddress.ip_address(value).packed
    if name.endswith((".payload", ".immdt")):
        return bytes.fromhex(value.replace(":", ""))[:48]
    return int(value, 0).to_bytes(8 if name.endswith(".va") else 4, "big")


def check_tshark(path, folder):
    out, _ = anonymized(path, folder)
    before, after = fields(path, STAYS), fields(out, STAYS)
    check(before[0] == after[0] == 0 and before[1] == after[1] and before[1], f"{path.name}: tshark reads the same of {len(before[1])} frames")
    values = {(name, value) for row in fields(path, GOES)[1] for name, cell in zip(GOES, row) for value in cell.split(",") if value}
    wanted = {packed(name, value) for name, value in values if value not in SPECIAL}
    data = out.read_bytes()
    left = [text.hex() for text in wanted if len(set(text)) > 2 and text in data]
    check(not left, f"{path.name}: no address, key or payload is left {left[:5]}")


# ---------------------------------------------------------------- keys, files


def check_keys(folder):
    first, second = SOURCE / "pcaps" / "rocev2-go-back-n.pcapng", SOURCE / "pcaps" / "rocev2-cnp.pcapng"
    tables = {}
    for key in ("one", "other"):
        for path in (first, second):
            out, _ = anonymized(path, folder, key)
            tables[key, path] = mapping(ran("analyze", "--table", path)[1], ran("analyze", "--table", out)[1])
    common = set(tables["one", first]) & set(tables["one", second])
    check(common and all(tables["one", first][a] == tables["one", second][a] for a in common), f"one key: {len(common)} addresses are the same in both files")
    check(any(tables["one", first][a] != tables["other", first][a] for a in tables["one", first]), "another key: other addresses")
    outs = []
    for name in ("free1", "free2", "piped"):
        outs.append(folder / name)
        words = ("anonymize", "-" if name == "piped" else first, "-o", outs[-1])
        status, said, _ = ran(*words, given=first.read_bytes() if name == "piped" else None)
        check(status == 0 and "another one each time" in said, f"without a key: {said.splitlines()[0] if said else status}")
    check(len({out.read_bytes() for out in outs}) == 3, "without a key each mapping is another one")
    check(b"anonymized: " in outs[0].read_bytes()[:200], "the file is marked")
    check(b"nic 0" in first.read_bytes() and b"nic 0" not in outs[0].read_bytes(), "names of interfaces are gone")


# A frame whose ICRC is bad stays bad: the last byte of the first frame is turned.
def check_damage(folder):
    path = SOURCE / "pcaps" / "rocev2-cnp.pcapng"
    data = bytearray(path.read_bytes())
    at = 0
    while int.from_bytes(data[at:at + 4], "little") != 6:
        at += int.from_bytes(data[at + 4:at + 8], "little")
    captured = int.from_bytes(data[at + 20:at + 24], "little")
    data[at + 28 + captured - 1] ^= 0xff
    hurt = folder / "hurt.pcapng"
    hurt.write_bytes(data)
    out, said = anonymized(hurt, folder)
    check(out is not None and ", 1 bad as before" in said, said.strip())
    before, after = (next(line for line in ran("analyze", what)[1].splitlines() if "ICRC" in line) for what in (hurt, out))
    check("ICRC good in all" not in after and mapping(before, after) is not None, f"one bad ICRC stays bad: {after}")


def check_refusals(folder):
    path = SOURCE / "pcaps" / "ipv4.pcapng"
    copy, text = folder / "copy.pcapng", folder / "text"
    shutil.copy(path, copy)
    text.write_text("no capture, but long enough to have the head of one\n")
    for words in (["anonymize", path], ["anonymize", "-o", folder / "x"], ["anonymize", path, path, "-o", folder / "x"], ["anonymize", path, "-o", copy],
                  ["anonymize", copy, "-o", copy, "--force"], ["anonymize", text, "-o", folder / "x"], ["anonymize", path, "-o", folder / "x", "--key", ""],
                  ["anonymize", path, "-o", folder / "x", "--table"]):
        status, out, error = ran(*words)
        check(status == 2 and out == "" and error.count("\n") == 1, f"refused: {error.strip()[-110:]}")
    check(not (folder / "x").exists() and copy.read_bytes() == path.read_bytes(), "what is refused writes nothing")


def check_hostile(folder):
    bad = []
    files = [path for kind in ("malformed", "robust", "other") for path in sorted((GIVEN / kind).iterdir())]
    for path in files:
        status, _, error = ran("anonymize", path, "-o", folder / "hostile", "--force", "--key", "k")
        if status not in (0, 2) or (status == 2 and str(path) not in error):
            bad.append(f"{path.name}: {status} {error.strip()[-120:]}")
    check(not bad and files, f"{len(files)} damaged or strange captures are copied or refused by name {bad}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        paths = [SOURCE / "pcaps" / f"{own}.pcapng" for own in OWN]
        looked = [SOURCE / "pcaps" / f"{own}.pcapng" for own in ("ipv4", "srv6", "rocev2-go-back-n")]
        if GIVEN.is_dir():
            paths += sorted((GIVEN / "roce").iterdir())
            looked += [GIVEN / "roce" / file for file in ("rxe_write_loss2_first1500.pcap", "rxe_send_clean.pcapng", "rxe_write_v6_linklocal.pcap",
                                                          "rocev1_write_only.pcap")]
            check_hostile(folder)
        else:
            print(f"{GIVEN} is not here: the given captures are left out")
        for path in paths:
            check_alike(path, folder)
        if shutil.which("tshark"):
            for path in looked:
                check_tshark(path, folder)
        else:
            print("tshark is not here: what it reads is left out")
        check_keys(folder)
        check_damage(folder)
        check_refusals(folder)
    sys.exit(1 if check.failed else 0)


main()
