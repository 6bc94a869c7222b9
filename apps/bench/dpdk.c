// SPDX-License-Identifier: Apache-2.0
// weft bench dpdk: two MRC endpoints that exchange frames over ring ports of DPDK on one core,
// beside a loop that does only the same bytes' work. What is judged is what came through; how fast
// it was is for people.

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/machine.h>
#include <weft/engine/engine.h>
#include <weft/transport/transport.h>

#include "bench.h"
#include "weft_version.h"

// A NIC that does nothing but its endpoint.

#define PEER_QPS 4

struct peer {
	struct endpoint *endpoint;
	const struct transport_config *config;
	uint32_t nic;
	uint64_t posted[PEER_QPS]; // writes
};

#define WRITE_BYTES (1u << 20)
#define REGION_WRITES 1024u // of a QP's region
#define BURST 16

static void post(struct peer *peer, uint32_t qpn, ps_t now)
{
	struct work work = {.va = peer->posted[qpn]++ % REGION_WRITES * WRITE_BYTES,
			    .rkey = 1 + qpn,
			    .bytes = WRITE_BYTES};
	int rc = endpoint_post(peer->endpoint, qpn, &work, now);
	check(rc == 0);
}

// Fills the QPs with writes; each that is done is followed by another.
static void peer_post(struct peer *peer)
{
	for (uint32_t qpn = 0; qpn < PEER_QPS; qpn++)
		for (uint32_t i = 0; i < peer->config->sends_max; i++)
			post(peer, qpn, 0);
}

static void drain(struct peer *peer, ps_t now, struct outbox *out)
{
	struct completion done[BURST];
	struct dma_write places[BURST];
	uint32_t count;
	while ((count = endpoint_poll(peer->endpoint, done, BURST)) > 0)
		for (uint32_t i = 0; i < count; i++)
			if (done[i].kind == COMPLETION_SENT)
				post(peer, done[i].qp, now);
	while ((count = endpoint_poll_dma_writes(peer->endpoint, places, BURST)) > 0)
		for (uint32_t i = 0; i < count; i++)
			outbox_dma_write(out, &places[i]);
}

static ps_t run(void *self, const struct inbox *in, ps_t until, struct outbox *out)
{
	struct peer *peer = self;
	ps_t now = until - 1;
	uint32_t packet;
	for (uint32_t i = 0; i < in->arrival_count; i++) {
		endpoint_receive(peer->endpoint, in->runs[0].first[i].packet, now, out);
		if (endpoint_has_events(peer->endpoint))
			drain(peer, now, out);
	}
	if (endpoint_wake_at(peer->endpoint) <= now) {
		endpoint_on_time(peer->endpoint, now, out);
		drain(peer, now, out);
	}
	while (out->count < out->capacity &&
	       (packet = endpoint_next(peer->endpoint, 0, now, out)) != PACKET_NONE)
		outbox_send(out, 0, packet, packet_at(out->packets, packet)->wire_bytes, now);
	return endpoint_wake_at(peer->endpoint);
}

// Draws the endpoint of NIC 0 or 1 and connects it with the other's.
static int peer_init(struct peer *peer, struct arena *arena, const struct transport_config *config,
		     uint32_t nic, struct refusal *refusal)
{
	*peer = (struct peer){.config = config, .nic = nic};
	int rc = endpoint_create(&peer->endpoint, arena, config, nic, PEER_QPS, 1, refusal);
	for (uint32_t qpn = 0; rc == 0 && qpn < PEER_QPS; qpn++) {
		endpoint_connect(peer->endpoint, qpn,
				 &(struct qp_config){.local_nic = nic,
						     .remote_nic = 1 - nic,
						     .remote_qpn = qpn,
						     .id = 2 * qpn + nic},
				 0);
		rc = endpoint_register(peer->endpoint, 1 + qpn, 0,
				       (uint64_t)REGION_WRITES * WRITE_BYTES);
	}
	return rc;
}

static struct machine peer_machine(struct peer *peer)
{
	return (struct machine){.run = run, .self = peer, .port_count = 1, .is_host = true};
}

#define PAYLOAD_BYTES 4096
#define HEADER_BYTES 64 // charged in virtual time; no window depends on it
#define LINE_BPS UINT64_C(400000000000)
#define ARENA_BYTES ((size_t)256 << 20)
#define PACKETS 1024u // out of the pool at once: a few bursts
#define REPEAT_USUAL 20
#define SLICE_MS 50
#define BACKLOG_INSIDE 32u // frames: a burst
#define BACKLOG_OUTSIDE 20480u
#define DATA_PATH_OUTSIDE 20480u
#define MPR_INSIDE 128u
#define MPR_OUTSIDE 16384u

// One row of the result.
struct row {
	bool is_outside; // the payload set does not fit into the cache
	bool has_icrc;
	struct ring_bench_result result;
	struct transport_counters counters; // of the sender, and of the receiver
	struct transport_counters received;
	double packets_per_s[RING_LOOP_COUNT]; // medians of slices
	double ticks[RING_LOOP_COUNT];	       // per packet
	double stages[RING_LOOP_COUNT][RING_STAGE_COUNT];
	double ratio; // of the endpoints' packets per second to the bare loop's
};

// As they are shown: the five stages of an endpoint's loop, and under them the work on bytes.
struct shown {
	const char *label, *key;
	enum ring_stage stages[3];
	uint32_t count;
	bool is_part; // of the line above
};

static const struct shown lines[] = {
	{"rx", "rx", {RING_RX}, 1, false},
	{"parse", "parse", {RING_PARSE, RING_CHECK}, 2, false},
	{"headers", "parse_headers", {RING_PARSE}, 1, true},
	{"check ICRC", "parse_icrc", {RING_CHECK}, 1, true},
	{"endpoint", "endpoint", {RING_ENDPOINT}, 1, false},
	{"place (verify)", "place", {RING_VERIFY}, 1, false},
	{"build", "build", {RING_BUILD, RING_FILL, RING_SEAL}, 3, false},
	{"headers", "build_headers", {RING_BUILD}, 1, true},
	{"fill payload", "build_fill", {RING_FILL}, 1, true},
	{"make ICRC", "build_icrc", {RING_SEAL}, 1, true},
	{"tx", "tx", {RING_TX}, 1, false},
	{"buffers", "buffers", {RING_BUFFERS}, 1, false},
};
#define LINES (sizeof(lines) / sizeof(*lines))

static double line_ticks(const struct row *row, enum ring_loop loop, const struct shown *line)
{
	double sum = 0;
	for (uint32_t i = 0; i < line->count; i++)
		sum += row->stages[loop][line->stages[i]];
	return sum;
}

// ---------------------------------------------------------------- one row

static struct transport_config config_of(const struct row *row)
{
	uint32_t mpr = row->is_outside ? MPR_OUTSIDE : MPR_INSIDE;
	return (struct transport_config){
		.planes = 1,
		.payload_bytes = PAYLOAD_BYTES,
		.header_bytes = HEADER_BYTES,
		.control_bytes = HEADER_BYTES,
		.ev_count = 32,
		.ev_bits = 32,
		.path_policy = PATH_MRC,
		.mpr = mpr,
		.sends_max = mpr / 256 + 16, // all that may be in flight, and what waits
		.wimm_max = 32,
		.regions_max = PEER_QPS,
		.sack_rule = SACK_MRC,
		.sack_bytes = 4 * (PAYLOAD_BYTES + HEADER_BYTES),
		.trim_nack = true,
		.rto_ps = PS_PER_S,
		.rto_linear = 7,
		.rto_doublings = 5,
		.path_retry_ps = PS_PER_S,
		.cc = {.name = "fixed",
		       .window_bytes = UINT32_MAX,
		       .rate_bps = LINE_BPS,
		       .base_rtt_ps = PS_PER_US,
		       .mtu_bytes = PAYLOAD_BYTES + HEADER_BYTES},
	};
}

static int measure_in(struct row *row, struct arena *arena, uint32_t repeat,
		      struct refusal *refusal)
{
	struct transport_config config = config_of(row);
	struct packet_pool packets;
	struct fifo_pool chunks;
	struct peer peers[2];
	if (packet_pool_init(&packets, arena, PACKETS) < 0 ||
	    fifo_pool_init(&chunks, arena, fifo_chunks_for(4, PACKETS)) < 0)
		return refuse(refusal, -ENODEV, "no memory for % packets", PACKETS);
	int rc = peer_init(&peers[0], arena, &config, 0, refusal);
	if (rc == 0)
		rc = peer_init(&peers[1], arena, &config, 1, refusal);
	if (rc < 0)
		return rc;
	peer_post(&peers[0]);
	struct ring_bench_options options = {
		.dpdk = {.lanes = 1},
		.ends = {peer_machine(&peers[0]), peer_machine(&peers[1])},
		.packets = &packets,
		.chunks = &chunks,
		.payload_bytes = PAYLOAD_BYTES,
		.packet_ps = line_ps(line_of(LINE_BPS), PAYLOAD_BYTES + HEADER_BYTES),
		.backlog = row->is_outside ? BACKLOG_OUTSIDE : BACKLOG_INSIDE,
		.data_path = row->is_outside ? DATA_PATH_OUTSIDE : 0,
		.has_icrc = row->has_icrc,
		.slices = repeat,
		.slice_ms = SLICE_MS,
	};
	rc = ring_bench_run(&options, arena, &row->result, refusal);
	row->counters = *endpoint_counters(peers[0].endpoint);
	row->received = *endpoint_counters(peers[1].endpoint);
	return rc;
}

static int measure(struct row *row, uint32_t repeat, struct refusal *refusal)
{
	struct arena arena;
	void *memory = memory_reserve(ARENA_BYTES);
	if (memory == NULL)
		return refuse(refusal, -ENODEV, "cannot reserve % MiB", ARENA_BYTES >> 20);
	arena_init(&arena, memory, ARENA_BYTES);
	int rc = measure_in(row, &arena, repeat, refusal);
	memory_release(memory, ARENA_BYTES);
	return rc;
}

// Whether all that was sent came once and whole, in both loops; else what is wrong.
static int judge(const struct row *row, struct refusal *refusal)
{
	const struct ring_bench_result *result = &row->result;
	const struct transport_counters *sent = &row->counters, *received = &row->received;
	uint64_t lost = result->sent - result->received + result->missed + result->held;
	uint64_t again = received->duplicates + received->no_qp + transport_refused(received) +
		sent->no_qp + transport_refused(sent) + received->answers_dropped;
	for (int i = 0; i < RTX_REASON_COUNT; i++)
		again += sent->rtx[i];
	if (result->payload_bytes_wrong > 0 || result->bad_frames > 0)
		return refuse(refusal, -EIO, "% payload bytes and % frames were wrong",
			      (int64_t)result->payload_bytes_wrong, (int64_t)result->bad_frames);
	if (lost > 0 || sent->data_packets != received->data_received)
		return refuse(refusal, -EIO, "% frames and % data packets were lost", (int64_t)lost,
			      (int64_t)(sent->data_packets - received->data_received));
	if (again > 0)
		return refuse(refusal, -EIO, "% packets were repeated or not taken",
			      (int64_t)again);
	return 0;
}

// ---------------------------------------------------------------- figures

static void conclude_loop(struct row *row, enum ring_loop loop, long repeat)
{
	static double values[RING_SLICES_MAX];
	const struct ring_slice *slices = row->result.slices[loop];
	for (int stage = 0; stage < RING_STAGE_COUNT; stage++) {
		for (long i = 0; i < repeat; i++)
			values[i] = (double)slices[i].stage_ticks[stage] /
				(double)slices[i].packets;
		row->stages[loop][stage] = median(values, repeat);
	}
	for (long i = 0; i < repeat; i++)
		values[i] = (double)slices[i].ticks / (double)slices[i].packets;
	row->ticks[loop] = median(values, repeat);
	row->packets_per_s[loop] = (double)row->result.ticks_per_s / row->ticks[loop];
}

// Neighbours in time are compared, so that what disturbs the machine for longer disturbs both.
static void conclude(struct row *row, long repeat)
{
	static double ratios[RING_SLICES_MAX];
	const struct ring_slice *ends = row->result.slices[RING_ENDPOINTS];
	const struct ring_slice *bare = row->result.slices[RING_BARE];
	conclude_loop(row, RING_ENDPOINTS, repeat);
	conclude_loop(row, RING_BARE, repeat);
	for (long i = 0; i < repeat; i++)
		ratios[i] = (double)ends[i].packets / (double)ends[i].ticks /
			((double)bare[i].packets / (double)bare[i].ticks);
	row->ratio = median(ratios, repeat);
}

static double answers_per_packet(const struct row *row)
{
	return (double)row->received.sacks_sent / (double)row->received.data_received;
}

static const char *place_name(const struct row *row)
{
	return row->is_outside ? "outside" : "inside";
}

static double set_mib(const struct row *row)
{
	// Those on a loop's cable and on the data path; or those of a burst, which the pool gives
	// out again at once.
	uint64_t frames = row->is_outside ? BACKLOG_OUTSIDE + DATA_PATH_OUTSIDE : BACKLOG_INSIDE;
	return (double)(frames * row->result.frame_bytes) / 1048576;
}

static void print_row(const struct row *row)
{
	printf("payload %s the cache (%.1f MiB in use), %s ICRC: ratio %.2f\n", place_name(row),
	       set_mib(row), row->has_icrc ? "with" : "without", row->ratio);
	printf("  %-24s %12s %12s\n", "", "endpoint", "bare");
	printf("  %-24s %12.3f %12.3f\n", "M packets/s", row->packets_per_s[RING_ENDPOINTS] / 1e6,
	       row->packets_per_s[RING_BARE] / 1e6);
	printf("  %-24s %12.0f %12.0f\n",
	       row->result.has_cycles ? "cycles per packet" : "ns per packet",
	       row->ticks[RING_ENDPOINTS], row->ticks[RING_BARE]);
	printf("  %-24s %12.3f %12.3f\n", "answers per packet", answers_per_packet(row), 0.0);
	for (size_t i = 0; i < LINES; i++) {
		printf("  %s%-*s", lines[i].is_part ? "    " : "  ", lines[i].is_part ? 20 : 22,
		       lines[i].label);
		for (int loop = 0; loop < RING_LOOP_COUNT; loop++)
			printf(" %12.0f", line_ticks(row, (enum ring_loop)loop, &lines[i]));
		printf("\n");
	}
	printf("\n");
}

static void print_table(const struct row *rows, size_t count, long repeat)
{
	const struct ring_bench_result *result = &rows[0].result;
	printf("%s, two MRC endpoints over net_ring beside a bare loop, one core, %d B payload\n",
	       WEFT_VERSION_TEXT, PAYLOAD_BYTES);
	printf("%ld slices of %d ms of each loop in turn, medians; %s %.3f GHz\n\n", repeat,
	       SLICE_MS,
	       result->has_cycles ? "cycles of the time stamp counter," : "no cycles, a clock of",
	       (double)result->ticks_per_s / 1e9);
	for (size_t i = 0; i < count; i++)
		print_row(&rows[i]);
}

static json_t *stages_json(const struct row *row, enum ring_loop loop)
{
	json_t *out = json_object();
	for (size_t i = 0; i < LINES; i++)
		json_object_set_new(out, lines[i].key, json_real(line_ticks(row, loop, &lines[i])));
	return out;
}

static json_t *row_json(const struct row *row)
{
	return json_pack(
		"{s:s, s:b, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:I, s:I, s:I, s:I}",
		"payload", place_name(row), "icrc", row->has_icrc, "frames",
		(json_int_t)row->result.frames, "set_bytes", (json_int_t)(set_mib(row) * 1048576),
		"ratio", row->ratio, "answers_per_packet", answers_per_packet(row),
		"endpoint_packets_per_s", row->packets_per_s[RING_ENDPOINTS], "bare_packets_per_s",
		row->packets_per_s[RING_BARE], "endpoint_per_packet", row->ticks[RING_ENDPOINTS],
		"bare_per_packet", row->ticks[RING_BARE], "endpoint_stages",
		stages_json(row, RING_ENDPOINTS), "bare_stages", stages_json(row, RING_BARE),
		"frames_sent", (json_int_t)row->result.sent, "frames_received",
		(json_int_t)row->result.received, "payload_bytes_good",
		(json_int_t)row->result.payload_bytes_good, "payload_bytes_wrong",
		(json_int_t)row->result.payload_bytes_wrong);
}

static json_t *rows_json(const struct row *rows, size_t count, long repeat)
{
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, row_json(&rows[i]));
	return json_pack("{s:s, s:i, s:i, s:i, s:s, s:I, s:o}", "version", WEFT_VERSION_TEXT,
			 "payload_bytes", PAYLOAD_BYTES, "repeat", (int)repeat, "slice_ms",
			 SLICE_MS, "unit", rows[0].result.has_cycles ? "cycles" : "ns",
			 "units_per_s", (json_int_t)rows[0].result.ticks_per_s, "rows", list);
}

// ---------------------------------------------------------------- all rows

// Rows with many frames are measured first: DPDK is given its memory by the first.
static int measure_all(struct row *rows, size_t count, long repeat, struct refusal *refusal)
{
	int rc = 0;
	for (size_t i = count; rc == 0 && i-- > 0;) {
		rc = measure(&rows[i], (uint32_t)repeat, refusal);
		if (rc == 0)
			rc = judge(&rows[i], refusal);
		if (rc == 0)
			conclude(&rows[i], repeat);
	}
	dpdk_stop();
	return rc;
}

int bench_dpdk(const struct bench_options *options)
{
	static struct row rows[] = {
		{.has_icrc = true},
		{.has_icrc = false},
		{.is_outside = true, .has_icrc = true},
		{.is_outside = true, .has_icrc = false},
	};
	const size_t count = sizeof(rows) / sizeof(*rows);
	long repeat = options->repeat > 0 ? options->repeat : REPEAT_USUAL;
	struct refusal refusal = {0};
	int status = json_file_check(options->json);
	if (status != 0)
		return status;
	if (ports_ring_max() == 0) {
		refuse(&refusal, -ENOTSUP, "this weft was built without DPDK");
		return say_refusal(&refusal, EXIT_ENVIRONMENT);
	}
	int rc = measure_all(rows, count, repeat, &refusal);
	if (rc < 0)
		return say_refusal(&refusal, rc == -EIO ? EXIT_NOT_VALID : EXIT_ENVIRONMENT);
	if (options->json == NULL || strcmp(options->json, "-") != 0)
		print_table(rows, count, repeat);
	return options->json == NULL
		? 0
		: json_file_write(rows_json(rows, count, repeat), options->json);
}
