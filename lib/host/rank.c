// SPDX-License-Identifier: Apache-2.0
// A GPU's part in the collectives of its group. The ring says what to do (collective.c); here it is
// done: over the fabric as WRITE_WITH_IMM for slices and small plain WRITEs for credits (as NCCL
// does), inside the host over the scale-up lines.

#include <weft/measure/measure_slices.h>

#include <weft/host/host.h>

static void send_slice(struct world_host *host, uint32_t index, const struct ring_action *action,
		       ps_t now, struct outbox *out)
{
	struct rank *rank = &host->ranks[index];
	struct rank_link *to = &rank->to[action->channel];
	if (__builtin_expect(rank->slices != NULL, 0))
		slices_sent(rank->slices, action->channel, action->slice,
			    &(struct slice_sent){.at = now,
						 .bucket = rank->bucket - 1,
						 .step = (uint32_t)action->step,
						 .bytes = (uint32_t)action->bytes});
	if (to->is_local) {
		ps_t sent;
		ps_t there = scaleup_send(&host->scaleup, rank->nic, host->ranks[to->rank].nic,
					  action->bytes, now, &sent);
		host_later(host, HOST_SENT, (uint64_t)index << 16 | action->channel, sent);
		host_later(host, HOST_RECEIVED, (uint64_t)to->rank << 16 | action->channel, there);
		return;
	}
	const struct ring_config *ring = &host->job->ring;
	struct work work = {
		.va = action->slice % ring->credits * ring->chunk_bytes_max,
		.rkey = RKEY_DATA,
		.bytes = (uint32_t)action->bytes,
		.imm = (uint32_t)action->slice,
		.has_imm = true,
		.cookie = cookie_of(COOKIE_SLICE, index, action->channel),
	};
	uint32_t qpn = to->qpn + to->turn;
	to->turn = (to->turn + 1) % host->qps_per_connection;
	// sends not completed are bounded by the credits, and the queue holds as many
	host_post_in_turn(host, rank->nic, qpn, &work, now, out);
}

// Writes one credit into the memory of the previous rank. When the queue of the QP is full, because
// a lost packet holds up its completions, the credit waits for one of them.
static void write_credit(struct world_host *host, uint32_t index, uint32_t channel, uint64_t slice,
			 ps_t now, struct outbox *out)
{
	struct rank *rank = &host->ranks[index];
	struct work work = {
		.va = slice % host->job->ring.credits * host->grant_bytes,
		.rkey = RKEY_CREDITS,
		.bytes = host->grant_bytes,
		.cookie = cookie_of(COOKIE_GRANT, index, channel),
	};
	if (host_post(host, rank->nic, rank->from[channel].qpn, &work, now, out))
		host->record->outcome->credits_sent++;
	else
		rank->grants_waiting[channel]++;
}

// Credits are written on the QPs that slices come on.
static void on_ready(struct world_host *host, struct nic *nic, uint32_t qpn, ps_t now,
		     struct outbox *out)
{
	const struct nic_peer *peer = &nic->peers[qpn];
	uint32_t index = peer->owner, channel = peer->channel;
	if (peer->role != NIC_ROLE_RING_RECEIVE)
		return;
	struct rank *rank = &host->ranks[index];
	for (uint32_t left = rank->grants_waiting[channel]; left > 0; left--) {
		uint32_t waiting = rank->grants_waiting[channel]--;
		write_credit(host, index, channel, 0, now, out);
		if (rank->grants_waiting[channel] == waiting) // refused again
			return;
	}
}

// A credit write is acknowledged: its queue has room again.
static void on_granted(struct world_host *host, uint32_t index, uint32_t channel, ps_t now,
		       struct outbox *out)
{
	struct rank *rank = &host->ranks[index];
	if (rank->grants_waiting[channel] == 0)
		return;
	rank->grants_waiting[channel]--;
	write_credit(host, index, channel, 0, now, out); // credits are counted: any slot will do
}

static void send_grant(struct world_host *host, uint32_t index, const struct ring_action *action,
		       ps_t now, struct outbox *out)
{
	const struct rank_link *from = &host->ranks[index].from[action->channel];
	if (!from->is_local) {
		write_credit(host, index, action->channel, action->slice, now, out);
		return;
	}
	// A flag in the neighbour's memory: the scale-up delay, no bandwidth.
	host->record->outcome->credits_sent++;
	host_later(host, HOST_CREDIT, (uint64_t)from->rank << 16 | action->channel,
		   now + host->scaleup.delay_ps);
}

// Writes down the steps that `channel` has whole by now.
static void record_steps(const struct world_host *host, struct rank *rank, uint32_t channel,
			 ps_t now)
{
	uint64_t steps = ring_steps_received(rank->ring, channel);
	while (rank->steps_seen[channel] < steps)
		record_step(rank->clock, channel, rank->steps_seen[channel]++,
			    now + host->record->skipped_ps);
}

// Steps of a sample's loop in three parts, by those that the rank has of it: what is not steady
// shows as a drift from one to the next. 0 where all steps run.
static uint32_t phase_of(const struct world_host *host, const struct rank *rank, uint32_t channel)
{
	const uint32_t steps = host->job->ring.steps_max;
	return steps == 0 ? 0 : (uint32_t)(rank->steps_seen[channel] % steps * PHASE_COUNT / steps);
}

// Starts the next bucket of the rank's group, or asks to be woken when it is released.
static void start_next(struct world_host *host, uint32_t index, ps_t now)
{
	struct rank *rank = &host->ranks[index];
	if (rank->bucket == rank->group->bucket_count)
		return;
	const struct host_engine *lines = host->engines[ENGINE_LINES];
	if (lines != NULL && lines->lets_start != NULL && !lines->lets_start(host, rank))
		return;
	const struct bucket *bucket = &host->job->buckets[rank->group->bucket_first + rank->bucket];
	ps_t release_ps = stall_work_done(&host->faults, bucket->release_ps);
	ps_t later_ps = host->record->skipped_ps; // than the host knows of
	if (release_ps > now + later_ps) {
		if (!rank->is_waiting && release_ps != PS_NEVER)
			host_later(host, HOST_RELEASE, index, release_ps - later_ps);
		rank->is_waiting = true;
		return;
	}
	host_worked(host, bucket->release_ps, 0, release_ps);
	struct record *record = host->record;
	rank->clock = &record->clocks[record->clock_of_group[rank->group_index] + rank->bucket++];
	rank->clock->start_ps = ps_min(rank->clock->start_ps, now + later_ps);
	if (rank->slices != NULL)
		slices_began(rank->slices, rank->bucket - 1, now);
	ring_start(rank->ring, bucket->kind, bucket->bytes);
	for (uint32_t channel = 0; channel < host->job->ring.channels; channel++) {
		rank->steps_seen[channel] = 0;
		record_steps(host, rank, channel, now); // a neighbour may be ahead of us
	}
}

static void finish(struct world_host *host, struct rank *rank, ps_t now)
{
	ps_t end_ps = now + host->record->skipped_ps;
	rank->clock->end_ps = ps_max(rank->clock->end_ps, end_ps);
	rank->clock->ranks_done++;
	if (rank->slices != NULL)
		slices_ended(rank->slices, rank->bucket - 1, now);
	host->record->work_done++;
	host->record->outcome->end_ps = ps_max(host->record->outcome->end_ps, end_ps);
	const struct host_engine *lines = host->engines[ENGINE_LINES];
	if (lines != NULL && lines->on_collective != NULL)
		lines->on_collective(host, rank, now);
}

void rank_act(struct world_host *host, uint32_t index, ps_t now, struct outbox *out)
{
	struct rank *rank = &host->ranks[index];
	for (;;) {
		if (!ring_is_busy(rank->ring)) {
			start_next(host, index, now);
			if (!ring_is_busy(rank->ring))
				return;
		}
		struct ring_action action = ring_next(rank->ring);
		switch (action.kind) {
		case RING_NOTHING:
			return;
		case RING_SEND:
			send_slice(host, index, &action, now, out);
			break;
		case RING_GRANT:
			send_grant(host, index, &action, now, out);
			break;
		case RING_DONE:
			finish(host, rank, now);
			break;
		}
	}
}

// ---------------------------------------------------------------- slices and credits

typedef void slice_fn(struct world_host *host, uint32_t rank, uint32_t channel, ps_t now,
		      struct outbox *out);

static void slice_came(struct world_host *host, uint32_t index, uint32_t channel, ps_t now,
		       struct outbox *out)
{
	struct rank *rank = &host->ranks[index];
	if (__builtin_expect(rank->slices != NULL, 0))
		slices_came(rank->slices, channel, now);
	ring_on_received(rank->ring, channel);
	if (ring_is_busy(rank->ring))
		record_steps(host, rank, channel, now);
	rank_act(host, index, now, out);
}

static void slice_left(struct world_host *host, uint32_t index, uint32_t channel, ps_t now,
		       struct outbox *out)
{
	ring_on_sent(host->ranks[index].ring, channel);
	rank_act(host, index, now, out);
}

static void credit_came(struct world_host *host, uint32_t index, uint32_t channel, ps_t now,
			struct outbox *out)
{
	ring_on_credit(host->ranks[index].ring, channel);
	rank_act(host, index, now, out);
}

// Slices go to the QPs of a connection in turn, and in turn the rank hears of them: one that is
// done before its turn waits.
static void tell_in_turn(struct world_host *host, struct nic *nic, struct nic_peer *peer,
			 slice_fn *tell, ps_t now, struct outbox *out)
{
	struct nic_peer *first = &nic->peers[peer->first];
	peer->waiting++;
	while (first[first->turn].waiting > 0) {
		first[first->turn].waiting--;
		first->turn = (first->turn + 1) % host->qps_per_connection;
		tell(host, peer->owner, peer->channel, now, out);
	}
}

// ---------------------------------------------------------------- the engine

static void on_event(struct world_host *host, enum host_event event, uint64_t id, ps_t now,
		     struct outbox *out)
{
	uint32_t owner = (uint32_t)(id >> 16), channel = id & 0xffff;
	switch (event) {
	case HOST_SENT:
		slice_left(host, owner, channel, now, out);
		break;
	case HOST_RECEIVED:
		slice_came(host, owner, channel, now, out);
		break;
	case HOST_CREDIT:
		credit_came(host, owner, channel, now, out);
		break;
	default: // HOST_RELEASE
		host->ranks[id].is_waiting = false;
		rank_act(host, (uint32_t)id, now, out);
	}
}

// Neighbours in a ring, which share switches, are in one part.
static uint32_t batch_of(const struct rank *rank)
{
	return (uint32_t)((uint64_t)rank->at * BATCH_COUNT / rank->group->ranks);
}

static void on_sent(struct world_host *host, struct nic *nic, const struct completion *done,
		    ps_t now, struct outbox *out)
{
	struct nic_peer *peer = &nic->peers[done->qp];
	uint32_t index = (uint32_t)(done->cookie >> 16), channel = done->cookie & 0xffff;
	if (done->cookie >> 56 == COOKIE_GRANT) {
		on_granted(host, index, channel, now, out);
		return;
	}
	const struct rank *rank = &host->ranks[index];
	batches_add(&host->record->outcome->message_batches[peer->pair], batch_of(rank),
		    phase_of(host, rank, channel), (now - done->posted_at) / PS_PER_NS);
	tell_in_turn(host, nic, peer, slice_left, now, out);
}

static void on_received(struct world_host *host, struct nic *nic, const struct completion *done,
			ps_t now, struct outbox *out)
{
	struct nic_peer *peer = &nic->peers[done->qp];
	check(done->imm == peer->imm_next && "slices complete once and in posting order");
	peer->imm_next += host->qps_per_connection;
	tell_in_turn(host, nic, peer, slice_came, now, out);
}

// Credits are writes into memory that the sender of slices watches.
static void on_notice(struct world_host *host, const struct nic_peer *peer, ps_t now,
		      struct outbox *out)
{
	if (peer->role == NIC_ROLE_RING_SEND)
		credit_came(host, peer->owner, peer->channel, now, out);
}

const struct host_engine rank_engine = {.on_event = on_event,
					.on_sent = on_sent,
					.on_received = on_received,
					.on_ready = on_ready,
					.on_notice = on_notice};
