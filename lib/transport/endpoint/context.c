// SPDX-License-Identifier: Apache-2.0
// The pool of contexts: four lists of contexts and two queues of QPs, so that every step costs the
// same however many there are. See context.h.
#include "control.h"
#include "endpoint.h"
#include "ready.h"

// A context that was granted is kept for so many base timeouts: whoever waited comes within one.
#define GRANT_TIMEOUTS 2

// ---------------------------------------------------------------- lists of contexts

static void list_remove(struct endpoint *endpoint, struct qp *qp)
{
	struct context_queue *list = &endpoint->pool.lists[qp->list];
	if (qp->list == CONTEXT_BUSY)
		return;
	if (qp->list_prev != 0)
		context_at(endpoint, qp->list_prev - 1)->list_next = qp->list_next;
	else
		list->head = qp->list_next;
	if (qp->list_next != 0)
		context_at(endpoint, qp->list_next - 1)->list_prev = qp->list_prev;
	else
		list->tail = qp->list_prev;
	qp->list = CONTEXT_BUSY;
	qp->list_next = qp->list_prev = 0;
}

// Puts a context behind all others of a list, and takes it out of the one where it was.
static void list_move(struct endpoint *endpoint, struct qp *qp, enum context_list to)
{
	struct context_queue *list = &endpoint->pool.lists[to];
	list_remove(endpoint, qp);
	qp->list = (uint8_t)to;
	qp->list_prev = list->tail;
	qp->listed_at = endpoint->pool.now;
	if (list->tail != 0)
		context_at(endpoint, list->tail - 1)->list_next = qp->context + 1;
	else
		list->head = qp->context + 1;
	list->tail = qp->context + 1;
}

void context_pool_init(struct endpoint *endpoint, uint32_t count)
{
	struct context_pool *pool = &endpoint->pool;
	pool->senders_max = count - 1;
	for (uint32_t context = 0; context < count; context++)
		list_move(endpoint, context_at(endpoint, context), CONTEXT_FREE);
}

// ---------------------------------------------------------------- queues of QPs

static void wait_push(struct endpoint *endpoint, uint32_t number, enum need need)
{
	struct context_queue *queue = &endpoint->pool.waits[need];
	struct qp_record *record = &endpoint->records[number];
	if (record->waits[need])
		return;
	record->waits[need] = true;
	record->wait_next[need] = 0;
	if (queue->tail != 0)
		endpoint->records[queue->tail - 1].wait_next[need] = number + 1;
	else
		queue->head = number + 1;
	queue->tail = number + 1;
}

static uint32_t wait_pop(struct endpoint *endpoint, enum need need)
{
	struct context_queue *queue = &endpoint->pool.waits[need];
	uint32_t number = queue->head - 1;
	struct qp_record *record = &endpoint->records[number];
	queue->head = record->wait_next[need];
	if (queue->head == 0)
		queue->tail = 0;
	record->waits[need] = false;
	return number;
}

static void tell(struct endpoint *endpoint, uint32_t number)
{
	struct context_queue *notified = &endpoint->pool.notified;
	struct qp_record *record = &endpoint->records[number];
	if (record->is_notified)
		return;
	record->is_notified = true;
	record->notified_next = 0;
	if (notified->tail != 0)
		endpoint->records[notified->tail - 1].notified_next = number + 1;
	else
		notified->head = number + 1;
	notified->tail = number + 1;
}

bool context_notified(struct endpoint *endpoint, uint32_t *ret_number)
{
	struct context_queue *notified = &endpoint->pool.notified;
	if (notified->head == 0)
		return false;
	*ret_number = notified->head - 1;
	struct qp_record *record = &endpoint->records[*ret_number];
	notified->head = record->notified_next;
	if (notified->head == 0)
		notified->tail = 0;
	record->is_notified = false;
	return true;
}

// ---------------------------------------------------------------- giving and taking

static bool is_any_left(const struct endpoint *endpoint)
{
	return endpoint->pool.lists[CONTEXT_FREE].head != 0 ||
		endpoint->pool.lists[CONTEXT_RESTING].head != 0;
}

// Gives QP `number`, which has none, a context: a free one, or that of the QP at rest longest.
static struct qp *attach(struct endpoint *endpoint, uint32_t number)
{
	struct context_pool *pool = &endpoint->pool;
	uint32_t context = pool->lists[CONTEXT_FREE].head;
	if (context == 0) {
		context = pool->lists[CONTEXT_RESTING].head;
		list_remove(endpoint, context_at(endpoint, context - 1));
		record_store(endpoint, context_at(endpoint, context - 1));
		endpoint->counters.contexts_taken++;
	}
	struct qp *qp = context_at(endpoint, context - 1);
	list_remove(endpoint, qp);
	record_load(endpoint, qp, number, pool->now);
	endpoint->counters.contexts_given++;
	return qp;
}

static bool is_over(const struct endpoint *endpoint, ps_t since)
{
	return since + GRANT_TIMEOUTS * endpoint->config->rto_ps <= endpoint->pool.now;
}

static void count_sender(struct endpoint *endpoint, struct qp *qp, bool is_sender)
{
	endpoint->pool.senders += (uint32_t)is_sender - (uint32_t)qp->is_sender;
	qp->is_sender = is_sender;
}

static void arm(struct endpoint *endpoint)
{
	struct context_pool *pool = &endpoint->pool;
	uint32_t oldest = pool->lists[CONTEXT_GRANTED].head;
	if (pool->has_timer || oldest == 0)
		return;
	pool->has_timer = true;
	heap_push(&endpoint->timers,
		  context_at(endpoint, oldest - 1)->listed_at +
			  GRANT_TIMEOUTS * endpoint->config->rto_ps,
		  (uint64_t)TIMER_CONTEXTS << TIMER_KIND_SHIFT);
}

// Whether the first QP that waits for `need` can be served now.
static bool can_serve(const struct endpoint *endpoint, enum need need)
{
	const struct context_pool *pool = &endpoint->pool;
	uint32_t first = pool->waits[need].head;
	if (first == 0 || (need == NEED_POST && pool->senders >= pool->senders_max))
		return false;
	return endpoint->records[first - 1].context != 0 || is_any_left(endpoint);
}

static void grant(struct endpoint *endpoint, enum need need)
{
	uint32_t number = wait_pop(endpoint, need);
	struct qp *qp = endpoint_qp(endpoint, number);
	if (need == NEED_PACKET && qp) // it got one for a post meanwhile
		return;
	if (!qp)
		qp = attach(endpoint, number);
	if (qp->list != CONTEXT_BUSY || qp_is_at_rest(qp))
		list_move(endpoint, qp, CONTEXT_GRANTED);
	if (need == NEED_POST) {
		qp->is_promised = true;
		qp->promised_at = endpoint->pool.now;
		count_sender(endpoint, qp, true);
		tell(endpoint, number);
	}
}

// Lets those that wait have what there is.
static void serve(struct endpoint *endpoint)
{
	struct context_pool *pool = &endpoint->pool;
	for (;;) {
		enum need first = pool->turn, other = first == NEED_POST ? NEED_PACKET : NEED_POST;
		enum need need = can_serve(endpoint, first) ? first : other;
		if (!can_serve(endpoint, need))
			break;
		grant(endpoint, need);
		pool->turn = need == NEED_POST ? NEED_PACKET : NEED_POST;
	}
	arm(endpoint);
}

struct qp *context_for_post(struct endpoint *endpoint, uint32_t number, ps_t now)
{
	struct context_pool *pool = &endpoint->pool;
	struct qp *qp = endpoint_qp(endpoint, number);
	pool->now = now;
	if (qp && qp->is_sender) {
		qp->is_promised = false;
		return qp;
	}
	if (pool->waits[NEED_POST].head == 0 && pool->senders < pool->senders_max &&
	    (qp || (pool->waits[NEED_PACKET].head == 0 && is_any_left(endpoint))))
		return qp ? qp : attach(endpoint, number);
	endpoint->counters.posts_deferred += !endpoint->records[number].waits[NEED_POST];
	wait_push(endpoint, number, NEED_POST);
	serve(endpoint);
	return NULL;
}

struct qp *context_for_packet(struct endpoint *endpoint, uint32_t number, ps_t now)
{
	struct context_pool *pool = &endpoint->pool;
	pool->now = now;
	if (pool->waits[NEED_PACKET].head == 0 && is_any_left(endpoint))
		return attach(endpoint, number);
	wait_push(endpoint, number, NEED_PACKET);
	serve(endpoint);
	return endpoint_qp(endpoint, number);
}

void context_answer_nack(struct endpoint *endpoint, const struct qp_record *record, uint32_t index,
			 uint8_t reason, struct outbox *out)
{
	struct packet *packet = packet_at(out->packets, index);
	uint32_t ev = packet->ev; // the answer goes as it came
	packet->opcode = PACKET_NACK;
	packet->u.nack = (struct packet_nack_info){
		.ev_echo = ev, .psn = packet->psn, .reason = reason};
	endpoint->counters.nacks_sent++;
	control_address(endpoint, record->remote_qpn, packet);
	control_send(endpoint, index, out);
}

void context_defer(struct endpoint *endpoint, const struct qp_record *record, uint32_t index,
		   struct outbox *out)
{
	struct packet *packet = packet_at(out->packets, index);
	endpoint->counters.packets_deferred++;
	if (packet->opcode == PACKET_PROBE) { // its sender has a timer
		packet_put(out->packets, index);
		return;
	}
	context_answer_nack(endpoint, record, index, PACKET_NACK_NO_BITMAP, out);
}

void context_touch(struct endpoint *endpoint, struct qp *qp)
{
	bool is_at_rest = qp_is_at_rest(qp);
	// what comes in meanwhile is no reason to keep a turn that is not used
	qp->is_promised = qp->is_promised && !is_over(endpoint, qp->promised_at);
	count_sender(endpoint, qp, qp->send_done != qp->send_tail || qp->is_promised);
	if (is_at_rest) {
		ready_leave(endpoint, qp); // a repair that was not needed after all
		list_move(endpoint, qp, qp->is_promised ? CONTEXT_GRANTED : CONTEXT_RESTING);
	} else {
		list_remove(endpoint, qp);
	}
	serve(endpoint);
}

void context_timer_rang(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	endpoint->pool.now = now;
	if (qp->list == CONTEXT_BUSY || (qp->list != CONTEXT_FREE && !qp_is_at_rest(qp)))
		context_touch(endpoint, qp);
}

void context_on_time(struct endpoint *endpoint, ps_t now)
{
	struct context_pool *pool = &endpoint->pool;
	pool->now = now;
	pool->has_timer = false;
	for (uint32_t head; (head = pool->lists[CONTEXT_GRANTED].head) != 0;) {
		struct qp *qp = context_at(endpoint, head - 1);
		if (!is_over(endpoint, qp->listed_at))
			break;
		qp->is_promised = false;
		count_sender(endpoint, qp, false);
		list_move(endpoint, qp, CONTEXT_RESTING);
	}
	serve(endpoint);
}

// ---------------------------------------------------------------- the end of a life

// Takes QP `number` out of the queue of those that wait for `need`; looks at all of them.
static void wait_remove(struct endpoint *endpoint, uint32_t number, enum need need)
{
	if (!endpoint->records[number].waits[need])
		return;
	struct context_queue old = endpoint->pool.waits[need];
	endpoint->pool.waits[need] = (struct context_queue){0};
	while (old.head != 0) {
		uint32_t at = old.head - 1;
		old.head = endpoint->records[at].wait_next[need];
		endpoint->records[at].waits[need] = false;
		if (at != number)
			wait_push(endpoint, at, need);
	}
}

static void notified_remove(struct endpoint *endpoint, uint32_t number)
{
	if (!endpoint->records[number].is_notified)
		return;
	struct context_queue old = endpoint->pool.notified;
	endpoint->pool.notified = (struct context_queue){0};
	while (old.head != 0) {
		uint32_t at = old.head - 1;
		old.head = endpoint->records[at].notified_next;
		endpoint->records[at].is_notified = false;
		if (at != number)
			tell(endpoint, at);
	}
}

void context_wait_no_more(struct endpoint *endpoint, uint32_t number)
{
	struct qp *qp = endpoint_qp(endpoint, number);
	wait_remove(endpoint, number, NEED_POST);
	wait_remove(endpoint, number, NEED_PACKET);
	notified_remove(endpoint, number);
	if (qp)
		qp->is_promised = false;
}

void context_forget(struct endpoint *endpoint, uint32_t number)
{
	struct qp *qp = endpoint_qp(endpoint, number);
	context_wait_no_more(endpoint, number);
	if (qp) {
		count_sender(endpoint, qp, false);
		list_remove(endpoint, qp);
		qp_clear(endpoint, qp);
		list_move(endpoint, qp, CONTEXT_FREE);
		serve(endpoint);
	}
}

uint32_t endpoint_contexts_busy(const struct endpoint *endpoint)
{
	uint32_t busy = 0;
	for (uint32_t number = 0; endpoint->is_pooled && number < endpoint->qp_max; number++) {
		const struct qp *qp = endpoint_qp(endpoint, number);
		busy += qp && qp->list == CONTEXT_BUSY;
	}
	return busy;
}
