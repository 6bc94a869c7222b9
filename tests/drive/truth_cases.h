// SPDX-License-Identifier: Apache-2.0
// Small scenarios for tests of "two drivers, one truth", each with what it must show to deserve its
// name.
#pragma once

#include "../rig.h"

struct truth_case {
	const char *name;
	const char *yaml;
	uint64_t (*shows)(const struct rig *rig); // not 0 when what the name says did happen
	enum run_end end;
};

static uint64_t shows_spray(const struct rig *rig)
{
	return rig->outcome->fabric.forwarded[PACKET_CLASS_DATA];
}

static uint64_t shows_loss(const struct rig *rig)
{
	return rig->run.dropped[DROP_RANDOM_LOSS];
}

static uint64_t shows_damage(const struct rig *rig)
{
	return rig->run.dropped[DROP_BAD_FRAME];
}

static uint64_t shows_copies(const struct rig *rig)
{
	return rig->run.doubled * rig->outcome->transport.duplicates;
}

static uint64_t shows_held_back(const struct rig *rig)
{
	return rig->run.held_back;
}

static uint64_t shows_late_full(const struct rig *rig)
{
	return rig->run.reorder_queue_full;
}

static uint64_t shows_bursts(const struct rig *rig)
{
	return rig->run.dropped[DROP_BURST_LOSS];
}

static uint64_t shows_stall(const struct rig *rig)
{
	return rig->run.dropped[DROP_HOST_FULL] * rig->run.dropped[DROP_BAD_FRAME];
}

static uint64_t shows_trims(const struct rig *rig)
{
	return rig->outcome->fabric.trimmed * rig->outcome->transport.rtx[RTX_NACK];
}

static uint64_t shows_link_down(const struct rig *rig)
{
	return rig->run.dropped[DROP_LINK_DOWN] * rig->outcome->transport.paths_retired;
}

static uint64_t shows_planes(const struct rig *rig)
{
	const uint64_t *bytes = rig->outcome->transport.plane_bytes;
	return bytes[0] * bytes[1];
}

static uint64_t shows_collective(const struct rig *rig)
{
	return (uint64_t)rig->outcome->collectives[0].whole_ps;
}

static uint64_t shows_program(const struct rig *rig)
{
	const struct outcome_program *program = &rig->outcome->program;
	return program->fabric_bytes * program->scaleup_bytes;
}

static uint64_t shows_marks(const struct rig *rig)
{
	return rig->outcome->fabric.marked * rig->outcome->transport.marks_received;
}

static uint64_t shows_go_back(const struct rig *rig)
{
	return rig->outcome->transport.rtx[RTX_NACK] * rig->outcome->transport.out_of_window;
}

static uint64_t shows_cnps(const struct rig *rig)
{
	return rig->outcome->transport.cnps_received;
}

static uint64_t shows_held(const struct rig *rig)
{
	return rig->run.held;
}

#define TRUTH_FABRIC \
	"name: truth\nfabric: {nics: 16, nics_per_t0: 4, t1_count: 4, planes: 1, link_rate: " \
	"100Gb/s, nic_delay: 350ns, trunk_delay: 700ns, switch_delay: 140ns}\n" \
	"limits: {packets: 20000, memory: 256MiB}\n"
#define TRUTH_PLANES \
	"name: truth\nfabric: {nics: 16, nics_per_t0: 4, t1_count: 2, planes: 2, link_rate: " \
	"100Gb/s, nic_delay: 350ns, trunk_delay: 700ns, switch_delay: 140ns}\n" \
	"limits: {packets: 20000, memory: 256MiB}\n"
#define TRUTH_INCAST "traffic: {kind: incast, senders: 8, bytes: 60kB}\nqueue: {bytes: 30000B}\n"
#define TRUTH_LOSS "faults: [{kind: loss, at: all, probability: 1%}]\n"

static const struct truth_case truth_cases[] = {
	{"spray",
	 TRUTH_FABRIC "transport: {evs: 32, path: rotate}\n"
		      "traffic: {kind: permutation, bytes: 100kB}\n",
	 shows_spray, RUN_DONE},
	{"loss",
	 TRUTH_FABRIC "transport: {evs: 32, rto: 80us}\n"
		      "traffic: {kind: permutation, bytes: 60kB}\n" TRUTH_LOSS,
	 shows_loss, RUN_DONE},
	{"trims", TRUTH_FABRIC "transport: {evs: 32}\n" TRUTH_INCAST, shows_trims, RUN_DONE},
	{"damage",
	 TRUTH_PLANES "transport: {evs: 32, rto: 80us}\ntraffic: {kind: permutation, bytes: "
		      "60kB}\nfaults: [{kind: corrupt, at: all, probability: 2%}]\n",
	 shows_damage, RUN_DONE},
	{"damage and trims",
	 TRUTH_FABRIC "transport: {evs: 32}\n" TRUTH_INCAST
		      "faults: [{kind: corrupt, at: all, probability: 4%}]\n",
	 shows_damage, RUN_DONE},
	{"damage and trims, SRv6",
	 TRUTH_FABRIC "wire: {entropy: srv6, trim_lengths: kept}\ntransport: {evs: "
		      "32}\n" TRUTH_INCAST "faults: [{kind: corrupt, at: all, probability: 4%}]\n",
	 shows_damage, RUN_DONE},
	{"copies",
	 TRUTH_PLANES "transport: {evs: 32}\ntraffic: {kind: permutation, bytes: 60kB}\n"
		      "faults: [{kind: duplicate, at: all, probability: 10%}]\n",
	 shows_copies, RUN_DONE},
	{"packets held back",
	 TRUTH_PLANES "transport: {evs: 32, rto: 80us}\ntraffic: {kind: permutation, bytes: "
		      "60kB}\nfaults: [{kind: reorder, at: {plane: 1}, probability: 10%, delay: "
		      "20us}]\n",
	 shows_held_back, RUN_DONE},
	{"held back for longer than the wheel of windows goes",
	 TRUTH_PLANES "transport: {evs: 32, rto: 800us}\ntraffic: {kind: permutation, bytes: "
		      "60kB}\nfaults: [{kind: reorder, at: all, "
		      "probability: 5%, delay: 300us}]\n",
	 shows_held_back, RUN_DONE},
	{"everything at once, more than a cable can keep",
	 TRUTH_PLANES "transport: {evs: 32, rto: 80us, payload: 1024B}\ntraffic: {kind: "
		      "permutation, bytes: 200kB}\nfaults: [{kind: reorder, at: all, probability: "
		      "90%, delay: 30us}, {kind: duplicate, at: all, probability: 50%}, {kind: "
		      "corrupt, at: all, probability: 2%}, {kind: loss, at: all, probability: "
		      "2%}]\n",
	 shows_late_full, RUN_DONE},
	{"bursts",
	 TRUTH_PLANES
	 "transport: {evs: 32, rto: 80us}\ntraffic: {kind: permutation, bytes: "
	 "60kB}\nfaults: [{kind: burst, at: all, probability: 2%, burst: 4}, {kind: "
	 "burst, at: {nic: 1}, enter: 5%, leave: 30%, good_loss: 1%, bad_loss: 40%}]\n",
	 shows_bursts, RUN_DONE},
	{"a host that stalls, twice, under damage",
	 TRUTH_PLANES
	 "transport: {evs: 32, rto: 80us}\ntraffic: {kind: permutation, bytes: 300kB}\nfaults: "
	 "[{kind: stall, at: {host: 3}, from: 2us, until: 9us, queue: 6}, {kind: stall, at: {host: "
	 "3}, "
	 "from: 12us, until: 40us, queue: 6}, {kind: corrupt, at: all, probability: 2%}, {kind: "
	 "reorder, at: all, probability: 2%, delay: 3us}]\n",
	 shows_stall, RUN_DONE},
	{"slow lines, one way, and back again",
	 TRUTH_PLANES
	 "transport: {evs: 32, rto: 800us}\ntraffic: {kind: permutation, bytes: "
	 "100kB}\nfaults: [{kind: slow, at: {plane: 0}, way: down, rate: 30%}, {kind: "
	 "slow, at: {nic: 1}, rate: 55%, from: 4us, until: 9us}, {kind: loss, at: {nic: 2}, "
	 "way: up, probability: 20%}]\n",
	 shows_loss, RUN_DONE},
	{"link down",
	 TRUTH_PLANES "transport: {evs: 32, rto: 80us}\ntraffic: {kind: permutation, bytes: "
		      "100kB}\nfaults: [{kind: link_down, at: {t0: 1, plane: 0, up: 1}, from: 3us, "
		      "until: 30us}]\n",
	 shows_link_down, RUN_DONE},
	{"two planes",
	 TRUTH_PLANES "transport: {evs: 32, payload: 1024B}\ntraffic: {kind: permutation, bytes: "
		      "100kB}\n",
	 shows_planes, RUN_DONE},
	{"ring all-reduce",
	 TRUTH_PLANES "transport: {evs: 32}\ntraffic: {kind: ring, collective: all_reduce, ranks: "
		      "16, bytes: 512KiB, channels: 2}\n",
	 shows_collective, RUN_DONE},
	{"two GPUs a host",
	 "name: truth\nfabric: {nics: 16, nics_per_host: 2, nics_per_t0: 4, t1_count: 2, planes: "
	 "2, link_rate: 100Gb/s}\nscaleup: {rate: 450GB/s, delay: 900ns}\ntransport: {evs: 32}\n"
	 "traffic: {kind: ring, collective: reduce_scatter, ranks: 16, bytes: 1MiB, channels: 4}\n"
	 "limits: {packets: 20000, memory: 256MiB}\n",
	 shows_collective, RUN_DONE},
	{"connections that wait for others, at other hosts too",
	 TRUTH_PLANES "transport: {evs: 32, rto: 80us}\ntraffic: {kind: matrix, matrix: rig}\n"
		      "faults: [{kind: loss, at: all, probability: 1%}, {kind: stall, at: {host: "
		      "3}, from: 12us, until: 40us}]\n",
	 shows_loss, RUN_DONE},
	{"connections that wait for others, with two NICs a host",
	 "name: truth\nfabric: {nics: 16, nics_per_host: 2, nics_per_t0: 4, t1_count: 2, planes: "
	 "2, link_rate: 100Gb/s}\ntransport: {evs: 32}\ntraffic: {kind: matrix, matrix: rig, "
	 "signal_delay: 333ns}\nlimits: {packets: 20000, memory: 256MiB}\n",
	 shows_spray, RUN_DONE},
	{"a program, with more messages than a QP takes",
	 "name: truth\nfabric: {nics: 16, nics_per_host: 2, nics_per_t0: 4, t1_count: 2, planes: "
	 "2, link_rate: 100Gb/s}\nscaleup: {rate: 450GB/s, delay: 900ns}\ntransport: {evs: 32, "
	 "sends: 1, rto: 80us}\ntraffic: {kind: goal, file: rig}\nfaults: [{kind: loss, at: all, "
	 "probability: 2%}, {kind: stall, at: {host: 3}, from: 2us, until: 9us}, {kind: straggler, "
	 "at: {host: 5}, rate: 40%}]\nlimits: {packets: 20000, memory: 256MiB}\n",
	 shows_program, RUN_DONE},
	{"a program, with fewer contexts than QPs",
	 "name: truth\nfabric: {nics: 16, nics_per_host: 2, nics_per_t0: 4, t1_count: 2, planes: "
	 "2, link_rate: 100Gb/s}\nscaleup: {rate: 450GB/s, delay: 900ns}\ntransport: {evs: 32, "
	 "contexts: 2, qps_per_connection: 3}\ntraffic: {kind: goal, file: rig}\n"
	 "limits: {packets: 20000, memory: 256MiB}\n",
	 shows_program, RUN_DONE},
	{"RoCEv2: a program over two QPs",
	 "name: truth\nfabric: {nics: 16, nics_per_host: 2, nics_per_t0: 4, t1_count: 2, planes: "
	 "2, link_rate: 100Gb/s}\nscaleup: {rate: 450GB/s, delay: 900ns}\ncc: {algorithm: "
	 "fixed}\ntransport: {kind: rc, "
	 "rto: 80us, qps_per_connection: 2}\ntraffic: {kind: goal, file: rig}\n" TRUTH_LOSS
	 "limits: {packets: 20000, memory: 256MiB}\n",
	 shows_program, RUN_DONE},
	{"marks",
	 "name: truth\nfabric: {nics: 16, nics_per_t0: 4, t1_count: 2, planes: 1, link_rate: "
	 "100Gb/s}\ncc: {algorithm: nscc}\ntransport: {evs: 32}\n"
	 "traffic: {kind: permutation, bytes: 200kB}\n"
	 "limits: {packets: 20000, memory: 256MiB}\n",
	 shows_marks, RUN_DONE},
	{"IPv4 and loss",
	 TRUTH_PLANES "wire: {ip: 4}\ntransport: {evs: 32, rto: 80us}\n"
		      "traffic: {kind: permutation, bytes: 60kB}\n" TRUTH_LOSS,
	 shows_loss, RUN_DONE},
	{"IPv4 and trims", TRUTH_FABRIC "wire: {ip: 4}\ntransport: {evs: 32}\n" TRUTH_INCAST,
	 shows_trims, RUN_DONE},
	{"SRv6 and trims",
	 TRUTH_FABRIC "wire: {entropy: srv6}\ntransport: {evs: 32}\n" TRUTH_INCAST, shows_trims,
	 RUN_DONE},
	{"SRv6 with SRHs, and trims",
	 TRUTH_FABRIC "wire: {entropy: srv6, srh: true}\ntransport: {evs: 32}\n" TRUTH_INCAST,
	 shows_trims, RUN_DONE},
	{"flowlets, of switches and of hosts",
	 "name: truth\nfabric: {nics: 16, nics_per_t0: 4, t1_count: 4, planes: 2, link_rate: "
	 "100Gb/s, spray: flowlet}\nlimits: {packets: 20000, memory: 256MiB}\n"
	 "transport: {evs: 32, path: flowlet, rto: 80us}\ntraffic: {kind: permutation, bytes: "
	 "100kB}\n" TRUTH_LOSS,
	 shows_loss, RUN_DONE},
	{"source routes with SRHs, and trims",
	 "name: truth\nfabric: {nics: 16, nics_per_t0: 4, t1_count: 4, planes: 1, link_rate: "
	 "100Gb/s, forwarding: usid}\nlimits: {packets: 20000, memory: 256MiB}\n"
	 "wire: {srh: true}\ntransport: {evs: 32}\n" TRUTH_INCAST,
	 shows_trims, RUN_DONE},
	{"source routes over a link that is down, and damage",
	 "name: truth\nfabric: {nics: 16, nics_per_t0: 4, t1_count: 2, bundle: 2, planes: 2, "
	 "link_rate: 100Gb/s, forwarding: usid}\nlimits: {packets: 20000, memory: 256MiB}\n"
	 "transport: {evs: 32, rto: 80us}\ntraffic: {kind: permutation, bytes: 100kB}\nfaults: "
	 "[{kind: link_down, at: {t0: 1, plane: 0, up: 1}, from: 3us, until: 30us}, {kind: "
	 "corrupt, at: all, probability: 1%}]\n",
	 shows_link_down, RUN_DONE},
	{"SRv6 around IPv4, and loss",
	 TRUTH_PLANES "wire: {entropy: srv6, ip: 4}\ntransport: {evs: 32, rto: 80us}\n"
		      "traffic: {kind: permutation, bytes: 60kB}\n" TRUTH_LOSS,
	 shows_loss, RUN_DONE},
	{"EV in the port alone, and trims",
	 TRUTH_FABRIC "wire: {entropy: port}\ntransport: {evs: 32}\n" TRUTH_INCAST, shows_trims,
	 RUN_DONE},
	{"lengths kept in trims",
	 TRUTH_FABRIC "wire: {trim_lengths: kept}\ntransport: {evs: 32}\n" TRUTH_INCAST,
	 shows_trims, RUN_DONE},
	{"UDP checksum and trims",
	 TRUTH_FABRIC "wire: {udp_checksum: true}\ntransport: {evs: 32}\n" TRUTH_INCAST,
	 shows_trims, RUN_DONE},
	{"the other port, the other half of an EV",
	 TRUTH_FABRIC "wire: {port: 4971, ev: port-low}\ntransport: {evs: 32, rto: 80us}\n"
		      "traffic: {kind: permutation, bytes: 60kB}\n" TRUTH_LOSS,
	 shows_loss, RUN_DONE},
	{"fat tree",
	 "name: truth\nfabric: {topology: fat-tree, nics: 16, tor_nics: 2, pod_tors: 2, pod_aggs: "
	 "2, cores: 4, link_rate: 100Gb/s}\ntransport: {evs: 16}\n"
	 "traffic: {kind: permutation, bytes: 60kB}\nlimits: {packets: 20000, memory: 256MiB}\n",
	 shows_spray, RUN_DONE},
	{"RoCEv2: go-back-N",
	 TRUTH_PLANES "cc: {algorithm: fixed}\ntransport: {kind: rc, rto: 80us}\ntraffic: {kind: "
		      "permutation, bytes: "
		      "60kB}\n" TRUTH_LOSS,
	 shows_go_back, RUN_DONE},
	{"RoCEv2: flows of four QPs, and loss",
	 TRUTH_PLANES "cc: {algorithm: fixed}\ntransport: {kind: rc, rto: 80us, "
		      "qps_per_connection: 4}\ntraffic: {kind: "
		      "permutation, bytes: 60kB}\n" TRUTH_LOSS,
	 shows_go_back, RUN_DONE},
	{"rounds of flows of three QPs, with fewer contexts",
	 TRUTH_PLANES "transport: {evs: 32, rto: 80us, contexts: 4, qps_per_connection: 3}\n"
		      "traffic: {kind: butterfly, bytes: 20kB}\n" TRUTH_LOSS,
	 shows_loss, RUN_DONE},
	{"RoCEv2: CNPs in IPv4",
	 TRUTH_FABRIC "wire: {ip: 4}\ncc: {algorithm: fixed}\ntransport: {kind: rc, rto: 80us}\n"
		      "traffic: {kind: incast, senders: 8, bytes: 60kB}\nqueue: {bytes: 400kB, "
		      "ecn_last_hop: true}\n",
	 shows_cnps, RUN_DONE},
	{"RoCEv2: a ring of four QPs, SRv6 for others",
	 TRUTH_PLANES "wire: {entropy: srv6, port: 4971}\n"
		      "cc: {algorithm: fixed}\ntransport: {kind: rc, rto: 80us, "
		      "qps_per_connection: 4}\ntraffic: {kind: "
		      "ring, collective: all_reduce, ranks: 16, bytes: 512KiB}\n",
	 shows_collective, RUN_DONE},
	{"an end on the way",
	 "name: truth\nfabric: {nics: 16, nics_per_t0: 4, t1_count: 4, planes: 1, link_rate: "
	 "100Gb/s}\ntransport: {evs: 32}\ntraffic: {kind: permutation, bytes: 100kB}\n"
	 "limits: {packets: 20000, memory: 256MiB, time: 5777ns}\n",
	 shows_held, RUN_TIME},
};

#define TRUTH_CASES (sizeof(truth_cases) / sizeof(*truth_cases))
