// SPDX-License-Identifier: Apache-2.0
// Pairs of ends that have next to nothing in common: other GIDs and MACs, PSNs, MTUs, limits, bytes
// that a packet counts, entropy values and congestion control, which a QP may have of its own:
// paths of which many have one value, and a profile. Each is told of the other by plain values and
// talks over a wire that loses, doubles, marks, trims and reorders. Every pair must come to its end
// with every byte where it belongs; and what a sender holds to be in flight must be what is, but
// for a packet, where it was told what a packet counts at the other end: the test keeps its own
// books of what left and what came. A failing pair is run again by
//   WEFT_PAIRS_FIRST=<seed> WEFT_PAIRS_COUNT=1 <this program>
#include "adapter.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/core/rng.h>

#include "../seeds.h"
#include "pairs_books.h"
#include "pairs_own.h"

#define FLIGHTS 4096u
#define MESSAGES 24u
#define FRAME_BYTES 9216u
#define RKEY 77u
#define VA 0x5000u
#define PLANES 4u
#define UNTOUCHED 0xa5
#define TIME_MAX PS_PER_S

struct flight {
	ps_t at;
	uint32_t to, bytes;
	uint8_t *data;
};

struct side {
	struct adapter_config config;
	struct own own;
	struct wire_end ends[PLANES];
	struct adapter *adapter;
	void *memory;
	uint32_t qpn;
	uint8_t *bytes, *region; // what it sends, and where the peer's go
	uint32_t sizes[MESSAGES], starts[MESSAGES], total;
	uint32_t count, posted, sent, received;
	struct books books;
};

struct pair {
	struct rng rng;
	struct side sides[2];
	struct wire_config in_switch;
	struct flight flights[FLIGHTS];
	uint32_t flying;
	ps_t now, delay_ps, jitter_ps;
	uint32_t loss_ppm, double_ppm, mark_ppm, trim_ppm;
	struct refusal refusal;
};

static uint32_t between(struct rng *rng, uint32_t least, uint32_t most)
{
	return least + rng_below(rng, most - least + 1);
}

static bool chance(struct rng *rng, uint32_t ppm)
{
	return rng_below(rng, 1000000) < ppm;
}

// ---------------------------------------------------------------- two ends

static void draw_end(struct rng *rng, uint8_t ip_version, struct wire_end *end)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	for (uint32_t i = 0; i < sizeof(end->gid); i++)
		end->gid[i] = (uint8_t)rng_next(rng);
	for (uint32_t i = 0; i < sizeof(end->mac); i++)
		end->mac[i] = (uint8_t)rng_next(rng);
	end->mac[0] &= 0xfe; // no group
	end->gid[0] = 0x20;  // 2000::/4
	if (ip_version == 4) {
		memcpy(end->gid, mapped, sizeof(mapped));
		end->gid[12] = (uint8_t)between(rng, 1, 223);
	}
}

static void draw_config(struct rng *rng, uint32_t planes, uint8_t ip_version, struct side *side)
{
	static const char *const algorithms[] = {"nscc", "swift", "fixed", "dctcp", "mprdma"};
	static const enum path_policy policies[] = {PATH_MRC, PATH_MRC, PATH_ROTATE, PATH_REPS};
	struct adapter_config *config = &side->config;
	adapter_config_default(config);
	wire_config_default(ip_version, &config->wire);
	struct transport_config *transport = &config->transport;
	for (uint32_t plane = 0; plane < planes; plane++)
		draw_end(rng, ip_version, &side->ends[plane]);
	config->ends = side->ends;
	config->seed = rng_next(rng);
	config->plane_bps = UINT64_C(10000000000) << rng_below(rng, 5);
	config->wire.port = chance(rng, 500000) ? WIRE_PORT : WIRE_PORT_OTHER;
	config->wire.pkey = chance(rng, 500000) ? 0xffff : 0x8123;
	transport->planes = planes;
	transport->payload_bytes = between(rng, ADAPTER_MTU_MIN, 4096);
	transport->header_bytes = between(rng, 60, 400);
	transport->control_bytes = between(rng, 60, 400);
	transport->ev_count = planes << rng_below(rng, 6);
	transport->path_policy = policies[rng_below(rng, 4)];
	transport->port_status = transport->path_policy == PATH_MRC && chance(rng, 500000);
	transport->mpr = chance(rng, 200000) ? 64 : 128 * between(rng, 1, 7);
	transport->sends_max = between(rng, 1, 16);
	transport->wimm_max = between(rng, 32, 64);
	transport->sack_bytes = between(rng, 1024, 32768);
	transport->hole_age_ps = chance(rng, 500000) ? 0 : 20 * PS_PER_US;
	transport->service_time = chance(rng, 300000);
	transport->completion = chance(rng, 800000) ? COMPLETION_BY_ACK : COMPLETION_BY_SACK;
	transport->rto_ps = between(rng, 30, 60) * PS_PER_US;
	transport->rto_doublings = chance(rng, 500000) ? RTO_DOUBLINGS_FOREVER : 7;
	transport->path_retry_ps = 100 * PS_PER_US;
	transport->shares_cc = chance(rng, 300000);
	transport->cc.name = algorithms[rng_below(rng, 5)];
	transport->cc.base_rtt_ps = between(rng, 5, 20) * PS_PER_US;
	transport->ev_profiles_max = transport->cc_profiles_max = 2;
}

static void make_side(struct pair *pair, struct side *side)
{
	size_t bytes = adapter_bytes(&side->config, &pair->refusal);
	if (bytes == 0)
		fail_msg("%s", pair->refusal.text);
	side->memory = aligned_alloc(ADAPTER_ALIGN, bytes);
	assert_int_equal(
		adapter_create(&side->adapter, side->memory, bytes, &side->config, &pair->refusal),
		0);
	struct adapter_exchange unused; // these two talk otherwise
	assert_int_equal(adapter_open(side->adapter, &side->qpn, &unused), 0);
	own_draw(&side->own, &pair->rng, side->adapter, &side->config, side->qpn);
	side->books.first_psn = (uint32_t)rng_next(&pair->rng) & PSN_MASK;
	if (chance(&pair->rng, 300000)) // its numbers come round
		side->books.first_psn = PSN_MASK - rng_below(&pair->rng, 50);
}

// Tells one side of the other, as two programs would.
static void tell(struct pair *pair, uint32_t own, bool is_charge_told)
{
	struct side *side = &pair->sides[own], *other = &pair->sides[1 - own];
	side->books.is_agreed = is_charge_told;
	struct adapter_peer peer;
	adapter_peer_default(side->adapter, &peer);
	for (uint32_t plane = 0; plane < side->config.transport.planes; plane++)
		assert_int_equal(adapter_end_of(other->adapter, plane, &peer.ends[plane]), 0);
	const struct transport_config *theirs = &other->config.transport;
	peer.qpn = other->qpn;
	peer.send_psn = side->books.first_psn;
	peer.receive_psn = other->books.first_psn;
	peer.mtu = theirs->payload_bytes;
	peer.mpr = theirs->mpr;
	peer.wimm_max = theirs->wimm_max;
	peer.header_bytes = (uint16_t)(is_charge_told ? theirs->header_bytes : 0);
	peer.udp_port = other->config.wire.port;
	peer.pkey = other->config.wire.pkey;
	peer.capabilities = transport_capabilities(theirs);
	int rc = adapter_connect_peer(side->adapter, side->qpn, &peer, 0, &pair->refusal);
	if (rc != 0)
		fail_msg("%d: %s", rc, pair->refusal.text);
	struct qp_view view;
	assert_int_equal(adapter_query(side->adapter, side->qpn, &view), 0);
	side->books.header_bytes = side->config.transport.header_bytes;
	side->books.full_bytes = view.mtu + side->books.header_bytes;
	assert_int_equal(view.psn_next, side->books.first_psn);
	assert_int_equal(view.psn_wanted, other->books.first_psn);
}

// Messages that lie one behind the other, with a byte between them that nobody may touch.
static void prepare(struct pair *pair, struct side *from, struct side *to)
{
	uint32_t most = chance(&pair->rng, 300000) ? 300 : 30000, at = 1;
	from->count = between(&pair->rng, 2, most < 1000 ? MESSAGES : 8);
	for (uint32_t i = 0; i < from->count; i++) {
		from->sizes[i] = between(&pair->rng, 1, most);
		from->starts[i] = at;
		at += from->sizes[i] + 1;
	}
	from->total = at;
	from->bytes = malloc(at);
	to->region = malloc(at);
	memset(to->region, UNTOUCHED, at);
	for (uint32_t i = 0; i < at; i++)
		from->bytes[i] = (uint8_t)rng_next(&pair->rng);
	assert_int_equal(adapter_register(to->adapter, RKEY, to->region, VA, at), 0);
}

static struct pair *open_pair(uint64_t seed)
{
	struct pair *pair = calloc(1, sizeof(*pair));
	pair->rng = rng_of(seed, RNG_TEST, 0);
	struct rng *rng = &pair->rng;
	uint32_t planes = 1u << rng_below(rng, 3);
	uint8_t ip_version = chance(rng, 500000) ? 4 : 6;
	bool is_charge_told = seed % 4 != 0;
	draw_config(rng, planes, ip_version, &pair->sides[0]);
	draw_config(rng, planes, ip_version, &pair->sides[1]);
	pair->sides[1].config.wire.pkey = pair->sides[0].config.wire.pkey; // of one partition
	wire_config_default(ip_version, &pair->in_switch);
	pair->in_switch.icrc_unchecked = true;
	pair->in_switch.addresses = WIRE_ADDRESSES_ANY;
	pair->delay_ps = between(rng, 100, 3000) * PS_PER_NS;
	pair->jitter_ps = chance(rng, 300000) ? 0 : between(rng, 100, 5000) * PS_PER_NS;
	pair->loss_ppm = chance(rng, 500000) ? 0 : rng_below(rng, 20000);
	pair->double_ppm = chance(rng, 500000) ? 0 : rng_below(rng, 20000);
	pair->mark_ppm = chance(rng, 500000) ? 0 : rng_below(rng, 100000);
	pair->trim_ppm = chance(rng, 500000) ? 0 : rng_below(rng, 20000);
	make_side(pair, &pair->sides[0]);
	make_side(pair, &pair->sides[1]);
	tell(pair, 0, is_charge_told);
	tell(pair, 1, is_charge_told);
	prepare(pair, &pair->sides[0], &pair->sides[1]);
	prepare(pair, &pair->sides[1], &pair->sides[0]);
	return pair;
}

static void close_pair(struct pair *pair)
{
	for (uint32_t i = 0; i < 2; i++) {
		free(pair->sides[i].memory);
		free(pair->sides[i].bytes);
		free(pair->sides[i].region);
	}
	for (uint32_t i = 0; i < pair->flying; i++)
		free(pair->flights[i].data);
	free(pair);
}

// ---------------------------------------------------------------- the wire between them

static void launch(struct pair *pair, uint32_t to, const uint8_t *frame, uint32_t bytes, ps_t at)
{
	ps_t jitter = pair->jitter_ps == 0
		? 0
		: (ps_t)(rng_next(&pair->rng) % (uint64_t)pair->jitter_ps);
	assert_true(pair->flying < FLIGHTS);
	struct flight *flight = &pair->flights[pair->flying++];
	*flight = (struct flight){.at = at + pair->delay_ps + jitter,
				  .to = to,
				  .bytes = bytes,
				  .data = malloc(bytes)};
	memcpy(flight->data, frame, bytes);
}

// The port that a frame left by: from it to the same port of the other end.
static uint32_t plane_of(const struct pair *pair, uint32_t from, const struct wire_ends *ends)
{
	uint32_t plane = 0;
	while (plane < PLANES &&
	       (memcmp(&ends->source, &pair->sides[from].ends[plane], sizeof(ends->source)) != 0 ||
		memcmp(&ends->target, &pair->sides[1 - from].ends[plane], sizeof(ends->target)) !=
			0))
		plane++;
	assert_true(plane < PLANES);
	return plane;
}

static void carry(struct pair *pair, uint32_t from, uint8_t *frame, uint32_t bytes, ps_t at)
{
	struct packet packet;
	struct wire_view view;
	struct wire_ends ends;
	assert_int_equal(wire_parse(&pair->in_switch, frame, bytes, &packet, &view), WIRE_FINE);
	wire_ends_read(frame, &view, &ends);
	assert_int_equal(view.target_port, pair->sides[1 - from].config.wire.port);
	own_depart(&pair->sides[from].own, &packet, plane_of(pair, from, &ends));
	if (books_are_of(&packet))
		books_depart(&pair->sides[from].books, &packet);
	if (chance(&pair->rng, pair->loss_ppm))
		return;
	packet.hop++;
	if ((packet.flags & PACKET_ECT) && chance(&pair->rng, pair->mark_ppm))
		packet.flags |= PACKET_CE;
	if ((packet.flags & PACKET_TRIMMABLE) && chance(&pair->rng, pair->trim_ppm)) {
		packet.flags |= PACKET_TRIMMED;
		packet.payload_bytes = 0;
		packet.klass = PACKET_CLASS_CONTROL;
	}
	bytes = (uint32_t)wire_patch(&pair->in_switch, &packet, frame, &view);
	if (chance(&pair->rng, pair->double_ppm))
		launch(pair, 1 - from, frame, bytes, at);
	launch(pair, 1 - from, frame, bytes, at);
}

static void post_and_poll(struct pair *pair, uint32_t own)
{
	struct side *side = &pair->sides[own], *other = &pair->sides[1 - own];
	struct completion done;
	while (adapter_poll(side->adapter, &done, 1) == 1) {
		if (done.kind == COMPLETION_SENT) {
			assert_int_equal(done.cookie, side->sent++);
		} else {
			assert_int_equal(done.kind, COMPLETION_RECEIVED);
			uint32_t i = other->received++;
			assert_int_equal(done.imm, i);
			assert_int_equal(done.bytes, other->sizes[i]);
			assert_memory_equal(side->region + other->starts[i],
					    other->bytes + other->starts[i], other->sizes[i]);
		}
	}
	while (side->posted < side->count) {
		uint32_t i = side->posted;
		struct adapter_write write = {.local = side->bytes + side->starts[i],
					      .bytes = side->sizes[i],
					      .rkey = RKEY,
					      .va = VA + side->starts[i],
					      .cookie = i,
					      .imm = i,
					      .has_imm = true};
		if (adapter_post(side->adapter, side->qpn, &write, pair->now) != 0)
			break;
		side->posted++;
	}
}

static void compare(struct side *side, const struct packet *sack)
{
	struct qp_view view;
	assert_int_equal(adapter_query(side->adapter, side->qpn, &view), 0);
	books_compare(&side->books, sack, &view);
	own_compare(&side->own, &view);
}

static void feed(struct pair *pair, const struct flight *flight)
{
	struct side *to = &pair->sides[flight->to], *from = &pair->sides[1 - flight->to];
	struct packet packet;
	struct wire_view view;
	uint64_t before = adapter_counters(to->adapter)->bytes_placed;
	wire_parse(&pair->in_switch, flight->data, flight->bytes, &packet, &view);
	assert_int_equal(adapter_feed(to->adapter, flight->data, flight->bytes, pair->now), 0);
	uint64_t placed = adapter_counters(to->adapter)->bytes_placed - before;
	if (books_are_of(&packet))
		books_arrive(&from->books, &packet, placed);
	else if (packet.opcode == PACKET_SACK)
		compare(to, &packet);
}

static void pull(struct pair *pair, uint32_t own)
{
	struct side *side = &pair->sides[own];
	uint8_t frame[FRAME_BYTES];
	for (uint32_t plane = 0; plane < side->config.transport.planes; plane++) {
		while (adapter_free_at(side->adapter, plane) <= pair->now) {
			int bytes = adapter_pull(side->adapter, plane, frame, sizeof(frame),
						 pair->now);
			assert_true(bytes >= 0);
			if (bytes == 0)
				break;
			carry(pair, own, frame, (uint32_t)bytes,
			      adapter_free_at(side->adapter, plane));
		}
	}
}

static ps_t next_at(const struct pair *pair)
{
	ps_t at = ps_min(adapter_next_at(pair->sides[0].adapter, pair->now),
			 adapter_next_at(pair->sides[1].adapter, pair->now));
	for (uint32_t i = 0; i < pair->flying; i++)
		at = ps_min(at, pair->flights[i].at);
	return at;
}

static bool is_done(const struct side *side)
{
	return side->sent == side->count && side->received == side->count;
}

static void run(struct pair *pair)
{
	while (!is_done(&pair->sides[0]) || !is_done(&pair->sides[1])) {
		for (uint32_t own = 0; own < 2; own++) {
			post_and_poll(pair, own);
			pull(pair, own);
		}
		pair->now = ps_max(pair->now, next_at(pair));
		assert_true(pair->now < TIME_MAX);
		for (uint32_t i = 0; i < pair->flying;) {
			struct flight flight = pair->flights[i];
			if (flight.at > pair->now) {
				i++;
				continue;
			}
			pair->flights[i] = pair->flights[--pair->flying];
			feed(pair, &flight);
			free(flight.data);
		}
		for (uint32_t own = 0; own < 2; own++)
			adapter_on_time(pair->sides[own].adapter, pair->now);
	}
}

static void check_end(const struct pair *pair)
{
	for (uint32_t own = 0; own < 2; own++) {
		const struct side *from = &pair->sides[own], *to = &pair->sides[1 - own];
		const struct transport_counters *counters = adapter_transport(to->adapter);
		for (uint32_t i = 0, at = 0; i <= from->count; i++) {
			uint32_t end = i < from->count ? from->starts[i] : from->total;
			for (; at < end; at++)
				assert_int_equal(to->region[at], UNTOUCHED);
			if (i < from->count)
				at += from->sizes[i];
		}
		assert_int_equal(transport_refused(counters), counters->refused[REFUSED_PROBE]);
		assert_int_equal(counters->no_qp, 0);
		assert_int_equal(counters->qps_failed, 0);
		assert_int_equal(from->books.came, from->books.sent);
	}
}

static void pairs_of_all_kinds_come_to_their_end(void **state)
{
	(void)state;
	uint64_t first = number("WEFT_PAIRS_FIRST", 1), count = number("WEFT_PAIRS_COUNT", 5000);
	uint64_t packets = 0, checks = 0, far_max = 0, repeated = 0, windows = 0;
	for (uint64_t seed = first; seed < first + count; seed++) {
		seed_begin("WEFT_PAIRS", seed);
		struct pair *pair = open_pair(seed);
		run(pair);
		check_end(pair);
		for (uint32_t own = 0; own < 2; own++) {
			const struct books *books = &pair->sides[own].books;
			packets += books->sent;
			checks += books->checks;
			repeated += pair->sides[own].own.used;
			windows += pair->sides[own].own.window_most != 0;
			far_max = far_max > books->far_max ? far_max : books->far_max;
		}
		close_pair(pair);
	}
	printf("%llu pairs, %llu packets, flight compared %llu times: at most %llu bytes apart; "
	       "%llu left over values that are on several planes, %llu QPs had a window of their "
	       "own\n",
	       (unsigned long long)count, (unsigned long long)packets, (unsigned long long)checks,
	       (unsigned long long)far_max, (unsigned long long)repeated,
	       (unsigned long long)windows);
	assert_true(count < 100 || (repeated > count && windows > count / 2));
	seeds_end();
}
