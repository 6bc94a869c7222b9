// SPDX-License-Identifier: Apache-2.0
// A host runs its rank's part of a collective stream. See coll_stream_host.h.
//
// A message's number is its immediate value, so that messages need not complete in the order in
// which they were posted. A send that finds its QP full, or that must wait for a context, stands in
// a list of its QP, in posting order; one whose connection has no QP yet in a list of its NIC.

#include <weft/host/coll_stream_host.h>

#include <weft/core/check.h>

#include <weft/host/host.h>

// Where messages go that the collective stream tells.
struct counter {
	struct world_host *host;
	ps_t now;
	struct outbox *out;
};

static uint32_t other_of(const struct world_host *host, const struct nic_peer *peer)
{
	if (host->coll_stream_host->line_first == NULL)
		return peer->owner;
	const struct opgraph_connection *line = &host->coll_stream_host->lines[peer->owner];
	return peer->role == NIC_ROLE_LINE_SEND ? line->to_nic : line->from_nic;
}

// ---------------------------------------------------------------- sends

static bool post(struct world_host *host, uint32_t qpn, const struct coll_stream_message *message,
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
	const struct coll_stream_host *coll_stream_host = host->coll_stream_host;
	if (coll_stream_host->line_first == NULL)
		return qp_pool_to(&host->nics[0], to);
	uint32_t at = coll_stream_host->line_first[host->first_nic];
	while (coll_stream_host->lines[at].to_nic != to)
		check(++at < coll_stream_host->line_first[host->first_nic + 1]);
	struct opgraph_connection *line = &coll_stream_host->lines[at];
	uint32_t qpn = line->qpn + line->turn;
	line->turn = (line->turn + 1) % host->qps_per_connection;
	return qpn;
}

// Behind all others of the list that begins at *first. Returns its place.
static uint32_t wait_push(struct coll_stream_host *coll_stream_host, uint32_t *first,
			  uint32_t *last, uint32_t number)
{
	uint32_t at = coll_stream_host->waits_free;
	if (at != OP_NONE) {
		coll_stream_host->waits_free = coll_stream_host->waits[at].next;
	} else {
		check(coll_stream_host->waits_fresh < coll_stream_host->waits_max);
		at = coll_stream_host->waits_fresh++;
	}
	coll_stream_host->waits[at] = (struct coll_stream_host_wait){number, OP_NONE};
	if (*first == OP_NONE)
		*first = at;
	else
		coll_stream_host->waits[*last].next = at;
	*last = at;
	return at;
}

static void wait_pop(struct coll_stream_host *coll_stream_host, uint32_t *first)
{
	uint32_t at = *first;
	*first = coll_stream_host->waits[at].next;
	coll_stream_host->waits[at].next = coll_stream_host->waits_free;
	coll_stream_host->waits_free = at;
}

static void send_on(struct world_host *host, uint32_t qpn,
		    const struct coll_stream_message *message, ps_t now, struct outbox *out)
{
	struct nic_peer *peer = &host->nics[0].peers[qpn];
	if (peer->wait_first != OP_NONE || !post(host, qpn, message, now, out))
		wait_push(host->coll_stream_host, &peer->wait_first, &peer->wait_last,
			  message->number);
}

static void send(void *context, const struct coll_stream_message *message)
{
	const struct counter *counter = context;
	struct world_host *host = counter->host;
	struct coll_stream_host *coll_stream_host = host->coll_stream_host;
	uint32_t qpn = qpn_to(host, message->to);
	if (qpn != OP_NONE) {
		send_on(host, qpn, message, counter->now, counter->out);
		return;
	}
	struct qp_pool *qp_pool = host->nics[0].qp_pool;
	uint32_t at = wait_push(coll_stream_host, &qp_pool->wait_first, &qp_pool->wait_last,
				message->number);
	coll_stream_host->waits_to[at] = message->to;
}

// Sends what waits for a pooled QP, as far as there are some.
static void send_waiting(struct world_host *host, struct qp_pool *qp_pool, ps_t now,
			 struct outbox *out)
{
	struct coll_stream_host *coll_stream_host = host->coll_stream_host;
	while (qp_pool->wait_first != OP_NONE) {
		uint32_t to = coll_stream_host->waits_to[qp_pool->wait_first];
		uint32_t number = coll_stream_host->waits[qp_pool->wait_first].number;
		uint32_t qpn = qpn_to(host, to);
		if (qpn == OP_NONE)
			return;
		wait_pop(coll_stream_host, &qp_pool->wait_first);
		struct coll_stream_message message = coll_stream_message(
			coll_stream_host->coll_stream, host->first_nic, to, number);
		send_on(host, qpn, &message, now, out);
	}
}

// Posts what waits at a QP, as far as it takes it.
static void on_ready(struct world_host *host, struct nic *nic, uint32_t qpn, ps_t now,
		     struct outbox *out)
{
	struct nic_peer *peer = &nic->peers[qpn];
	while (peer->wait_first != OP_NONE) {
		uint32_t number = host->coll_stream_host->waits[peer->wait_first].number;
		struct coll_stream_message message = coll_stream_message(
			host->coll_stream_host->coll_stream, host->first_nic, other_of(host, peer),
			number);
		if (!post(host, qpn, &message, now, out))
			return;
		wait_pop(host->coll_stream_host, &peer->wait_first);
	}
}

// ---------------------------------------------------------------- events

static void note_end(struct world_host *host, struct nic *nic, uint32_t qpn, ps_t now,
		     struct outbox *out)
{
	host->record->work_done++;
	host->record->outcome->end_ps = ps_max(host->record->outcome->end_ps, now);
	if (nic->qp_pool == NULL)
		return;
	qp_pool_done(nic, qpn);
	send_waiting(host, nic->qp_pool, now, out);
}

// Its rank begins.
static void on_event(struct world_host *host, enum host_event event, uint64_t rank, ps_t now,
		     struct outbox *out)
{
	struct counter counter = {host, now, out};
	coll_stream_begin(host->coll_stream_host->coll_stream, (uint32_t)rank, send, &counter);
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
	coll_stream_sent(host->coll_stream_host->coll_stream, host->first_nic, to, number, send,
			 &counter);
}

static void on_received(struct world_host *host, struct nic *nic, const struct completion *done,
			ps_t now, struct outbox *out)
{
	struct counter counter = {host, now, out};
	uint32_t from = other_of(host, &nic->peers[done->qp]);
	note_end(host, nic, done->qp, now, out);
	coll_stream_arrived(host->coll_stream_host->coll_stream, host->first_nic, from, done->imm,
			    done->bytes, send, &counter);
}

const struct host_engine coll_stream_host_engine = {
	.on_event = on_event, .on_sent = on_sent, .on_received = on_received, .on_ready = on_ready};
