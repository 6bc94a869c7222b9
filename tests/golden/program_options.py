#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bad command lines: each is refused with status 2 and one line that names the option and what would be right, and nothing
is printed. A row is a program, its words, and what that line has. For all programs alike: an unknown option, one that is
nearly right, a missing value, a value for a flag, and a word too many."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

WEFT = os.environ["WEFT"]
ROWS = """
top        --interval x              | --interval is a number from 0.1 to 3600, not 'x'
top        --interval 1 --interval 2 | --interval is given twice
top        a b                       | unexpected argument 'b'
trace      x --ranks 0 --export goal --out y | --ranks is a whole number from 1 to 1000000, not '0'
trace      x --export goal           | --export needs --out
trace      x --out y                 | --out needs --export
trace      x --force                 | --force needs --export
trace      x --json --export goal --out y | --json has no effect with --export
trace                                | no file given
sim        clso                      | no scenario 'clso' is shipped; did you mean clos-131072?
sim        incast --fidelity modle    | --fidelity is model, sample, full or all, not 'modle'; did you mean model?
sim        compare-ring --variant dcqn-4 | there is no variant dcqn-4; did you mean dcqcn-4?
coll       alreduce                  | alltoall, broadcast, reduce, gather, scatter, sendrecv; did you mean all_reduce?
coll       all_reduce --algorithm rng | direct or hierarchical, not 'rng'; did you mean ring?
coll       all_reduce -d flaot       | there is no data type 'flaot'; did you mean float?
expect     rail-8x4 --collective alreduce | not 'alreduce'; did you mean all_reduce?
tune       incast --aim goodput_bp   | there is no figure `goodput_bp`; did you mean goodput_bps?
tune       incast --engine cmase     | there is no engine 'cmase'; there are: cmaes crs2 direct sbplx random; did you mean cmaes?
goodput    x --rates llama3          | --rates is a name of --list, not 'llama3'; did you mean llama-3?
goodput    x --recovery nvrx-injob   | --recovery is a name of --list, not 'nvrx-injob'; did you mean nvrx-in-job?
goodput    x --rate gpux=1           | --list has no component 'gpux'; did you mean gpu?
plan       llama-small --set hiden=2     | there is no size hiden; did you mean hidden?
plan       llama-small --set cut.dp=2    | there is no size cut.dp; did you mean dp?
sim        incast --set cut.dp=2     | there is no key cut.dp; did you mean the key of a job file, which traffic.model names?
trace      x --format chakr          | aicb-csv or goal, not 'chakr'; did you mean chakra?
trace      x --export gaol           | --export is chakra, goal or simai, not 'gaol'; did you mean goal?
pcap       anlyze x                  | there is no verb 'anlyze'; did you mean analyze?
pcap       analyze x --csv --rows steams | dscp_changes or rules, not 'steams'; did you mean streams?
bench      sm                        | weft bench measures sim or dpdk, not 'sm'
bench      sim --show incst32-400g         | --list names the cases; there is no 'incst32-400g'; did you mean incast32-400g?
validate-fabric incast --out y --only permutation1 | is called 'permutation1'; did you mean permutation-1?
validate-fabric incast --out y --require basline | or names of these; not 'basline'; did you mean baseline?
sim        incats                    | no scenario 'incats' is shipped; did you mean incast?
sim        two-rack                  | no scenario 'two-rack' is shipped; did you mean two-racks?
sim        torus                     | no scenario 'torus' is shipped; did you mean torus-4x4x4?
sim        qqq                       | no scenario 'qqq' is shipped; there are: a100-4096
sim        incast --set a=b          | there is no key a
sim        incast --set traffic.kind=all-reduce | jobs, gradients; did you mean collective, with traffic.collective all_reduce?
sim        incast --set traffic.kind=alltoall | jobs, gradients; did you mean all_to_all?
sim        incast --set transport.kind=rocev2 | it may be: mrc, rc; RoCEv2 is rc
sim        rail-8x4 --set traffic.collective=allreduce | send_receive; did you mean all_reduce?
sim        rail-8x4 --set scaleup.rate=none | nothing joins them; give scaleup.rate, as 450GB/s
sim        compare-ring --pcap x     | --pcap is of one run, and this scenario has 9 variants: choose one with --variant NAME
coll       allreduce                 | there is no collective 'allreduce'; there are: all_reduce, reduce_scatter
coll       all_reduce rail-8x4       | --scenario names the scenario; unexpected argument 'rail-8x4'
pcap       analyz x                  | the verbs are analyze, anonymize, capture, diff, gen, replay, send; there is no verb 'analyz'
pcap       --json send               | options stand behind the verb: 'send'
sim        incast --fault flap       | --fault:1:1: a fault is a YAML map on one line of less than 1024 bytes, as in {
mllog      x --block 1.5             | --block is a whole number from 1 to 100000, not '1.5'
mllog      x --within 3              | --within needs --result
mllog      x --ratios --json         | --ratios has no effect with --json
verdict    x                         | no profile given: --profile is needed
verdict    x --profile p --force     | --force needs --junit
verdict    --list --json             | --list goes alone; unexpected argument '--json'
report     x --force                 | --force needs --out or --no-manifest
report     x --no-files --quiet      | --no-files has no effect with --quiet
plan       x --tray 0                | --tray is a whole number from 1 to 1000000, not '0'
plan       --list-keys x             | --list-keys goes alone; unexpected argument 'x'
compare    a                         | no second result given
compare    a b --all --json          | --all has no effect with --json
compare    a b --within nan          | --within is a number from 0 to 1000000, not 'nan'
validate   --differences             | --differences needs --data
validate   --matrices 11             | --matrices is a whole number from 1 to 10, not '11'
validate-fabric x --out y --ports none | --ports needs --with emu
validate-fabric x --out y --with z   | --with is sim or emu, not 'z'
validate-fabric x --out y --jobs 65  | --jobs is a whole number from 1 to 64, not '65'
validate-fabric x                    | no folder given: --out is needed
scaling    x --racks 1 --sample y    | --sample needs --fidelity sample
scaling    x --racks 1 --seeds 3     | --seeds needs --jitter or --fidelity sample
scaling    x --racks 1 --json --csv  | --json has no effect with --csv
scaling    x --racks 1 --fidelity full  | --fidelity is model or sample, not 'full'
bench      sim --list --json x       | --json has no effect with --list
bench      sim --force --json -      | --force has no effect with --json -
bench      sim --only a --scenario b | --only has no effect with --scenario
bench      sim two                   | unexpected argument 'two'
sim        incast --gpu-timeout 3   | unknown option --gpu-timeout
sim        incast --fidelty model      | unknown option --fidelty; did you mean --fidelity?
sim        incast --fidelity deep       | --fidelity is model, sample, full or all, not 'deep'
sim        incast --order x          | --order needs --fidelity
sim        incast --fidelity all --explain | --explain needs --fidelity sample
sim        incast --fidelity model --steps 3 | --steps needs --jitter or --record-rank
sim        incast --fidelity full --jitter 1 --steps 3 | --steps needs --fidelity model or --fidelity sample
sim        incast --fidelity model --pcap x | --pcap has no effect with --fidelity
sim        incast --jobs 3           | --jobs needs --seeds or --sweep
sim        incast --seeds 1          | --seeds is a whole number from 2 to 10000, not '1'
sim        incast --export goal      | --export needs --out
sim        incast --export goal --out x --quiet | --export has no effect with --quiet
sim        incast --footprint --quiet | --footprint has no effect with --quiet
sim        incast --force            | --force needs --out, --pcap or --log
sim        incast --skip-damaged     | --skip-damaged needs --trace
sim        incast --tap x            | --tap needs --pcap or --log
sim        incast --fast-forward x           | --fast-forward is steady, not 'x'
sim        --list x                  | --list goes alone; unexpected argument 'x'
emu        incast --export goal      | unknown option --export
emu        incast --lanes 17         | --lanes is a whole number from 1 to 16, not '17'
emu        incast --gpu-timeout 3   | --gpu-timeout needs --gpu
emu        incast --gpu-barrier      | --gpu-barrier needs --gpu
goodput    x --repair 3h             | --repair needs --spares
goodput    x --outage 3y             | --outage is a time from 1ns on, as 50us or 10min
goodput    x --checkpoint never      | --checkpoint is a time from 1ns on
goodput    x --faults 1s --runs 3    | --runs has no effect with --faults
goodput    x --rate gpu=x            | --rate COMPONENT=RATE is a number from 0 to
gpu                                  | no link to a run given: --link is needed
gpu        --link x --scale 3        | --scale needs --play
gpu        --play x --ranks 3        | --ranks has no effect with --play
gpu        --link x --load sleep     | --load is spin, copy or matrix, not 'sleep'
gpu        --probe --json            | --json has no effect with --probe
coll       all_reduce -t 4           | -t has no effect here: there are no threads; ranks are --ranks, GPUs of a host -g
coll       all_reduce -b 4X          | --minbytes is 1 or more, as 4096 or 4K, not '4X'
coll       all_reduce -c 2           | --check is 0 or 1, not '2'
coll       all_reduce -f 2 -i 4      | --stepfactor has no effect with --stepbytes
host       --to a --ramp 1s          | --ramp needs --max-rate
host       --to a -b 4KiB            | --minbytes is 1 to 2147483648, as 4096 or 4K, not '4KiB'
host       --to a --depth 129        | --depth is a whole number from 1 to 128, not '129'
host       --to a --from b           | --from needs --probe
host       --to a --force            | --force needs --pcap or --out
host       --to a --max-lateness 0ns | --max-lateness is a time from 1ns on
pcap       analyze x --json --csv    | --json has no effect with --csv
pcap       analyze x --nic a --before b | --nic needs --after
pcap       analyze x --rows streams  | --rows needs --csv
pcap       analyze x --whole         | --whole has no effect here: it goes with capture
pcap       anonymize x --speed 3     | --speed has no effect here: it goes with send and replay
pcap       capture x -o y --count 0  | --count is a whole number from 1 to
pcap       capture x -o y --after 3  | --after needs --trigger
pcap       capture x -o y --ring 3   | --ring needs --file-mb
pcap       capture x                 | no output file given: -o FILE
pcap       send x                    | no capture or device given
pcap       send x y --drift 1001     | --drift is a number from -1000 to 1000, not '1001'
pcap       replay x y --packets --speed 0 | --speed is a number from 1e-06 to 1000000, not '0'
pcap       replay x y --loops 3      | --speed, --drift and --loops need --packets
pcap       diff x y --json           | unknown option --json
tune       x --over best             | --over is mean, worst or cvar, not 'best'
tune       x --parts 1001            | --parts is a whole number from 1 to 1000, not '1001'
tune       export x --as junos       | --as is mrc, dcqcn, sonic, cumulus or nccl, not 'junos'
tune       report x --json --out y   | --out has no effect with --json
tune       show x --curves 3         | --curves, --out and --force go with report alone; --study names the file of a study
topology   x --force                 | --force needs --svg
topology   --import x --set a=b      | --import has no effect with --set
topology                             | no scenario given
emu                                  | no scenario; try `weft emu two-racks`
emu        incast --ports none --lanes 2 | --lanes has no effect here; it needs --ports ring
bench                                | no benchmark given
bench      dpdk --instructions       | --instructions has no effect with 'dpdk'
bench      dpdk --list               | --list and --show have no effect with 'dpdk'
bench      dpdk --repeat 300         | --repeat is at most 200 with 'dpdk'
sim        incast --seed x           | --seed is a whole number, not 'x'
scaling    x                         | no racks given: --racks is needed
scaling    x --racks 1,1             | --racks has a number twice: '1,1'
plan                                 | no job given
host                                 | --rank and --ranks, which mpirun and srun set
pcap       analyze x --force         | --force needs --annotate, --trace or --page
pcap       capture x -o y --trigger nack --ce-burst 3 | --ce-burst needs --trigger ce
"""
MOVED = ["top", "trace", "mllog", "verdict", "report", "plan", "compare", "topology", "validate", "scaling", "bench", "validate-fabric", "sim", "emu", "goodput", "gpu", "coll", "host", "pcap", "tune"]  # programs whose options are rows


class Options(unittest.TestCase):
    def refused(self, words, says):
        with self.subTest(words=" ".join(words)):
            run = subprocess.run([WEFT, *words], capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL)
            self.assertEqual((run.returncode, run.stdout, run.stderr.count("\n")), (2, "", 1), run.stderr)
            self.assertIn(says, run.stderr)
            self.assertTrue(run.stderr.startswith(f"weft {words[0]}: "), run.stderr)

    def test_the_table(self):
        for row in filter(None, ROWS.split("\n")):
            words, _, says = row.partition("|")
            self.refused(words.split(), says.strip())

    def test_a_program_away_from_its_scenarios_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            weft_sim = shutil.copy(pathlib.Path(WEFT).resolve().parent / "weft-sim", folder)
            run = subprocess.run([weft_sim, "incast"], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 2)
        self.assertIn("no scenario 'incast': the shipped ones are not where this program looks, in ../../apps and ../share/weft beside it", run.stderr)

    def test_all_programs_alike(self):
        for program in MOVED:
            text = subprocess.run([WEFT, "help", program], capture_output=True, text=True, check=True).stdout
            names = re.findall(r"^    (?:-\w, )?--([a-z-]{5,}) (?=[A-Z])", text, re.M)
            self.refused([program, "--bogus-option"], "unknown option --bogus-option (--help lists the options)")
            self.refused([program, "--jsxn" if "--json" in text else "--versoin"], "did you mean --")
            self.refused([program, "--help=3"], "--help takes no value")
            for name in names[:1]:
                self.refused([program, f"--{name}"], f"--{name} needs a value")


if __name__ == "__main__":
    unittest.main()
