// SPDX-License-Identifier: Apache-2.0
// Berths: see berth.h.

#include <weft/host/berth.h>

#include <errno.h>

#include <weft/core/bitmap.h>
#include <weft/core/check.h>
#include <weft/core/rng.h>
#include <weft/workload/course.h>

#include <weft/host/nic.h>

// Receivers have as many as senders times this and some more: how many come at once is not up to
// them.
#define ARRIVING_TIMES 2
#define ARRIVING_MORE 16

// ---------------------------------------------------------------- numbers

// Connections of NIC x among n are numbered in the order of their senders: those of the NICs
// before it, its own n - 1 to the ones behind it, those of the NICs after it.
static uint32_t ranks_of(const struct berths *berths)
{
	return course_config(berths->course)->ranks;
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

static struct other other_of(const struct berths *berths, uint32_t number)
{
	uint32_t ranks = ranks_of(berths);
	if (number < berths->nic)
		return (struct other){number, true};
	if (number < berths->nic + ranks - 1)
		return (struct other){(number + 1) % ranks, false};
	return (struct other){number + 2 - ranks, true};
}

// ---------------------------------------------------------------- places

static uint32_t *bucket_of(const struct berths *berths, uint32_t number)
{
	return &berths->buckets[rng_mix(number) & berths->mask];
}

static uint32_t find(const struct berths *berths, uint32_t number)
{
	uint32_t at = *bucket_of(berths, number);
	while (at != OP_NONE && berths->list[at].number != number)
		at = berths->list[at].chain;
	return at;
}

static void forget(struct berths *berths, uint32_t at)
{
	uint32_t *link = bucket_of(berths, berths->list[at].number);
	while (*link != at)
		link = &berths->list[*link].chain;
	*link = berths->list[at].chain;
}

static void rest(struct berths *berths, uint32_t at)
{
	berths->list[at].next = OP_NONE;
	if (berths->rest_head == OP_NONE)
		berths->rest_head = at;
	else
		berths->list[berths->rest_tail].next = at;
	berths->rest_tail = at;
}

// A place that nobody has, or that of the connection that is done longest; OP_NONE: none.
static uint32_t take(struct nic *nic)
{
	struct berths *berths = nic->berths;
	if (berths->fresh < berths->count)
		return berths->fresh++;
	uint32_t at = berths->rest_head;
	if (at == OP_NONE)
		return at;
	berths->rest_head = berths->list[at].next;
	forget(berths, at);
	check(endpoint_reset(nic->endpoint, at) == 0);
	if (berths->rest_head != OP_NONE) // it is the next one to be reset
		endpoint_fetch_qp(nic->endpoint, berths->rest_head);
	return at;
}

static struct qp_past past_of(const struct berths *berths, uint32_t from)
{
	const struct course *course = berths->course;
	const struct transport_config *transport = berths->transport;
	uint32_t requests = course_pair_messages(course, from, berths->nic);
	uint64_t packets = course_pair_packets(course, from, berths->nic, transport->payload_bytes);
	return (struct qp_past){.packets = (uint32_t)packets,
				.requests = requests,
				.wire_bytes = packets * transport->header_bytes +
					course_pair_bytes(course, from, berths->nic)};
}

// Gives connection `number` a place as it was at the start of all, or, when all of it came, as it
// is then.
static uint32_t open(struct nic *nic, uint32_t number)
{
	struct berths *berths = nic->berths;
	struct other other = other_of(berths, number);
	uint32_t at = take(nic), own = berths->nic, ranks = ranks_of(berths);
	bool is_over = other.is_sender && bitmap_get(berths->met, other.nic);
	struct qp_past past = {0};
	if (at == OP_NONE)
		return at;
	if (is_over)
		past = past_of(berths, other.nic);
	uint32_t from = other.is_sender ? other.nic : own, to = other.is_sender ? own : other.nic;
	struct qp_config config = {.local_nic = own,
				   .remote_nic = other.nic,
				   .remote_qpn = other.is_sender ? sending(other.nic, own, ranks)
								 : receiving(other.nic, own, ranks),
				   .id = (uint64_t)own << 32 | number,
				   .first_psn = first_psn_of(&berths->first_psn, from, to)};
	check(endpoint_resume(nic->endpoint, at, &config, &past, 0) == 0);
	nic->peers[at] = (struct nic_peer){
		.owner = other.nic,
		.role = other.is_sender ? NIC_ROLE_LINE_RECEIVE : NIC_ROLE_LINE_SEND,
		.pair = (uint8_t)topology_pair(berths->topology, from, to),
		.first = at,
		.wait_first = OP_NONE,
		.wait_last = OP_NONE};
	uint32_t *bucket = bucket_of(berths, number);
	berths->list[at] = (struct berth){
		.number = number,
		.left = is_over ? 0 : course_pair_messages(berths->course, from, to),
		.chain = *bucket};
	*bucket = at;
	berths->arriving += other.is_sender && !is_over;
	if (is_over)
		rest(berths, at);
	return at;
}

// ---------------------------------------------------------------- building

uint32_t berths_count(const struct course *course)
{
	if (course == NULL || course_has_peers(course))
		return 0;
	uint32_t pairs = course_pairs_max(course);
	uint64_t most = 2ull * (course_config(course)->ranks - 1);
	uint64_t count = pairs * (1ull + ARRIVING_TIMES) + ARRIVING_MORE;
	return (uint32_t)(count < most ? count : most);
}

bool berths_are_few(const struct course *course)
{
	return berths_count(course) < 2 * (course_config(course)->ranks - 1);
}

int berths_build(struct berths **ret, struct arena *arena, const struct berths_of *of, uint32_t nic)
{
	const struct course *course = of->course;
	struct berths *berths = arena_draw(arena, ARENA_WORLD, 1, sizeof(*berths));
	uint32_t count = berths_count(course), buckets = 1;
	uint32_t others = course_config(course)->ranks - 1;
	uint32_t arriving = count - course_pairs_max(course);
	while (buckets < 2 * count)
		buckets *= 2;
	if (berths == NULL)
		return -ENOMEM;
	*berths = (struct berths){
		.course = course,
		.topology = of->topology,
		.transport = of->transport,
		.first_psn = of->first_psn,
		.nic = nic,
		.count = count,
		.arriving_max = arriving < others ? arriving : others,
		.mask = buckets - 1,
		.buckets = arena_draw(arena, ARENA_WORLD, buckets, sizeof(uint32_t)),
		.list = arena_draw(arena, ARENA_WORLD, count, sizeof(struct berth)),
		.rest_head = OP_NONE,
		.wait_first = OP_NONE,
		.met = arena_draw(arena, ARENA_WORLD, BITMAP_WORDS(course_config(course)->ranks),
				  sizeof(uint64_t))};
	if (arena_has_failed(arena))
		return -ENOMEM;
	for (uint32_t i = 0; i < buckets; i++)
		berths->buckets[i] = OP_NONE;
	*ret = berths;
	return 0;
}

// ---------------------------------------------------------------- use

uint32_t berths_to(struct nic *nic, uint32_t to)
{
	struct berths *berths = nic->berths;
	uint32_t number = sending(berths->nic, to, ranks_of(berths));
	uint32_t at = find(berths, number);
	if (at != OP_NONE)
		return at;
	if (berths->sending >= berths->count - berths->arriving_max)
		return OP_NONE;
	berths->sending++;
	at = open(nic, number);
	check(at != OP_NONE && "receivers leave senders their berths");
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

bool berths_admit(struct nic *nic, struct packet *packet)
{
	struct berths *berths = nic->berths;
	uint32_t number = packet->qpn, ranks = ranks_of(berths), from = packet->source;
	uint32_t at = find(berths, number);
	if (at == OP_NONE && is_of_ports(packet->opcode)) {
		at = berths->count; // it is for the NIC: no QP has that number
	} else if (at == OP_NONE) {
		bool is_known = from < ranks && from != berths->nic &&
			number == receiving(berths->nic, from, ranks);
		if (!is_known || !is_opening(packet->opcode))
			return false;
		bool is_over = bitmap_get(berths->met, from);
		if (!is_over && berths->arriving >= berths->arriving_max)
			return false;
		at = open(nic, number);
		if (at == OP_NONE)
			return false;
	}
	packet->qpn = at;
	return true;
}

void berths_done(struct nic *nic, uint32_t at)
{
	struct berths *berths = nic->berths;
	struct berth *berth = &berths->list[at];
	const struct nic_peer *peer = &nic->peers[at];
	check(berth->left > 0 && "a connection has so many messages and no more");
	if (--berth->left > 0)
		return;
	if (peer->role == NIC_ROLE_LINE_RECEIVE) {
		bitmap_set(berths->met, peer->owner);
		berths->arriving--;
	} else {
		berths->sending--;
	}
	rest(berths, at);
}
