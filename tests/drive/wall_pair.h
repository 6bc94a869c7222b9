// SPDX-License-Identifier: Apache-2.0
// Two hosts in wall time over ports in memory, with a clock of the test's own.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/files/files.h>
#include <weft/ports/codec.h>
#include <weft/wall/wall.h>
#include <weft/world/world.h>

#define PLANES 2u
#define HOSTS 2u
#define MEMORY_BYTES ((size_t)512 << 20)
#define STALL_PS (200 * PS_PER_US)
#define DEAD_PS (2 * PS_PER_MS)
#define LOOK_PS (2 * PS_PER_US)

// What a test does to frames on their way.
struct harm {
	uint32_t lose_each, double_each; // every so many-th; 0: none
	bool is_full[PLANES];		 // ports of host 0 that take nothing
	bool has_no_link[PLANES];	 // cables that are pulled: what is sent is lost, and seen
	uint32_t room_each;		 // frames that a queue takes between looks; 0: all
	uint32_t room[HOSTS * PLANES];
	uint32_t cross_each; // every so many-th leaves by the other plane
	// told of each frame before it goes, with the end that sends
	void (*seen)(uint32_t host, const struct frame *frame);
	uint64_t sent;
};

struct pair {
	struct scenario scenario;
	struct arena arena[HOSTS], ports_arena;
	void *memory[HOSTS + 1];
	struct world world[HOSTS];
	struct wall *wall[HOSTS];
	struct ports ports;
	const struct ports_ops *inner;
	struct ports_ops ops;
	struct refusal refusal;
	ps_t now;
};

// Each of two loops says when it is done; the second one that says so ends both.
struct ending {
	int done[HOSTS], news;
};

struct ending_part {
	struct ending *ending;
	uint32_t host;
};

static inline void ending_tell(void *context)
{
	const struct ending_part *part = context;
	struct ending *ending = part->ending;
	__atomic_store_n(&ending->done[part->host], 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&ending->done[1 - part->host], __ATOMIC_SEQ_CST))
		__atomic_store_n(&ending->news, (int)WALL_ENDED, __ATOMIC_SEQ_CST);
}

static struct harm harm;
static int (*open_kind)(struct ports *ports, struct arena *arena,
			struct refusal *refusal) = port_memory_open;
static const char *pair_times = "hole_age: 40us, rto: 1ms";
static ps_t pair_lag_ps;	// of frames that leave at a time
static const char *pair_matrix; // what traffic.matrix names, or NULL
static bool has_macs;		// each port has one of its own: see port_mac()
static const struct ports_ops *inner;

static inline bool copy(struct ports *ports, uint32_t queue, const struct frame *frame)
{
	struct frame again;
	if (!inner->take(ports, &again, 1))
		return false;
	memcpy(again.bytes, frame->bytes, frame->length);
	again.length = frame->length;
	again.cable = frame->cable;
	return inner->send(ports, queue, &again, 1) == 1;
}

static inline bool comes(uint32_t each)
{
	return each > 0 && harm.sent % each == 0;
}

static inline uint32_t harmful_send(struct ports *ports, uint32_t queue, const struct frame *frames,
				    uint32_t count)
{
	uint32_t at = 0;
	for (; at < count; at++) {
		void *owner = frames[at].owner;
		if ((queue < PLANES && harm.is_full[queue]) ||
		    (harm.room_each > 0 && harm.room[queue] == 0))
			return at;
		harm.room[queue] -= harm.room_each > 0;
		harm.sent++;
		if (harm.seen != NULL)
			harm.seen(queue / PLANES, &frames[at]);
		if (comes(harm.lose_each) || harm.has_no_link[queue % PLANES]) {
			inner->give(ports, &owner, 1);
			continue;
		}
		if (comes(harm.double_each))
			copy(ports, queue, &frames[at]);
		if (inner->send(ports, comes(harm.cross_each) ? queue ^ 1 : queue, &frames[at],
				1) == 0)
			return at;
	}
	return at;
}

static inline bool link_is_up(const struct ports *ports, uint32_t queue)
{
	(void)ports;
	return !harm.has_no_link[queue % PLANES];
}

static inline void open_ports(struct pair *pair)
{
	static struct port_cable cables[HOSTS * PLANES];
	struct codec codec;
	for (uint32_t i = 0; i < HOSTS * PLANES; i++)
		cables[i] = (struct port_cable){0, 0, 2048};
	pair->ports = (struct ports){.frames = 16384};
	assert_int_equal(port_plan(&pair->ports, &pair->ports_arena, cables, HOSTS * PLANES,
				   HOSTS * PLANES, &pair->refusal),
			 0);
	assert_int_equal(codec_init(&codec, &pair->world[0], &pair->refusal), 0);
	pair->ports.frame_bytes_max = codec.frame_bytes_max;
	if (open_kind(&pair->ports, &pair->ports_arena, &pair->refusal) < 0)
		fail_msg("%s", pair->refusal.text);
	inner = pair->ports.ops;
	pair->ops = *inner;
	pair->ops.send = harmful_send;
	pair->ops.is_up = link_is_up;
	pair->ports.ops = &pair->ops;
}

// Host 0 sends by queues 0 .. planes - 1, host 1 by those behind.
static inline void port_mac(uint32_t host, uint32_t plane, uint8_t ret[6])
{
	const uint8_t mac[6] = {0x06, 0, 0, 1, (uint8_t)host, (uint8_t)plane};
	memcpy(ret, mac, sizeof(mac));
}

static inline void open_wall(struct pair *pair, uint32_t host)
{
	struct wall_port wall_ports[PLANES];
	for (uint32_t plane = 0; plane < PLANES; plane++)
		wall_ports[plane] = (struct wall_port){.port = plane,
						       .peer = WALL_ANY_HOST,
						       .rx_queue = (1 - host) * PLANES + plane,
						       .tx_queue = host * PLANES + plane};
	for (uint32_t plane = 0; has_macs && plane < PLANES; plane++) {
		wall_ports[plane].has_mac = true;
		port_mac(host, plane, wall_ports[plane].mac);
	}
	const struct wall_options options = {.host = host,
					     .ports = &pair->ports,
					     .wall_ports = wall_ports,
					     .wall_port_count = PLANES,
					     .stall_ps = STALL_PS,
					     .lag_ps = pair_lag_ps,
					     .dead_ps = DEAD_PS};
	if (wall_create(&pair->wall[host], &pair->world[host], &options, &pair->refusal) < 0)
		fail_msg("%s", pair->refusal.text);
}

// The worlds of both, without ports.
static inline struct pair *pair_build_of(const char *traffic, const char *transport,
					 const char *rtt)
{
	struct pair *pair = calloc(1, sizeof(*pair));
	char text[1024];
	harm = (struct harm){0};
	snprintf(text, sizeof(text),
		 "fabric: {nics: 2, planes: 2, nics_per_t0: 2, t1_count: 1, link_rate: 100Gb/s}\n"
		 "transport: {evs: 16, %s%s}\n"
		 "cc: {base_rtt: %s}\n"
		 "traffic: {%s}\n"
		 "limits: {time: 10000s}\n",
		 pair_times, transport, rtt, traffic);
	assert_non_null(pair);
	if (scenario_parse(&pair->scenario, "pair", text, strlen(text), NULL, 0, &pair->refusal) <
	    0)
		fail_msg("%s", pair->refusal.text);
	for (uint32_t i = 0; i <= HOSTS; i++)
		assert_non_null(pair->memory[i] = memory_reserve(MEMORY_BYTES));
	arena_init(&pair->ports_arena, pair->memory[HOSTS], MEMORY_BYTES);
	for (uint32_t host = 0; host < HOSTS; host++) {
		arena_init(&pair->arena[host], pair->memory[host], MEMORY_BYTES);
		if (world_build(&pair->world[host], &pair->arena[host], &pair->scenario,
				pair_matrix, pair_matrix != NULL ? strlen(pair_matrix) : 0,
				&pair->refusal) < 0)
			fail_msg("%s", pair->refusal.text);
	}
	return pair;
}

static inline struct pair *pair_build(const char *flows, const char *transport, const char *rtt)
{
	char traffic[512];
	snprintf(traffic, sizeof(traffic), "kind: flows, flows: [%s]", flows);
	return pair_build_of(traffic, transport, rtt);
}

static inline struct pair *pair_open_of(struct pair *pair)
{
	open_ports(pair);
	for (uint32_t host = 0; host < HOSTS; host++)
		open_wall(pair, host);
	return pair;
}

static inline struct pair *pair_open_at(const char *flows, const char *transport, const char *rtt)
{
	return pair_open_of(pair_build(flows, transport, rtt));
}

static inline struct pair *pair_open(const char *flows, const char *transport)
{
	return pair_open_at(flows, transport, "20us");
}

static inline void pair_close(struct pair *pair)
{
	for (uint32_t host = 0; host < HOSTS; host++) {
		struct tap_counts taps;
		assert_int_equal(wall_close(pair->wall[host], &taps, &pair->refusal), 0);
	}
	for (uint32_t i = 0; i < HOSTS * PLANES; i++) { // what still lies there
		struct frame frames[PORT_BURST];
		uint32_t count;
		while ((count = inner->receive(&pair->ports, i, frames, PORT_BURST)) > 0)
			for (uint32_t k = 0; k < count; k++)
				inner->give(&pair->ports, &frames[k].owner, 1);
	}
	assert_int_equal(inner->taken(&pair->ports), 0);
	for (uint32_t i = 0; i <= HOSTS; i++)
		memory_release(pair->memory[i], MEMORY_BYTES);
	free(pair);
}

static inline bool is_done(const struct pair *pair)
{
	return wall_is_done(pair->wall[0]) && wall_is_done(pair->wall[1]);
}

// Both look, `look_ps` apart, until all is done or `until` is over.
static inline void look(struct pair *pair, ps_t look_ps, ps_t until)
{
	while (!is_done(pair) && pair->now < until) {
		pair->now += look_ps;
		for (uint32_t i = 0; i < HOSTS * PLANES; i++)
			harm.room[i] = harm.room_each;
		wall_turn(pair->wall[0], pair->now);
		wall_turn(pair->wall[1], pair->now + look_ps / 2);
	}
}

static inline const struct transport_counters *counters(struct pair *pair, uint32_t host)
{
	world_collect(&pair->world[host]);
	return &pair->world[host].outcome->transport;
}

static inline void all_is_right(struct pair *pair, uint64_t bytes)
{
	const struct wall_counts *counts = wall_counts(pair->wall[1]);
	assert_true(is_done(pair));
	assert_int_equal(counters(pair, 1)->payload_bytes_placed, bytes);
	assert_int_equal(counts->payload_bytes_good, bytes);
	assert_int_equal(counts->payload_bytes_wrong, 0);
	assert_int_equal(counts->frames_strange, 0);
	for (int i = 0; i < WIRE_REASON_COUNT; i++)
		assert_int_equal(counts->bad_frames[i], 0);
}

static inline uint64_t resent(struct pair *pair)
{
	const struct transport_counters *count = counters(pair, 0);
	uint64_t sum = 0;
	for (int i = 0; i < RTX_REASON_COUNT; i++)
		sum += count->rtx[i];
	return sum;
}
