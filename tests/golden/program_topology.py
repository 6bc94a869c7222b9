#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft topology: figures of known fabrics, pictures that are well-formed XML with all that they claim to draw, refusals."""
import json
import pathlib
import re
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

import weft

SVG = "{http://www.w3.org/2000/svg}"
TREE = """Nodes 32
Tiers 2
Tier 0
Downlink_speed_Gbps 100
Radix_Down 8
Radix_Up 2
Oversubscribed 1
Downlink_Latency_ns 500
Tier 1
Downlink_speed_Gbps 400
Radix_Down 4
Downlink_Latency_ns 500
"""


class Topology(unittest.TestCase):
    def setUp(self):
        self.held = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.held.name)
        self.svg = self.folder / "fabric.svg"

    def tearDown(self):
        self.held.cleanup()

    def weft(self, *words):
        return weft.run("topology", *words)

    def shown(self, *words):
        run = self.weft(*words)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stderr, "")
        return run.stdout

    def file(self, text, name="own.yaml"):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def drawn(self, *words):
        self.shown(*words, "--svg", self.svg)
        root = ElementTree.parse(self.svg).getroot()
        self.assertEqual(root.tag, SVG + "svg")
        text = " ".join("".join(node.itertext()) for node in root.iter(SVG + "text"))
        switches = [node for node in root.iter(SVG + "rect") if node.get("class")]
        return root, text, switches

    def has(self, text, name, value):
        self.assertRegex(text, rf"(?m)^  {re.escape(name)}\s+{re.escape(value)}")

    def test_a_full_tree_has_the_figures_of_its_description(self):
        text = self.shown("perm128-400g")
        self.has(text, "t0", "32           8          128      51.2 Tb/s      51.2 Tb/s  1 : 1")
        self.has(text, "t2", "16           8          128      51.2 Tb/s              -  -")
        self.has(text, "bisection bandwidth", "25.6 Tb/s a plane")
        self.has(text, "paths between these", "16 a plane")
        self.has(text, "base round trip", "11.5057 us")
        self.has(text, "data queue", "576850 B, 139 packets of 4150 B")

    def test_an_over_subscribed_clos_says_so(self):
        text = self.shown("two-racks", "--set", "fabric.trunk_rate=50Gb/s")
        self.assertRegex(text, r"(?m)^  t0 .*2 : 1$")

    def test_the_largest_clos_is_that_of_512_port_switches(self):
        text = self.shown("clos-131072")
        self.has(text, "NICs", "131072")
        self.assertRegex(text, r"(?m)^ +t0 +512 +512 +131072 .* 1 : 1$")
        self.assertRegex(text, r"(?m)^ +t1 +256 +512 +131072 ")

    def test_a_torus_is_cut_where_it_is_thinnest(self):
        path = self.file("fabric: {topology: torus, nics: 32, nics_per_t0: 1, torus_x: 8, torus_y: 4}\n"
                         "traffic: {kind: permutation, bytes: 1MB}\n")
        text = self.shown(path)
        self.has(text, "bisection bandwidth", "800 Gb/s a plane")  # two rows of four links, each of 100 Gb/s
        self.has(text, "longest way", "8 links")

    def test_a_dumbbell_carries_its_bundle(self):
        self.has(self.shown("dumbbell", "--set", "fabric.bundle=3"), "bisection bandwidth", "300 Gb/s a plane")

    def test_rails_without_spines_carry_nothing_across(self):
        text = self.shown("rail-8x4", "--set", "fabric.t1_count=0")
        self.has(text, "longest way", "2 links")

    def test_a_file_of_htsim_is_read(self):
        tree = self.file(TREE, "tree.topo")
        own = self.file(f"fabric: {{topology: file, nics: 32, file: {tree}}}\ntraffic: {{kind: permutation, bytes: 1MB}}\n")
        text = self.shown(own)
        self.has(text, "t0", "4          10           32       3.2 Tb/s       3.2 Tb/s  1 : 1")
        self.file(TREE.replace("Radix_Up 2", "Radix_Up 2\nPlanes 3"), "tree.topo")
        run = self.weft(own)
        self.assertEqual(run.returncode, 2)
        self.assertIn(f"{tree}:7:1: ", run.stderr)
        for program in ("sim", "topology"):
            run = weft.run(program, own)
            self.assertEqual((run.returncode, run.stdout), (2, ""))

    def test_a_small_fabric_is_drawn_whole(self):
        root, text, switches = self.drawn("rail-8x4")
        self.assertEqual(len(switches), 2 * (8 + 4))
        self.assertEqual(len(list(root.iter(SVG + "line"))), 2 * 8 * 4)
        self.assertEqual(len(list(root.iter(SVG + "circle"))), 2 * 32)
        self.assertNotIn("abridged", text)
        self.assertIn("plane 1", text)

    def test_a_torus_is_drawn_as_a_grid_with_its_wrap_links(self):
        root, text, switches = self.drawn("torus-4x4x4")
        self.assertEqual(len(switches), 64)
        self.assertEqual(len(list(root.iter(SVG + "line"))) + len(list(root.iter(SVG + "path"))), 3 * 64)
        self.assertIn("3.3.3", text)

    def test_a_large_fabric_is_abridged_and_says_so(self):
        _, text, switches = self.drawn("azure-gb200-llama405b")
        self.assertIn("abridged", text)
        self.assertIn("256 in all", text)
        self.assertLess(len(switches), 200)
        self.assertLess(self.svg.stat().st_size, 1 << 20)

    def test_names_are_escaped(self):
        path = self.file("name: '<a> & \"b\"'\nfabric: {topology: dumbbell, nics: 4}\n"
                         "traffic: {kind: permutation, bytes: 1MB}\n")
        _, text, switches = self.drawn(path)
        self.assertIn('<a> & "b"', text)
        self.assertEqual(len(switches), 2)

    def test_files_are_found_beside_their_scenario(self):
        self.file(TREE, "tree.topo")
        self.file("Nodes 32\nConnections 1\n0->9 start 0 size 5000\n", "one.cm")
        self.file("num_ranks 2\nrank 0 {\nl1: send 6000b to 1\n}\nrank 1 {\nl1: recv 6000b from 0\n}\n", "two.goal")
        fabric = "name: x\nfabric: {topology: file, file: tree.topo, nics: 32, link_rate: 100Gb/s}\n"
        jobs = "jobs: [{name: a, kind: goal, ranks: 2, file: two.goal}]"
        for traffic, sent in (("traffic: {kind: matrix, matrix: one.cm}\n", 5000), ("traffic: {kind: goal, file: two.goal}\n", 6000),
                              ("traffic: {kind: jobs}\n" + jobs, 6000)):
            path = self.file(fabric + traffic)
            self.assertIn("tree.topo", self.shown(path))
            for cwd in ("/", self.folder):
                run = weft.run("sim", path, "--json", cwd=cwd)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertEqual(json.loads(run.stdout)["goodput"]["payload_bytes"], sent)
        # as it is named goes first, and where there is none it is refused by that name
        path = self.file(fabric + "traffic: {kind: matrix, matrix: one.cm}\n")
        with tempfile.TemporaryDirectory() as other:
            pathlib.Path(other, "one.cm").write_text("Nodes 32\nConnections 1\n0->9 start 0 size 7000\n", encoding="utf-8")
            run = weft.run("sim", path, "--json", cwd=other)
            self.assertEqual(json.loads(run.stdout)["goodput"]["payload_bytes"], 7000)
        (self.folder / "one.cm").unlink()
        run = weft.run("sim", path, cwd="/")
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn("one.cm: cannot be read", run.stderr)

    def test_lossless_fabrics_show_what_follows_from_rates_and_delays(self):
        words = ("two-planes", "--set", "queue.pfc=true")
        shown = self.weft(*words).stdout
        run = weft.run("sim", *words, "--json")
        pfc = json.loads(run.stdout)["pfc"]
        self.assertGreater(pfc["headroom_low_bytes"], 0)
        for line in (f"PFC                  xoff {pfc['xoff_bytes']} B, xon {pfc['xon_bytes']} B",
                     f"headroom             {pfc['headroom_low_bytes']} B to {pfc['headroom_high_bytes']} B an in-port",
                     f"room of a switch     {pfc['switch_room_bytes']} B at most"):
            self.assertIn(line, shown)
        self.assertNotIn("data queue", shown)

    def test_a_footprint_says_where_memory_goes(self):
        run = weft.run("sim", "two-planes", "--footprint", "--json")
        footprint = json.loads(run.stdout)
        self.assertEqual((run.returncode, footprint["scenario"], footprint["nics"]), (0, "two-planes", 8))
        self.assertEqual(sum(footprint["bytes"].values()), footprint["total_bytes"])
        self.assertGreater(min(footprint["qp_bytes"], footprint["context_bytes"], footprint["ev_bytes"]), 0)

    def test_what_is_wrong_is_refused(self):
        for words, status, says in (
                ((), 2, "no scenario given"),
                (("two-planes", "two-racks"), 2, "'two-racks'"),
                (("two-planes", "--bogus"), 2, "--bogus"),
                (("nonsense",), 2, "'nonsense'"),
                (("two-planes", "--set", "fabric.nics=x"), 2, "--set:1:13: "),
                (("two-planes", "--svg", self.folder / "none" / "x.svg"), 2, "cannot write"),
                (("azure-gb200-llama405b", "--set", "limits.memory=1MiB"), 2, "no memory"),
                ((self.file("fabric: {topology: rail, nics: 20480, nics_per_host: 4, t1_count: 8}\ntraffic: {kind: permutation, bytes: 1MB}\n"),), 2,
                 "switch 0 of a plane would have 5128 ports; it may have 1 to 4096 (fabric.topology clos, with fabric.nics_per_t0, and fat-tree have smaller ones)")):
            run = self.weft(*words)
            self.assertEqual((run.returncode, run.stdout), (status, ""), words)
            self.assertIn(says, run.stderr)

    NS3 = "4 1 3\n0\n0 1 25Gbps 1us 0\n0 2 25Gbps 1us 0\n0 3 25Gbps 2000ns 0.001\n"
    CLAB = """topology:
  defaults: {kind: ceos}
  nodes: {tor-1: {}, tor-2: , a: {kind: linux}, b: {kind: linux}}
  links:
    - endpoints: [tor-1:e1, tor-2:e1]
    - endpoints: [tor-1:e2, tor-2:e2]
    - {type: veth, endpoints: [{node: a, interface: e1}, {node: tor-1, interface: e3}]}
    - endpoints: [a:e2, tor-2:e3]
    - endpoints: [b:e1, tor-1:e4]
    - endpoints: [b:e2, tor-2:e4]
"""

    def imported(self, text):
        made = self.shown("--import", self.file(text, "other.txt"))
        self.shown(self.file(made))  # it is a scenario
        return made

    def test_topologies_of_other_tools_become_scenarios(self):
        made = self.imported(self.NS3)
        for line in ("nics: 3", "link_rate: 25Gb/s", "nic_delay: 1000ns", "- {from: n0, nic: 0, count: 2} # n1 to n2",
                     "- {from: n0, nic: 2, delay: 2000ns} # n3", "- {kind: loss, at: {nic: 2}, probability: 0.1%}"):
            self.assertIn(line, made)
        self.assertIn("- {from: n0, nic: 1, rate: 10Gb/s} # n2", self.imported(self.NS3.replace("0 2 25", "0 2 10")))
        made = self.imported(self.CLAB)
        for line in ("nics_per_host: 2", "- {from: tor_1, to: tor_2, count: 2}", "- {from: tor_1, nic: 0} # a", "- {from: tor_2, nic: 3} # b"):
            self.assertIn(line, made)

    def test_what_a_graph_cannot_say_is_refused_with_its_line(self):
        for change, says in (
                (("4 1 3", "4 1 4"), "ends before its last link"), (("4 1 3", "4 1 3 8 H100"), "NVLink"),
                (("4 1 3", "4 2 3"), "1 switches are listed"), (("0 3 ", "1 3 "), "one end at least is a switch"), (("0 3 ", "0 7 "), "`7` is not a node"),
                (("1us", "1 us"), ":3:"), (("25Gbps", "25Gb"), "`25Gb` is not a rate"), (("0.001", "2"), "not a probability"), (("0 3 25", "0 2 25"), "has no link")):
            run = self.weft("--import", self.file(self.NS3.replace(*change, 1), "other.txt"))
            self.assertEqual((run.returncode, run.stdout), (2, ""), change)
            self.assertIn(says, run.stderr)
        for change, says in ((("topology:", "topology"), ":"), (("tor-2: ,", "tor-2: , tor_1: ,"), "`tor_1`"), (("[b:e2, tor-2:e4]", "[b:e2]"), "two `endpoints`"),
                             (("[b:e2, tor-2:e4]", "[b:e2, c:e4]"), "no node called `c`"), (("defaults: {kind: ceos}", "name: x"), "has no kind"),
                             (("nodes:", "knots:"), "neither a topology text")):
            run = self.weft("--import", self.file(self.CLAB.replace(*change, 1), "other.yml"))
            self.assertEqual((run.returncode, run.stdout), (2, ""), change)
            self.assertIn(says, run.stderr)
        for words, says in ((("two-planes", "--import", "x"), "not from 'two-planes'"), (("--import", self.folder / "none"), "none"), (("--import", self.folder), "folder")):
            run = self.weft(*words)
            self.assertEqual((run.returncode, run.stdout), (2, ""), words)
            self.assertIn(says, run.stderr)

    def test_a_picture_that_cannot_be_written_costs_no_table(self):
        run = self.weft("two-planes", "--svg", "/dev/full")
        self.assertEqual((run.returncode, run.stdout), (3, self.weft("two-planes").stdout))
        self.assertRegex(run.stderr, "^weft topology: /dev/full: cannot write: .*\n$")


if __name__ == "__main__":
    unittest.main()
