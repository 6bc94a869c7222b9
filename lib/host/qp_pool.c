// SPDX-License-Identifier: Apache-2.0
// Berths: see qp_pool.h.

#include <weft/host/qp_pool.h>

#include <errno.h>

#include <weft/core/bitmap.h>
#include <weft/core/check.h>
#include <weft/core/rng.h>
#include <weft/workload/coll_stream.h>

#include <weft/host/nic.h>

// Receivers have as many as senders times this and some more: how many come at once is not up to
// them.
#define ARRIVING_TIMES 2
#define ARRIVING_MORE 16

// ---------------------------------------------------------------- numbers

// Connections of NIC x among n are numbered in the order of their senders: those of the NICs
// before it, its own n - 1 to the ones behind it, those of the NICs after it.
static uint32_t ranks_of(const struct qp_pool *qp_pool)
{
	return coll_stream_config(qp_pool->coll_stream)->ranks;
}

static uint32_t sending(uint32_t nic, uint32_t to, uint32_t ranks)
{
	return nic + (to + ranks - nic) % ranks - 1;
}

static uint32_t receiving(uint32_t nic, uint32_t from, uint32_t ranks)
{
	return from < nic ? from : from + ranks - 2;
}

// Who is at the other end of connection `number`.
struct other {
	uint32_t nic;
	bool is_sender;
};

static struct other other_of(const struct qp_pool *qp_pool, uint32_t number)
{
	uint32_t ranks = ranks_of(qp_pool);
	if (number < qp_pool->nic)
		return (struct other){number, true};
	if (number < qp_pool->nic + ranks - 1)
		return (struct other){(number + 1) % ranks, false};
	return (struct other){number + 2 - ranks, true};
}

// ---------------------------------------------------------------- places

static uint32_t *bucket_of(const struct qp_pool *qp_pool, uint32_t number)
{
	return &qp_pool->buckets[rng_mix(number) & qp_pool->mask];
}

static uint32_t find(const struct qp_pool *qp_pool, uint32_t number)
{
	uint32_t at = *bucket_of(qp_pool, number);
	while (at != OP_NONE && qp_pool->list[at].number != number)
		at = qp_pool->list[at].chain;
	return at;
}

static void forget(struct qp_pool *qp_pool, uint32_t at)
{
	uint32_t *link = bucket_of(qp_pool, qp_pool->list[at].number);
	while (*link != at)
		link = &qp_pool->list[*link].chain;
	*link = qp_pool->list[at].chain;
}

static void rest(struct qp_pool *qp_pool, uint32_t at)
{
	qp_pool->list[at].next = OP_NONE;
	if (qp_pool->rest_head == OP_NONE)
		qp_pool->rest_head = at;
	else
		qp_pool->list[qp_pool->rest_tail].next = at;
	qp_pool->rest_tail = at;
}

// A place that nobody has, or that of the connection that is done longest; OP_NONE: none.
static uint32_t take(struct nic *nic)
{
	struct qp_pool *qp_pool = nic->qp_pool;
	if (qp_pool->fresh < qp_pool->count)
		return qp_pool->fresh++;
	uint32_t at = qp_pool->rest_head;
	if (at == OP_NONE)
		return at;
	qp_pool->rest_head = qp_pool->list[at].next;
	forget(qp_pool, at);
	check(endpoint_reset(nic->endpoint, at) == 0);
	if (qp_pool->rest_head != OP_NONE) // it is the next one to be reset
		endpoint_fetch_qp(nic->endpoint, qp_pool->rest_head);
	return at;
}

static struct qp_past past_of(const struct qp_pool *qp_pool, uint32_t from)
{
	const struct coll_stream *coll_stream = qp_pool->coll_stream;
	const struct transport_config *transport = qp_pool->transport;
	uint32_t requests = coll_stream_pair_messages(coll_stream, from, qp_pool->nic);
	uint64_t packets = coll_stream_pair_packets(coll_stream, from, qp_pool->nic,
						    transport->payload_bytes);
	return (struct qp_past){.packets = (uint32_t)packets,
				.requests = requests,
				.wire_bytes = packets * transport->header_bytes +
					coll_stream_pair_bytes(coll_stream, from, qp_pool->nic)};
}

// Gives connection `number` a place as it was at the start of all, or, when all of it came, as it
// is then.
static uint32_t open(struct nic *nic, uint32_t number)
{
	struct qp_pool *qp_pool = nic->qp_pool;
	struct other other = other_of(qp_pool, number);
	uint32_t at = take(nic), own = qp_pool->nic, ranks = ranks_of(qp_pool);
	bool is_over = other.is_sender && bitmap_get(qp_pool->met, other.nic);
	struct qp_past past = {0};
	if (at == OP_NONE)
		return at;
	if (is_over)
		past = past_of(qp_pool, other.nic);
	uint32_t from = other.is_sender ? other.nic : own, to = other.is_sender ? own : other.nic;
	struct qp_config config = {.local_nic = own,
				   .remote_nic = other.nic,
				   .remote_qpn = other.is_sender ? sending(other.nic, own, ranks)
								 : receiving(other.nic, own, ranks),
				   .id = (uint64_t)own << 32 | number,
				   .first_psn = first_psn_of(&qp_pool->first_psn, from, to)};
	check(endpoint_resume(nic->endpoint, at, &config, &past, 0) == 0);
	nic->peers[at] = (struct nic_peer){
		.owner = other.nic,
		.role = other.is_sender ? NIC_ROLE_LINE_RECEIVE : NIC_ROLE_LINE_SEND,
		.pair = (uint8_t)topology_pair(qp_pool->topology, from, to),
		.first = at,
		.wait_first = OP_NONE,
		.wait_last = OP_NONE};
	uint32_t *bucket = bucket_of(qp_pool, number);
	qp_pool->list[at] = (struct pooled_qp){
		.number = number,
		.left = is_over ? 0 : coll_stream_pair_messages(qp_pool->coll_stream, from, to),
		.chain = *bucket};
	*bucket = at;
	qp_pool->arriving += other.is_sender && !is_over;
	if (is_over)
		rest(qp_pool, at);
	return at;
}

// ---------------------------------------------------------------- building

uint32_t qp_pool_count(const struct coll_stream *coll_stream)
{
	if (coll_stream == NULL || coll_stream_has_peers(coll_stream))
		return 0;
	uint32_t pairs = coll_stream_pairs_max(coll_stream);
	uint64_t most = 2ull * (coll_stream_config(coll_stream)->ranks - 1);
	uint64_t count = pairs * (1ull + ARRIVING_TIMES) + ARRIVING_MORE;
	return (uint32_t)(count < most ? count : most);
}

uint32_t qp_pool_arriving_max(const struct coll_stream *coll_stream)
{
	uint32_t others = coll_stream_config(coll_stream)->ranks - 1;
	uint32_t arriving = qp_pool_count(coll_stream) - coll_stream_pairs_max(coll_stream);
	return arriving < others ? arriving : others;
}

bool qp_pool_is_small(const struct coll_stream *coll_stream)
{
	return qp_pool_count(coll_stream) < 2 * (coll_stream_config(coll_stream)->ranks - 1);
}

int qp_pool_build(struct qp_pool **ret, struct arena *arena, const struct qp_pool_config *of,
		  uint32_t nic)
{
	const struct coll_stream *coll_stream = of->coll_stream;
	struct qp_pool *qp_pool = arena_draw(arena, ARENA_WORLD, 1, sizeof(*qp_pool));
	uint32_t count = qp_pool_count(coll_stream), buckets = 1;
	while (buckets < 2 * count)
		buckets *= 2;
	if (qp_pool == NULL)
		return -ENOMEM;
	*qp_pool = (struct qp_pool){
		.coll_stream = coll_stream,
		.topology = of->topology,
		.transport = of->transport,
		.first_psn = of->first_psn,
		.nic = nic,
		.count = count,
		.arriving_max = qp_pool_arriving_max(coll_stream),
		.mask = buckets - 1,
		.buckets = arena_draw(arena, ARENA_WORLD, buckets, sizeof(uint32_t)),
		.list = arena_draw(arena, ARENA_WORLD, count, sizeof(struct pooled_qp)),
		.rest_head = OP_NONE,
		.wait_first = OP_NONE,
		.met = arena_draw(arena, ARENA_WORLD,
				  BITMAP_WORDS(coll_stream_config(coll_stream)->ranks),
				  sizeof(uint64_t))};
	if (arena_has_failed(arena))
		return -ENOMEM;
	for (uint32_t i = 0; i < buckets; i++)
		qp_pool->buckets[i] = OP_NONE;
	*ret = qp_pool;
	return 0;
}

// ---------------------------------------------------------------- use

uint32_t qp_pool_to(struct nic *nic, uint32_t to)
{
	struct qp_pool *qp_pool = nic->qp_pool;
	uint32_t number = sending(qp_pool->nic, to, ranks_of(qp_pool));
	uint32_t at = find(qp_pool, number);
	if (at != OP_NONE)
		return at;
	if (qp_pool->sending >= qp_pool->count - qp_pool->arriving_max)
		return OP_NONE;
	qp_pool->sending++;
	at = open(nic, number);
	check(at != OP_NONE && "receivers leave senders their QPs");
	return at;
}

// Whether a packet is the target's to open a connection for.
static bool is_opening(uint8_t opcode)
{
	return (opcode >= PACKET_WRITE_FIRST && opcode <= PACKET_WRITE_ONLY_IMM) ||
		opcode == PACKET_PROBE || opcode == PACKET_DEMAND;
}

static bool is_of_ports(uint8_t opcode)
{
	return opcode == PACKET_ENDPOINT_REQUEST || opcode == PACKET_ENDPOINT_RESPONSE;
}

bool qp_pool_admit(struct nic *nic, struct packet *packet)
{
	struct qp_pool *qp_pool = nic->qp_pool;
	uint32_t number = packet->qpn, ranks = ranks_of(qp_pool), from = packet->source;
	uint32_t at = find(qp_pool, number);
	if (at == OP_NONE && is_of_ports(packet->opcode)) {
		at = qp_pool->count; // it is for the NIC: no QP has that number
	} else if (at == OP_NONE) {
		bool is_known = from < ranks && from != qp_pool->nic &&
			number == receiving(qp_pool->nic, from, ranks);
		if (!is_known || !is_opening(packet->opcode))
			return false;
		bool is_over = bitmap_get(qp_pool->met, from);
		if (!is_over && qp_pool->arriving >= qp_pool->arriving_max)
			return false;
		at = open(nic, number);
		if (at == OP_NONE)
			return false;
	}
	packet->qpn = at;
	return true;
}

void qp_pool_done(struct nic *nic, uint32_t at)
{
	struct qp_pool *qp_pool = nic->qp_pool;
	struct pooled_qp *pooled_qp = &qp_pool->list[at];
	const struct nic_peer *peer = &nic->peers[at];
	check(pooled_qp->left > 0 && "a connection has so many messages and no more");
	if (--pooled_qp->left > 0)
		return;
	if (peer->role == NIC_ROLE_LINE_RECEIVE) {
		bitmap_set(qp_pool->met, peer->owner);
		qp_pool->arriving--;
	} else {
		qp_pool->sending--;
	}
	rest(qp_pool, at);
}
