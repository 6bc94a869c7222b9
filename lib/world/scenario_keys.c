// SPDX-License-Identifier: Apache-2.0
// The one table of all keys of a scenario: name, unit, default, range, meaning, the field each
// fills, and when it has an effect. docs/scenario.md lists the same keys; a test compares.
// Sources of defaults: docs/scenario.md.

#include "scenario_keys.h"

#include <stddef.h>
#include <string.h>

#include <weft/check.h>

// Where a field lies and how long it is.
#define IN(type, field) offsetof(type, field), sizeof(((type *)NULL)->field)
#define SCENARIO(field) IN(struct scenario, field)

static const char *const flag_words[] = {"false", "true", NULL};
static const char *const not_words[] = {"true", "false", NULL}; // the field says the opposite
static const char *const topology_words[] = {"clos", "fat-tree", "leaf-spine", NULL};
static const char *const trim_words[] = {"coin", "arriving", "newest", NULL};
static const char *const transport_words[] = {"mrc", "rc", NULL};
static const char *const path_words[] = {"rotate", "mrc", "single", NULL};
static const char *const sack_words[] = {"mrc", "htsim", NULL};
static const char *const window_words[] = {"nack", "silent", NULL};
static const char *const cc_words[] = {"fixed", "nscc", NULL};
static const char *const kind_words[] = {"flows", "permutation", "incast", "ring",
					 "model", "trace",	 NULL};
static const char *const collective_words[] = {"reduce_scatter", "all_gather", "all_reduce", NULL};
static const char *const form_words[] = {"pipelined", "barrier", NULL};
static const char *const off_words[] = {"off", NULL};
static const char *const fault_words[] = {"link_down", "loss", "flap", NULL};
static const char *const entropy_words[] = {"port", "stev", "srv6", NULL};
static const char *const ev_words[] = {"port-high", "port-low", NULL};
static const char *const lengths_words[] = {"kept", "rewritten", NULL};
static const char *const keep_words[] = {"whole", "headers", NULL};
static const char *const direction_words[] = {"both", "up", "down", NULL};
static const char *const all_words[] = {"all", NULL};
static const char *const measure_words[] = {"goodput", "retransmitted", NULL};
static const char *const formula_words[] = {
	"one_way",	 "ring_writes", "planes_left", "planes_flapping",
	"loss_repaired", "loss_on_way", NULL};
static const char *const origin_words[] = {"fact", "assumed", "calibrated", NULL};

#define KIB UINT64_C(1024)
#define MIB (KIB * KIB)
#define GIB (KIB * MIB)
#define U32 UINT64_C(0xfffffffe)
#define I64 ((uint64_t)INT64_MAX)
#define GBPS UINT64_C(1000000000)
#define NICS_MAX (UINT64_C(1) << 20)
#define SECOND ((uint64_t)PS_PER_S)
#define US ((uint64_t)PS_PER_US)

// path, unit, default, meaning, field, min, max, word for 0, words, use
static const struct scenario_key keys[] = {
	{"name", "text", "unnamed", "Name of the scenario in results.", SCENARIO(name), 0, 0, NULL,
	 NULL, USE_ALWAYS},
	{"description", "text", "-", "One line about the scenario.", SCENARIO(description), 0, 0,
	 NULL, NULL, USE_ALWAYS},
	{"seed", "count", "1", "Names the random streams of a run.", SCENARIO(seed), 0, I64, NULL,
	 NULL, USE_ALWAYS},

	{"fabric.topology", "word", "clos",
	 "Shape of a plane: clos (T0, T1), leaf-spine (clos with one plane), fat-tree (three "
	 "tiers).",
	 SCENARIO(fabric.kind), 0, 0, NULL, topology_words, USE_ALWAYS},
	{"fabric.nics", "count", "required", "NICs (one per GPU) in the fabric.",
	 SCENARIO(fabric.nics), 2, NICS_MAX, NULL, NULL, USE_ALWAYS},
	{"fabric.nics_per_host", "count", "1",
	 "NICs of one host: a server, or a rack with one scale-up domain.",
	 SCENARIO(fabric.nics_per_host), 1, 1024, NULL, NULL, USE_ALWAYS},
	{"fabric.planes", "count", "1", "Ports of a NIC, each into its own copy of the fabric.",
	 SCENARIO(fabric.planes), 1, PLANES_MAX, NULL, NULL, USE_PLANES},
	{"fabric.link_rate", "rate", "100Gb/s", "Rate of each NIC port and each switch port.",
	 SCENARIO(fabric.link_rate_bps), GBPS / 10, 8000 * GBPS, NULL, NULL, USE_ALWAYS},
	{"fabric.nic_delay", "time", "500ns", "Propagation between a NIC and its switch.",
	 SCENARIO(fabric.nic_delay_ps), 1, SECOND / 10, NULL, NULL, USE_ALWAYS},
	{"fabric.trunk_delay", "time", "500ns", "Propagation between two switches.",
	 SCENARIO(fabric.trunk_delay_ps), 1, SECOND / 10, NULL, NULL, USE_ALWAYS},
	{"fabric.switch_delay", "time", "500ns", "Latency of a switch.",
	 SCENARIO(fabric.switch_delay_ps), 0, SECOND / 10, NULL, NULL, USE_ALWAYS},
	{"fabric.nics_per_t0", "count", "required", "NICs below a T0 switch.",
	 SCENARIO(fabric.nics_per_t0), 1, 65535, NULL, NULL, USE_CLOS},
	{"fabric.t1_count", "count", "required", "T1 switches of a plane.",
	 SCENARIO(fabric.t1_count), 0, 65535, NULL, NULL, USE_CLOS},
	{"fabric.bundle", "count", "1", "Links between a T0 and a T1 switch.",
	 SCENARIO(fabric.bundle), 1, 1024, NULL, NULL, USE_CLOS},
	{"fabric.tor_nics", "count", "required", "NICs below a ToR switch.",
	 SCENARIO(fabric.tor_nics), 1, 65536, NULL, NULL, USE_FAT_TREE},
	{"fabric.pod_tors", "count", "required", "ToR switches of a pod.",
	 SCENARIO(fabric.pod_tors), 1, 65536, NULL, NULL, USE_FAT_TREE},
	{"fabric.pod_aggs", "count", "required", "Aggregation switches of a pod.",
	 SCENARIO(fabric.pod_aggs), 1, 65536, NULL, NULL, USE_FAT_TREE},
	{"fabric.cores", "count", "required", "Core switches; a multiple of pod_aggs.",
	 SCENARIO(fabric.cores), 0, 65536, NULL, NULL, USE_FAT_TREE},

	{"queue.bytes", "bytes", "auto",
	 "Data queue of a switch port; auto is one bandwidth-delay product in whole packets.",
	 SCENARIO(fabric.queue_bytes), 1, GIB, "auto", NULL, USE_ALWAYS},
	{"queue.control_bytes", "bytes", "auto",
	 "Queue for control packets and trimmed headers; auto is twice the data queue.",
	 SCENARIO(fabric.control_queue_bytes), 1, GIB, "auto", NULL, USE_ALWAYS},
	{"queue.ecn", "flag", "true", "Whether switches mark packets.", SCENARIO(fabric.ecn_on), 0,
	 1, NULL, flag_words, USE_ALWAYS},
	{"queue.ecn_low", "bytes", "auto",
	 "Depth at which marking starts; auto is 20 % of the queue.",
	 SCENARIO(fabric.ecn_low_bytes), 1, GIB, "auto", NULL, USE_ECN},
	{"queue.ecn_high", "bytes", "auto",
	 "Depth from which every packet is marked; auto is 80 % of the queue.",
	 SCENARIO(fabric.ecn_high_bytes), 1, GIB, "auto", NULL, USE_ECN},
	{"queue.ecn_last_hop", "flag", "false", "Whether ports towards NICs mark, too.",
	 SCENARIO(fabric.ecn_last_hop), 0, 1, NULL, flag_words, USE_ECN},
	{"queue.trim", "flag", "true", "Whether a full queue trims packets instead of dropping.",
	 SCENARIO(fabric.trim_on), 0, 1, NULL, flag_words, USE_ALWAYS},
	{"queue.trim_bytes", "bytes", "142B",
	 "What a trimmed packet occupies on the line; at most transport.header.",
	 SCENARIO(fabric.trim_bytes), 24, 65535, NULL, NULL, USE_TRIM},
	{"queue.trim_choice", "word", "arriving",
	 "Which packet a full queue trims: the arriving, the newest queued, or one of both by "
	 "coin.",
	 SCENARIO(fabric.trim_choice), 0, 0, NULL, trim_words, USE_TRIM},

	{"scaleup.rate", "rate", "none",
	 "Rate of one GPU into its host's scale-up domain, each way; none: no such domain.",
	 SCENARIO(scaleup.rate_bps), GBPS, 100000 * GBPS, "none", NULL, USE_HOST},
	{"scaleup.delay", "time", "3us", "Latency of a transfer inside the scale-up domain.",
	 SCENARIO(scaleup.delay_ps), 0, SECOND, NULL, NULL, USE_SCALEUP},

	{"transport.kind", "word", "mrc",
	 "Multipath Reliable Connection, or rc: RoCEv2's reliable connection, to compare with.",
	 SCENARIO(transport.kind), 0, 0, NULL, transport_words, USE_ALWAYS},
	{"transport.qps_per_connection", "count", "1",
	 "QPs of each connection of a ring; slices go to them in turn.",
	 SCENARIO(qps_per_connection), 1, 128, NULL, NULL, USE_RINGS},
	{"transport.payload", "bytes", "4096B", "Payload of a full packet (path MTU).",
	 SCENARIO(transport.payload_bytes), 64, 65000, NULL, NULL, USE_ALWAYS},
	{"transport.header", "bytes", "162B",
	 "All else of a data packet on the line, preamble and gap included.",
	 SCENARIO(transport.header_bytes), 1, 1024, NULL, NULL, USE_ALWAYS},
	{"transport.control", "bytes", "178B", "A SACK or NACK on the line.",
	 SCENARIO(transport.control_bytes), 24, 1024, NULL, NULL, USE_ALWAYS},
	{"transport.evs", "count", "256",
	 "Entropy values (paths) of a connection; per plane a power of two.",
	 SCENARIO(transport.ev_count), 1, 65536, NULL, NULL, USE_ALWAYS},
	{"transport.path", "word", "mrc",
	 "How packets are spread: rotate over all paths, mrc (rotate, passing over bad ones), "
	 "single.",
	 SCENARIO(transport.path_policy), 0, 0, NULL, path_words, USE_ALWAYS},
	{"transport.mpr", "count", "4096", "Packets in flight at most; a power of two.",
	 SCENARIO(transport.mpr), 64, 32768, NULL, NULL, USE_ALWAYS},
	{"transport.sends", "count", "64", "Work requests that a connection holds at most.",
	 SCENARIO(transport.sends_max), 1, 65536, NULL, NULL, USE_ALWAYS},
	{"transport.wimm", "count", "64", "Writes with immediate in flight at most.",
	 SCENARIO(transport.wimm_max), 32, 32768, NULL, NULL, USE_ALWAYS},
	{"transport.sack_rule", "word", "mrc",
	 "When a SACK is sent; htsim also sends one for a connection's first packet.",
	 SCENARIO(transport.sack_rule), 0, 0, NULL, sack_words, USE_ALWAYS},
	{"transport.sack_bytes", "bytes", "16KiB", "Received bytes that cause a SACK.",
	 SCENARIO(transport.sack_bytes), 1, 16 * MIB, NULL, NULL, USE_ALWAYS},
	{"transport.trim_nack", "flag", "true", "Whether a trimmed packet is answered by a NACK.",
	 SCENARIO(transport.trim_nack), 0, 1, NULL, flag_words, USE_TRIM},
	{"transport.out_of_window", "word", "nack",
	 "What a receiver does with a packet above its window: nack, or silent.",
	 SCENARIO(transport.out_of_window), 0, 0, NULL, window_words, USE_ALWAYS},
	{"transport.hole_age", "time", "auto",
	 "A hole this much older than the newest received packet is held lost; auto: 1.25 base "
	 "round trips and the queues of the trunks; off: timer and NACK only.",
	 SCENARIO(transport.hole_age_ps), 1, SECOND, "off", NULL, USE_ALWAYS},
	{"transport.rto", "time", "262.144us", "Base of the retransmit timer.",
	 SCENARIO(transport.rto_ps), US, 20 * SECOND, NULL, NULL, USE_ALWAYS},
	{"transport.rto_linear", "count", "7",
	 "Tries at the base interval; waits and NACKs use them up.", SCENARIO(transport.rto_linear),
	 0, 7, NULL, NULL, USE_ALWAYS},
	{"transport.rto_doublings", "count", "7",
	 "Doublings of the interval after these; then the connection fails.",
	 SCENARIO(transport.rto_doublings), 0, 25, NULL, NULL, USE_ALWAYS},
	{"transport.path_retry", "time", "1ms", "After this time a path held bad is tried again.",
	 SCENARIO(transport.path_retry_ps), US, 1000 * SECOND, NULL, NULL, USE_MRC_PATHS},

	{"cc.algorithm", "word", "nscc", "Congestion control: fixed window, or NSCC.",
	 SCENARIO(transport.cc.name), 0, 0, NULL, cc_words, USE_ALWAYS},
	{"cc.window", "bytes", "auto", "The fixed window; auto is 1.5 bandwidth-delay products.",
	 SCENARIO(transport.cc.window_bytes), 64, U32, "auto", NULL, USE_FIXED},
	{"cc.htsim", "flag", "false", "NSCC as htsim has it, to compare like with like.",
	 SCENARIO(transport.cc.is_htsim), 0, 1, NULL, flag_words, USE_NSCC},
	{"cc.target_delay", "time", "auto",
	 "Queueing delay that NSCC aims at; auto is 0.75 of the base RTT, 1.0 without trimming.",
	 SCENARIO(transport.cc.target_delay_ps), 1, SECOND, "auto", NULL, USE_NSCC},
	{"cc.max_window", "bytes", "auto",
	 "Largest and first window; auto is 1.5 bandwidth-delay products.",
	 SCENARIO(transport.cc.max_cwnd_bytes), 64, U32, "auto", NULL, USE_NSCC},
	{"cc.qa_gate", "count", "3",
	 "Quick adapt acts when less than 1/2^gate of the largest window arrived.",
	 SCENARIO(transport.cc.qa_gate), 1, 15, NULL, NULL, USE_QUICK_ADAPT},
	{"cc.qa_threshold", "time", "auto", "Delay that triggers quick adapt.",
	 SCENARIO(transport.cc.qa_threshold_ps), 1, SECOND, "auto", NULL, USE_QUICK_ADAPT},
	{"cc.quick_adapt", "flag", "true", "Whether NSCC cuts its window to what arrived.",
	 SCENARIO(transport.cc.disable_qa), 0, 1, NULL, not_words, USE_NSCC},

	{"traffic.kind", "word", "required",
	 "flows, permutation, incast, ring (one collective), model (a training step), trace "
	 "(SimAI).",
	 SCENARIO(traffic.kind), 0, 0, NULL, kind_words, USE_ALWAYS},
	{"traffic.bytes", "bytes", "required",
	 "Size of each message (permutation, incast) or of the ring's whole buffer.",
	 SCENARIO(traffic.bytes), 1, UINT64_C(1) << 50, NULL, NULL, USE_BYTES},
	{"traffic.senders", "count", "required", "NICs that send to the one receiver.",
	 SCENARIO(traffic.senders), 1, NICS_MAX, NULL, NULL, USE_INCAST},
	{"traffic.flows", "list", "required", "The messages.", 0, 0, 0, 0, NULL, NULL, USE_FLOWS},
	{"traffic.flows[].from", "count", "required", "NIC that sends, from 0.",
	 IN(struct flow, from), 0, NICS_MAX, NULL, NULL, USE_ALWAYS},
	{"traffic.flows[].to", "count", "required", "NIC that receives.", IN(struct flow, to), 0,
	 NICS_MAX, NULL, NULL, USE_ALWAYS},
	{"traffic.flows[].bytes", "bytes", "required", "Size of the message.",
	 IN(struct flow, bytes), 1, UINT32_MAX, NULL, NULL, USE_ALWAYS},
	{"traffic.flows[].start", "time", "0s", "When it is posted.", IN(struct flow, start_ps), 0,
	 1000 * SECOND, NULL, NULL, USE_ALWAYS},
	{"traffic.collective", "word", "reduce_scatter", "What the ring does.",
	 SCENARIO(traffic.collective), 0, 0, NULL, collective_words, USE_RING},
	{"traffic.ranks", "count", "all", "Members of the ring: NICs 0 to ranks - 1.",
	 SCENARIO(traffic.ring.ranks), 2, NICS_MAX, "all", NULL, USE_RING},
	{"traffic.channels", "count", "4", "Parallel rings of a collective.",
	 SCENARIO(traffic.ring.channels), 1, 64, NULL, NULL, USE_RINGS},
	{"traffic.chunk", "bytes", "2MiB", "Largest chunk of a pipelined ring.",
	 SCENARIO(traffic.ring.chunk_bytes_max), 64, GIB, NULL, NULL, USE_PIPELINED},
	{"traffic.slices", "count", "2", "Messages that a chunk is cut into.",
	 SCENARIO(traffic.ring.slices), 1, 16, NULL, NULL, USE_PIPELINED},
	{"traffic.credits", "count", "4", "Slices in flight per channel and connection.",
	 SCENARIO(traffic.ring.credits), 1, 32, NULL, NULL, USE_PIPELINED},
	{"traffic.form", "word", "pipelined",
	 "pipelined as NCCL does, or barrier: one chunk a step, for closed forms.",
	 SCENARIO(traffic.ring.form), 0, 0, NULL, form_words, USE_RINGS},
	{"traffic.model", "text", "required", "Name of a built-in model.", SCENARIO(traffic.model),
	 0, 0, NULL, NULL, USE_MODEL},
	{"traffic.trace", "text", "-",
	 "File with a SimAI trace; weft sim --trace FILE names one, too.", SCENARIO(traffic.trace),
	 0, 0, NULL, NULL, USE_TRACE},

	{"sample", "word", "off", "off: everything is run packet by packet.",
	 SCENARIO(sample.is_on), 0, 0, NULL, off_words, USE_ALWAYS},
	{"sample.groups", "count", "all", "Groups of ranks that are run.", SCENARIO(sample.groups),
	 1, U32, "all", NULL, USE_RINGS},
	{"sample.steps", "count", "all", "Ring steps per loop that are measured.",
	 SCENARIO(sample.steps), 1, U32, "all", NULL, USE_RINGS},
	{"sample.fill", "count", "4", "Ring steps per loop that are run before these.",
	 SCENARIO(sample.fill), 1, U32, NULL, NULL, USE_RINGS},
	{"sample.buckets", "count", "all", "Distinct buckets that are run, per group.",
	 SCENARIO(sample.buckets), 1, U32, "all", NULL, USE_RINGS},
	{"sample.packets", "count", "40000000",
	 "Data packets at most; steps, buckets and groups are lowered to fit.",
	 SCENARIO(sample.packets_max), 1, I64, NULL, NULL, USE_RINGS},

	{"faults", "list", "none", "What goes wrong, and when.", 0, 0, 0, 0, NULL, NULL,
	 USE_ALWAYS},
	{"faults[].kind", "word", "required",
	 "link_down, loss (random loss of packets), or flap: down and up in turn.",
	 IN(struct fault, kind), 0, 0, NULL, fault_words, USE_ALWAYS},
	{"faults[].at", "word", "required", "all: every cable; or a place, as the next keys say.",
	 IN(struct fault, at.where), 0, 0, NULL, all_words, USE_ALWAYS},
	{"faults[].at.nic", "count", "none",
	 "With plane: the cable of that NIC; alone: its cables in all planes.",
	 IN(struct fault, at.index), 0, NICS_MAX, NULL, NULL, USE_ALWAYS},
	{"faults[].at.t0", "count", "none",
	 "With plane: every cable of that T0 switch; with up, too: one above it.",
	 IN(struct fault, at.index), 0, NICS_MAX, NULL, NULL, USE_ALWAYS},
	{"faults[].at.t1", "count", "none", "With plane: every cable of that T1 switch.",
	 IN(struct fault, at.index), 0, NICS_MAX, NULL, NULL, USE_ALWAYS},
	{"faults[].at.up", "count", "none", "Up port of the T0 switch, from 0.",
	 IN(struct fault, at.port), 0, NICS_MAX, NULL, NULL, USE_ALWAYS},
	{"faults[].at.plane", "count", "none", "Alone: every cable of that plane.",
	 IN(struct fault, at.plane), 0, PLANES_MAX, NULL, NULL, USE_ALWAYS},
	{"faults[].from", "time", "0s", "When it begins.", IN(struct fault, from_ps), 0,
	 1000 * SECOND, NULL, NULL, USE_ALWAYS},
	{"faults[].until", "time", "never", "When it ends.", IN(struct fault, until_ps), 1,
	 1000 * SECOND, "never", NULL, USE_ALWAYS},
	{"faults[].probability", "share", "none", "Share of packets that a loss takes.",
	 IN(struct fault, loss_ppb), 1, 1000000000, NULL, NULL, USE_ALWAYS},
	{"faults[].down", "time", "none", "A flap is down for so long, first.",
	 IN(struct fault, down_ps), 1, 1000 * SECOND, NULL, NULL, USE_ALWAYS},
	{"faults[].up", "time", "none", "Then up for so long; then down again.",
	 IN(struct fault, up_ps), 1, 1000 * SECOND, NULL, NULL, USE_ALWAYS},

	{"wire.ip", "count", "6",
	 "IP version of frames, 4 or 6; with 4 an EV has 16 bits, with frames or without.",
	 SCENARIO(frames.ip_version), 4, 6, NULL, NULL, USE_ALWAYS},
	{"wire.port", "count", "4791", "UDP port of frames: 4791, or 4971.",
	 SCENARIO(frames.udp_port), 1, 65535, NULL, NULL, USE_ALWAYS},
	{"wire.entropy", "word", "stev",
	 "Where a frame has its EV: port, stev (with wire.ip 4 as port), or srv6: as stev, and an "
	 "outer header with the way as uSIDs.",
	 SCENARIO(frames.entropy), 0, 0, NULL, entropy_words, USE_ALWAYS},
	{"wire.ev", "word", "port-high",
	 "Which half of an EV is the UDP source port; the flow label has the other: port-high, "
	 "port-low.",
	 SCENARIO(frames.ev_place), 0, 0, NULL, ev_words, USE_IPV6},
	{"wire.trim_lengths", "word", "rewritten",
	 "IP and UDP lengths of a trimmed frame: rewritten to what is left, or kept.",
	 SCENARIO(frames.trim_rewrites_lengths), 0, 0, NULL, lengths_words, USE_ALWAYS},
	{"wire.udp_checksum", "flag", "false",
	 "Whether frames have a UDP checksum; else it is 0, for the ICRC covers more.",
	 SCENARIO(frames.has_udp_checksum), 0, 1, NULL, flag_words, USE_ALWAYS},
	{"capture.keep", "word", "whole", "What a capture keeps of a frame: whole, or headers.",
	 SCENARIO(capture.is_headers_only), 0, 0, NULL, keep_words, USE_ALWAYS},
	{"capture.snap", "bytes", "auto",
	 "A capture keeps no more bytes of a frame; auto: all that capture.keep says.",
	 SCENARIO(capture.snap_bytes), 64, 65535, "auto", NULL, USE_ALWAYS},
	{"taps", "list", "none", "Where and when a capture listens.", 0, 0, 0, 0, NULL, NULL,
	 USE_ALWAYS},
	{"taps[].at", "word", "required", "all: every cable; or a place, as the next keys say.",
	 IN(struct tap, at.where), 0, 0, NULL, all_words, USE_ALWAYS},
	{"taps[].at.nic", "count", "none",
	 "With plane: the cable of that NIC; alone: its cables in all planes.",
	 IN(struct tap, at.index), 0, NICS_MAX, NULL, NULL, USE_ALWAYS},
	{"taps[].at.t0", "count", "none",
	 "With plane: every cable of that T0 switch; with up, too: one above it.",
	 IN(struct tap, at.index), 0, NICS_MAX, NULL, NULL, USE_ALWAYS},
	{"taps[].at.t1", "count", "none", "With plane: every cable of that T1 switch.",
	 IN(struct tap, at.index), 0, NICS_MAX, NULL, NULL, USE_ALWAYS},
	{"taps[].at.up", "count", "none", "Up port of the T0 switch, from 0.",
	 IN(struct tap, at.port), 0, NICS_MAX, NULL, NULL, USE_ALWAYS},
	{"taps[].at.plane", "count", "none", "Alone: every cable of that plane.",
	 IN(struct tap, at.plane), 0, PLANES_MAX, NULL, NULL, USE_ALWAYS},
	{"taps[].direction", "word", "both",
	 "What is listened to: both, up (away from the NICs), down (towards them).",
	 IN(struct tap, direction), 0, 0, NULL, direction_words, USE_ALWAYS},
	{"taps[].from", "time", "0s", "When it begins.", IN(struct tap, from_ps), 0, 1000 * SECOND,
	 NULL, NULL, USE_ALWAYS},
	{"taps[].until", "time", "never", "When it ends.", IN(struct tap, until_ps), 1,
	 1000 * SECOND, "never", NULL, USE_ALWAYS},

	{"expect", "list", "none", "What the run must come to; exit 1 when it does not.", 0, 0, 0,
	 0, NULL, NULL, USE_ALWAYS},
	{"expect[].measure", "word", "required",
	 "goodput (per receiving NIC), or retransmitted (share of data packets).",
	 IN(struct scenario_expect, measure), 0, 0, NULL, measure_words, USE_ALWAYS},
	{"expect[].formula", "word", "required",
	 "How its value follows: one_way, ring_writes, planes_left, planes_flapping, "
	 "loss_repaired, loss_on_way.",
	 IN(struct scenario_expect, formula), 0, 0, NULL, formula_words, USE_ALWAYS},
	{"expect[].planes", "count", "none", "Planes that are down, or flap.",
	 IN(struct scenario_expect, planes), 0, PLANES_MAX, NULL, NULL, USE_ALWAYS},
	{"expect[].time", "share", "none", "Share of the time that flapping planes are down.",
	 IN(struct scenario_expect, time_ppb), 1, 1000000000, NULL, NULL, USE_ALWAYS},
	{"expect[].loss", "share", "none", "Share of packets that each cable loses.",
	 IN(struct scenario_expect, loss_ppb), 1, 1000000000, NULL, NULL, USE_ALWAYS},
	{"expect[].tolerance", "share", "required",
	 "How far from the expected value it may be, as a share of that.",
	 IN(struct scenario_expect, tolerance_ppb), 1, 1000000000, NULL, NULL, USE_ALWAYS},

	{"inputs", "list", "none", "Figures that a result rests on; it lists them.", 0, 0, 0, 0,
	 NULL, NULL, USE_ALWAYS},
	{"inputs[].origin", "word", "required", "Where the figure comes from.",
	 IN(struct scenario_input, origin), 0, 0, NULL, origin_words, USE_ALWAYS},
	{"inputs[].text", "text", "required", "The figure and its source.",
	 IN(struct scenario_input, text), 0, 0, NULL, NULL, USE_ALWAYS},

	{"limits.packets", "count", "auto", "Packets that may exist at once.",
	 SCENARIO(packets_max), 64, U32, "auto", NULL, USE_ALWAYS},
	{"limits.memory", "bytes", "8GiB", "Memory of the whole world at most.",
	 SCENARIO(memory_bytes_max), MIB, UINT64_C(1) << 44, NULL, NULL, USE_ALWAYS},
	{"limits.time", "time", "10s", "Virtual time at which a run ends at the latest.",
	 SCENARIO(time_max_ps), 1, 100000 * SECOND, NULL, NULL, USE_ALWAYS},
	{"limits.window", "time", "auto",
	 "Length of a window of virtual time; auto is the smallest delay of any cable.",
	 SCENARIO(window_ps), 1, SECOND, "auto", NULL, USE_ALWAYS},
	{NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL, NULL, 0},
};

static_assert(sizeof(keys) / sizeof(keys[0]) <= SCENARIO_KEYS_MAX, "room for marks");

const struct scenario_key *scenario_keys(void)
{
	return keys;
}
