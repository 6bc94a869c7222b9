// SPDX-License-Identifier: Apache-2.0
// A host runs its rank's part of a course. See courier.h.
//
// A message's number is its immediate value, so that messages need not complete in the order in
// which they were posted. A send that finds its QP full, or that must wait for a context, stands in
// a list of its QP, in posting order; one whose connection has no QP yet in a list of its NIC.

#include <weft/host/courier.h>

#include <weft/core/check.h>

#include <weft/host/host.h>

// Where messages go that the course tells.
struct counter {
	struct world_host *host;
	ps_t now;
	struct outbox *out;
};

static uint32_t other_of(const struct world_host *host, const struct nic_peer *peer)
{
	if (host->courier->line_first == NULL)
		return peer->owner;
	const struct agent_line *line = &host->courier->lines[peer->owner];
	return peer->role == NIC_ROLE_LINE_SEND ? line->to_nic : line->from_nic;
}

// ---------------------------------------------------------------- sends

static bool post(struct world_host *host, uint32_t qpn, const struct course_message *message,
		 ps_t now, struct outbox *out)
{
	struct work work = {
		.va = message->offset,
		.rkey = RKEY_DATA,
		.bytes = message->bytes,
		.imm = message->number,
		.has_imm = true,
		.cookie = cookie_of(COOKIE_OP, message->number, 0),
	};
	return host_post(host, 0, qpn, &work, now, out);
}

// The QP that takes the next message to NIC `to`; OP_NONE: there is none yet.
static uint32_t qpn_to(struct world_host *host, uint32_t to)
{
	const struct courier *courier = host->courier;
	if (courier->line_first == NULL)
		return berths_to(&host->nics[0], to);
	uint32_t at = courier->line_first[host->first_nic];
	while (courier->lines[at].to_nic != to)
		check(++at < courier->line_first[host->first_nic + 1]);
	struct agent_line *line = &courier->lines[at];
	uint32_t qpn = line->qpn + line->turn;
	line->turn = (line->turn + 1) % host->qps_per_connection;
	return qpn;
}

// Behind all others of the list that begins at *first. Returns its place.
static uint32_t wait_push(struct courier *courier, uint32_t *first, uint32_t *last, uint32_t number)
{
	uint32_t at = courier->waits_free;
	if (at != OP_NONE) {
		courier->waits_free = courier->waits[at].next;
	} else {
		check(courier->waits_fresh < courier->waits_max);
		at = courier->waits_fresh++;
	}
	courier->waits[at] = (struct courier_wait){number, OP_NONE};
	if (*first == OP_NONE)
		*first = at;
	else
		courier->waits[*last].next = at;
	*last = at;
	return at;
}

static void wait_pop(struct courier *courier, uint32_t *first)
{
	uint32_t at = *first;
	*first = courier->waits[at].next;
	courier->waits[at].next = courier->waits_free;
	courier->waits_free = at;
}

static void send_on(struct world_host *host, uint32_t qpn, const struct course_message *message,
		    ps_t now, struct outbox *out)
{
	struct nic_peer *peer = &host->nics[0].peers[qpn];
	if (peer->wait_first != OP_NONE || !post(host, qpn, message, now, out))
		wait_push(host->courier, &peer->wait_first, &peer->wait_last, message->number);
}

static void send(void *context, const struct course_message *message)
{
	const struct counter *counter = context;
	struct world_host *host = counter->host;
	struct courier *courier = host->courier;
	uint32_t qpn = qpn_to(host, message->to);
	if (qpn != OP_NONE) {
		send_on(host, qpn, message, counter->now, counter->out);
		return;
	}
	struct berths *berths = host->nics[0].berths;
	uint32_t at = wait_push(courier, &berths->wait_first, &berths->wait_last, message->number);
	courier->waits_to[at] = message->to;
}

// Sends what waits for a berth, as far as there are some.
static void send_waiting(struct world_host *host, struct berths *berths, ps_t now,
			 struct outbox *out)
{
	struct courier *courier = host->courier;
	while (berths->wait_first != OP_NONE) {
		uint32_t to = courier->waits_to[berths->wait_first];
		uint32_t number = courier->waits[berths->wait_first].number;
		uint32_t qpn = qpn_to(host, to);
		if (qpn == OP_NONE)
			return;
		wait_pop(courier, &berths->wait_first);
		struct course_message message = course_message(courier->course, host->first_nic, to,
							       number);
		send_on(host, qpn, &message, now, out);
	}
}

// Posts what waits at a QP, as far as it takes it.
static void on_ready(struct world_host *host, struct nic *nic, uint32_t qpn, ps_t now,
		     struct outbox *out)
{
	struct nic_peer *peer = &nic->peers[qpn];
	while (peer->wait_first != OP_NONE) {
		uint32_t number = host->courier->waits[peer->wait_first].number;
		struct course_message message = course_message(
			host->courier->course, host->first_nic, other_of(host, peer), number);
		if (!post(host, qpn, &message, now, out))
			return;
		wait_pop(host->courier, &peer->wait_first);
	}
}

// ---------------------------------------------------------------- events

static void note_end(struct world_host *host, struct nic *nic, uint32_t qpn, ps_t now,
		     struct outbox *out)
{
	host->record->work_done++;
	host->record->outcome->end_ps = ps_max(host->record->outcome->end_ps, now);
	if (nic->berths == NULL)
		return;
	berths_done(nic, qpn);
	send_waiting(host, nic->berths, now, out);
}

// Its rank begins.
static void on_event(struct world_host *host, enum host_event event, uint64_t rank, ps_t now,
		     struct outbox *out)
{
	struct counter counter = {host, now, out};
	course_begin(host->courier->course, (uint32_t)rank, send, &counter);
}

static void on_sent(struct world_host *host, struct nic *nic, const struct completion *done,
		    ps_t now, struct outbox *out)
{
	uint32_t number = (uint32_t)(done->cookie >> 16);
	struct counter counter = {host, now, out};
	struct outcome_program *count = &host->record->outcome->program;
	uint32_t to = other_of(host, &nic->peers[done->qp]);
	count->fabric_messages++;
	count->fabric_bytes += done->bytes;
	on_ready(host, nic, done->qp, now, out);
	note_end(host, nic, done->qp, now, out);
	course_sent(host->courier->course, host->first_nic, to, number, send, &counter);
}

static void on_received(struct world_host *host, struct nic *nic, const struct completion *done,
			ps_t now, struct outbox *out)
{
	struct counter counter = {host, now, out};
	uint32_t from = other_of(host, &nic->peers[done->qp]);
	note_end(host, nic, done->qp, now, out);
	course_arrived(host->courier->course, host->first_nic, from, done->imm, done->bytes, send,
		       &counter);
}

const struct host_engine courier_engine = {
	.on_event = on_event, .on_sent = on_sent, .on_received = on_received, .on_ready = on_ready};
