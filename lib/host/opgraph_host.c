// SPDX-License-Identifier: Apache-2.0
// A host runs its ranks' part of the program. See opgraph_host.h.
//
// A message names its receive in the immediate value, so that messages need not complete in the
// order in which they were posted: there may be several QPs. A send that finds its QP full, or that
// must wait for a context, stands in a list of its QP, in posting order.

#include <weft/host/opgraph_host.h>

#include <weft/host/host.h>

// ---------------------------------------------------------------- sends

static bool post(struct world_host *host, uint32_t index, uint32_t nic, uint32_t qpn, ps_t now,
		 struct outbox *out)
{
	const struct program *program = host->opgraph_host->program;
	const struct op *op = &program->ops[index];
	struct work work = {
		.va = host->opgraph_host->write_target.va[op->twin],
		.rkey = RKEY_DATA,
		.bytes = op->bytes,
		.imm = op->twin - program->immediate_first,
		.has_imm = op->twin >= program->immediate_first,
		.cookie = cookie_of(COOKIE_OP, index, 0),
	};
	return host_post(host, nic, qpn, &work, now, out);
}

// Which QP of its connection a message goes over. Slices of one channel stay in their order, as
// they do where rings run as such: two that shared the line packet by packet would come late both.
static uint32_t take_turn(const struct world_host *host, uint32_t index,
			  struct opgraph_connection *line)
{
	const struct opgraph_host *opgraph_host = host->opgraph_host;
	uint32_t turn = line->turn, qps = host->qps_per_connection;
	uint32_t tag = opgraph_host->program->ops[index].tag;
	line->turn = (turn + 1) % qps;
	if (opgraph_host->channels == 0 || tag < RING_TAG)
		return turn;
	uint32_t each = qps / opgraph_host->channels;
	return tag % opgraph_host->channels * each + turn % each;
}

static void send_far(struct world_host *host, uint32_t index, ps_t now, struct outbox *out)
{
	struct opgraph_host *opgraph_host = host->opgraph_host;
	struct opgraph_connection *line = &opgraph_host->lines[opgraph_host->line_of[index]];
	uint32_t nic = line->from_nic - host->first_nic;
	uint32_t qpn = line->qpn + take_turn(host, index, line);
	struct nic_peer *peer = &host->nics[nic].peers[qpn];
	if (peer->wait_first == OP_NONE && post(host, index, nic, qpn, now, out))
		return;
	opgraph_host->next[index] = OP_NONE;
	if (peer->wait_first == OP_NONE)
		peer->wait_first = index;
	else
		opgraph_host->next[peer->wait_last] = index;
	peer->wait_last = index;
}

// A ring's credit is a flag in the neighbour's memory: the scale-up delay, no bandwidth, and
// nothing that it waits behind.
static bool is_flag(const struct opgraph_host *opgraph_host, const struct op *op)
{
	return opgraph_host->channels > 0 && op->tag >= RING_TAG && op->bytes <= RING_CREDIT_BYTES;
}

static void send_near(struct world_host *host, uint32_t index, ps_t now)
{
	const struct program *program = host->opgraph_host->program;
	const struct op *op = &program->ops[index];
	uint32_t from = program->nics[op->rank] - host->first_nic;
	uint32_t to = program->nics[op->peer] - host->first_nic;
	ps_t sent = now, there = now + host->scaleup.delay_ps;
	if (!is_flag(host->opgraph_host, op))
		there = scaleup_send(&host->scaleup, from, to, op->bytes, now, &sent);
	struct outcome_program *count = &host->record->outcome->program;
	host_later(host, HOST_OP_ENDED, index, sent);
	host_later(host, HOST_OP_ARRIVED, op->twin, there);
	count->scaleup_messages++;
	count->scaleup_bytes += op->bytes;
}

// Posts what waits at a QP, as far as it takes it.
static void on_ready(struct world_host *host, struct nic *nic, uint32_t qpn, ps_t now,
		     struct outbox *out)
{
	struct nic_peer *peer = &nic->peers[qpn];
	uint32_t index = (uint32_t)(nic - host->nics);
	while (peer->wait_first != OP_NONE && post(host, peer->wait_first, index, qpn, now, out))
		peer->wait_first = host->opgraph_host->next[peer->wait_first];
}

// ---------------------------------------------------------------- what may begin

static void compute(struct world_host *host, uint32_t index, ps_t now)
{
	const struct op *op = &host->opgraph_host->program->ops[index];
	if (host->opgraph_host->begun_ps != NULL)
		host->opgraph_host->begun_ps[index] = now;
	if (op->compute_ps == OP_EXTERNAL_COMPUTE_PS)
		return;
	ps_t end = stall_work_until(&host->faults, now, op->compute_ps);
	host_worked(host, op->compute_ps, now, end);
	if (end != PS_NEVER) // else the host stands still for good
		host_later(host, HOST_OP_ENDED, index, end);
}

// The ring may still be at an earlier bucket: it asks again when that is done.
static void start_collective(struct world_host *host, uint32_t index, ps_t now, struct outbox *out)
{
	const struct opgraph_host *opgraph_host = host->opgraph_host;
	const struct op *op = &opgraph_host->program->ops[index];
	rank_act(host, opgraph_host->rank_of[opgraph_host->group_first[op->group] + op->at], now,
		 out);
}

static bool lets_start(const struct world_host *host, const struct rank *rank)
{
	const struct opgraph_host *opgraph_host = host->opgraph_host;
	return program_run_has_begun(opgraph_host->run,
				     program_collective_of(opgraph_host->program, rank->group_index,
							   rank->at, rank->bucket));
}

// By an event of its own: the ring is at work when it says this.
static void on_collective(struct world_host *host, const struct rank *rank, ps_t now)
{
	host_later(host, HOST_OP_ENDED,
		   program_collective_of(host->opgraph_host->program, rank->group_index, rank->at,
					 rank->bucket - 1),
		   now);
}

static void act(struct world_host *host, uint32_t rank, ps_t now, struct outbox *out)
{
	struct opgraph_host *opgraph_host = host->opgraph_host;
	for (uint32_t index; (index = program_run_next(opgraph_host->run, rank)) != OP_NONE;) {
		const struct op *op = &opgraph_host->program->ops[index];
		if (opgraph_host->times != NULL)
			opgraph_host->times[index].begin_ps = now;
		if (op->kind == OP_COMPUTE)
			compute(host, index, now);
		else if (op->kind == OP_COLLECTIVE)
			start_collective(host, index, now, out);
		else if (opgraph_host->line_of[index] == OP_NONE)
			send_near(host, index, now);
		else
			send_far(host, index, now, out);
	}
}

// ---------------------------------------------------------------- events

// Of several jobs: `ended` more operations of the one that the rank is of.
static void note_job(struct world_host *host, uint32_t rank, uint32_t ended, ps_t now)
{
	const struct opgraph_host *opgraph_host = host->opgraph_host;
	if (opgraph_host->owner_of == NULL)
		return;
	struct outcome_job *job =
		&host->record->outcome
			 ->jobs[opgraph_host->owner_of[opgraph_host->program->nics[rank]]];
	job->ended += ended;
	job->end_ps = ps_max(job->end_ps, now);
}

// What `rank` had left before an event tells how many operations the event ended.
static void go_on(struct world_host *host, uint32_t rank, uint32_t left_before, ps_t now,
		  struct outbox *out)
{
	uint32_t ended = left_before - program_run_left(host->opgraph_host->run, rank);
	host->record->work_done += ended;
	if (ended > 0) {
		host->record->outcome->end_ps = ps_max(host->record->outcome->end_ps, now);
		note_job(host, rank, ended, now);
	}
	act(host, rank, now, out);
}

static void note_end(struct world_host *host, const struct op *op, ps_t now)
{
	const struct opgraph_host *opgraph_host = host->opgraph_host;
	struct op_time *times = opgraph_host->times;
	if (times != NULL) {
		struct op_time *time = &times[op - opgraph_host->program->ops];
		time->end_ps = now;
		if (op->kind == OP_RECEIVE) // nobody begins it
			time->begin_ps = now;
	}
	ps_t *end_ps = host->record->outcome->stream_end_ps;
	if (op->kind == OP_COMPUTE && op->stream < PROGRAM_STREAMS_MAX)
		end_ps[op->stream] = ps_max(end_ps[op->stream], now);
}

static void op_ended(struct world_host *host, uint32_t op, ps_t now, struct outbox *out)
{
	struct opgraph_host *opgraph_host = host->opgraph_host;
	uint32_t rank = opgraph_host->program->ops[op].rank,
		 left = program_run_left(opgraph_host->run, rank);
	program_run_ended(opgraph_host->run, op);
	note_end(host, &opgraph_host->program->ops[op], now);
	go_on(host, rank, left, now, out);
}

static void op_arrived(struct world_host *host, uint32_t receive, ps_t now, struct outbox *out)
{
	struct opgraph_host *opgraph_host = host->opgraph_host;
	uint32_t rank = opgraph_host->program->ops[receive].rank;
	uint32_t left = program_run_left(opgraph_host->run, rank);
	program_run_arrived(opgraph_host->run, receive);
	note_end(host, &opgraph_host->program->ops[receive], now);
	go_on(host, rank, left, now, out);
}

// What did not come over the fabric has no payload; a driver that keeps the data is called here.
static void op_moved(struct world_host *host, uint32_t receive, ps_t now, struct outbox *out)
{
	const struct program *program = host->opgraph_host->program;
	const struct op *op = &program->ops[receive];
	if (out->dma_write_capacity > 0)
		outbox_dma_write(out,
				 &(struct dma_write){.nic = program->nics[op->rank],
						     .rkey = RKEY_MOVED,
						     .bytes = op->bytes,
						     .va = receive});
	op_arrived(host, receive, now, out);
}

static void on_event(struct world_host *host, enum host_event event, uint64_t id, ps_t now,
		     struct outbox *out)
{
	if (event == HOST_OP_BEGIN)
		act(host, (uint32_t)id, now, out);
	else if (event == HOST_OP_ENDED)
		op_ended(host, (uint32_t)id, now, out);
	else // HOST_OP_ARRIVED
		op_moved(host, (uint32_t)id, now, out);
}

static void on_sent(struct world_host *host, struct nic *nic, const struct completion *done,
		    ps_t now, struct outbox *out)
{
	struct outcome_program *count = &host->record->outcome->program;
	count->fabric_messages++;
	count->fabric_bytes += done->bytes;
	on_ready(host, nic, done->qp, now, out);
	op_ended(host, (uint32_t)(done->cookie >> 16), now, out);
}

// Whether a message is the one that the receive of its immediate value waits for.
static bool is_awaited(const struct opgraph_host *opgraph_host,
		       const struct opgraph_connection *line, const struct completion *done)
{
	const struct program *program = opgraph_host->program;
	if (done->imm >= program->op_count)
		return false;
	if (program->has_foreign && program_run_has_arrived(opgraph_host->run, done->imm))
		return false;
	const struct op *op = &program->ops[done->imm];
	return op->kind == OP_RECEIVE && op->bytes == done->bytes &&
		program->nics[op->rank] == line->to_nic &&
		program->nics[op->peer] == line->from_nic;
}

static void on_received(struct world_host *host, struct nic *nic, const struct completion *done,
			ps_t now, struct outbox *out)
{
	const struct opgraph_host *opgraph_host = host->opgraph_host;
	if (!is_awaited(opgraph_host, &opgraph_host->lines[nic->peers[done->qp].owner], done)) {
		check(opgraph_host->program->has_foreign);
		host->record->outcome->program.unexpected++;
		return;
	}
	op_arrived(host, done->imm, now, out);
}

const struct host_engine opgraph_host_engine = {.on_event = on_event,
						.on_sent = on_sent,
						.on_received = on_received,
						.on_ready = on_ready,
						.lets_start = lets_start,
						.on_collective = on_collective};
