// SPDX-License-Identifier: Apache-2.0
// The host machine: arrivals, then timers and local events, in time order.
//
// Timers: one event per NIC stands for all timers of its endpoint (HOST_TIMER); a bucket's release
// (HOST_RELEASE); a flow's start (HOST_FLOW); the ends of scale-up transfers (HOST_SENT,
// HOST_RECEIVED, HOST_CREDIT); what a program does (HOST_OP_...). NIC departures are no events.

#include <weft/host/host.h>

#include <errno.h>

#include <weft/core/bitmap.h>

#include <weft/host/host_delays.h>

#define EVENT_ID_MASK ((UINT64_C(1) << 56) - 1)
#define DRAIN_BURST 16

void host_later(struct world_host *host, enum host_event event, uint64_t id, ps_t at)
{
	heap_push(&host->events, at, (uint64_t)event << 56 | id);
}

static ps_t timer_at(const struct world_host *host)
{
	return host->nics[host->wake_nic].wake_at;
}

// The timers of NIC `index` have moved: the first one rings at `wake`.
static __attribute__((noinline)) void rearm(struct world_host *host, uint32_t index, ps_t wake)
{
	struct nic *nic = &host->nics[index];
	ps_t first = timer_at(host);
	nic->wake_at = wake;
	if (wake < first || (wake == first && index < host->wake_nic)) {
		host->wake_nic = index;
		return;
	}
	if (index != host->wake_nic)
		return;
	for (uint32_t i = 0; i < host->nic_count; i++) // the first one moved back: look for another
		if (host->nics[i].wake_at < timer_at(host) ||
		    (host->nics[i].wake_at == timer_at(host) && i < host->wake_nic))
			host->wake_nic = i;
}

// Timers of NIC `index` may have moved, by what came in or by what went out. Most have not.
static inline void arm(struct world_host *host, uint32_t index)
{
	const struct nic *nic = &host->nics[index];
	ps_t wake = ps_max(endpoint_wake_at(nic->endpoint), host->awake_at);
	if (__builtin_expect(wake != nic->wake_at, 0))
		rearm(host, index, wake);
}

// After a change in NIC `index`: it may have something to send.
static void touch(struct world_host *host, uint32_t index)
{
	bitmap_set(host->working, index);
	arm(host, index);
}

bool host_post(struct world_host *host, uint32_t nic, uint32_t qpn, const struct work *work,
	       ps_t now, struct outbox *out)
{
	nic_advance(&host->nics[nic], now, out);
	int rc = endpoint_post(host->nics[nic].endpoint, qpn, work, now);
	if (rc == 0)
		touch(host, nic);
	return rc != -ENOBUFS && rc != -EAGAIN;
}

void host_post_in_turn(struct world_host *host, uint32_t nic, uint32_t qpn, const struct work *work,
		       ps_t now, struct outbox *out)
{
	struct backlog *backlog = &host->nics[nic].backlog;
	if (backlog_first(backlog, qpn) || !host_post(host, nic, qpn, work, now, out))
		backlog_push(backlog, qpn, work);
}

// Whose the QP of `peer` is.
static const struct host_engine *engine_of(const struct world_host *host,
					   const struct nic_peer *peer)
{
	static const uint8_t engine_of_role[] = {[NIC_ROLE_RING_SEND] = ENGINE_RINGS,
						 [NIC_ROLE_RING_RECEIVE] = ENGINE_RINGS,
						 [NIC_ROLE_FLOW] = ENGINE_FLOWS,
						 [NIC_ROLE_LINE_SEND] = ENGINE_LINES,
						 [NIC_ROLE_LINE_RECEIVE] = ENGINE_LINES};
	return host->engines[engine_of_role[peer->role]];
}

// A QP that waited for a context may post.
static void on_ready(struct world_host *host, struct nic *nic, uint32_t qpn, ps_t now,
		     struct outbox *out)
{
	const struct host_engine *engine = engine_of(host, &nic->peers[qpn]);
	const struct work *work;
	while ((work = backlog_first(&nic->backlog, qpn)) != NULL) {
		if (!host_post(host, (uint32_t)(nic - host->nics), qpn, work, now, out))
			return; // its queue is not full: it waits again
		backlog_pop(&nic->backlog, qpn);
	}
	if (engine->on_ready != NULL)
		engine->on_ready(host, nic, qpn, now, out);
}

// By the racks of both ends; where the other one is the QP knows.
static void add_to_racks(const struct world_host *host, const struct nic *nic,
			 const struct completion *done, ps_t took_ns)
{
	struct racks *racks = &host->record->outcome->racks;
	struct qp_view view;
	if (racks->groups == 0)
		return;
	int rc = endpoint_query(nic->endpoint, done->qp, &view);
	check(rc == 0);
	racks_add(racks, host->first_nic + (uint32_t)(nic - host->nics), view.remote_nic, took_ns);
}

static void measure_sent(struct world_host *host, const struct nic *nic,
			 const struct completion *done, ps_t now)
{
	ps_t took_ns = (now - done->posted_at) / PS_PER_NS;
	hist_add(&host->record->outcome->message_ns[nic->peers[done->qp].pair], took_ns);
	add_to_racks(host, nic, done, took_ns);
	if (__builtin_expect(host->delays != NULL, 0))
		delays_on_sent(host, nic, done->qp, took_ns);
}

static void on_sent(struct world_host *host, struct nic *nic, const struct completion *done,
		    ps_t now, struct outbox *out)
{
	static const uint8_t engine_of_cookie[] = {[COOKIE_SLICE] = ENGINE_RINGS,
						   [COOKIE_GRANT] = ENGINE_RINGS,
						   [COOKIE_FLOW] = ENGINE_FLOWS,
						   [COOKIE_OP] = ENGINE_LINES};
	enum cookie_kind kind = (enum cookie_kind)(done->cookie >> 56);
	if (kind != COOKIE_GRANT)
		measure_sent(host, nic, done, now);
	host->engines[engine_of_cookie[kind]]->on_sent(host, nic, done, now, out);
}

static void on_received(struct world_host *host, struct nic *nic, const struct completion *done,
			ps_t now, struct outbox *out)
{
	if (__builtin_expect(host->delays != NULL, 0))
		delays_on_received(nic, done->qp, now);
	engine_of(host, &nic->peers[done->qp])->on_received(host, nic, done, now, out);
}

// Payloads are the driver's. Credits are writes into memory that the sender watches: they come as
// place orders, too.
static void drain_places(struct world_host *host, struct nic *nic, ps_t now, struct outbox *out)
{
	struct dma_write places[DRAIN_BURST];
	uint32_t count;
	while ((count = endpoint_poll_dma_writes(nic->endpoint, places, DRAIN_BURST)) > 0) {
		for (uint32_t i = 0; i < count; i++) {
			const struct nic_peer *peer = &nic->peers[places[i].qp];
			if (places[i].payload != 0)
				outbox_dma_write(out, &places[i]);
			const struct host_engine *engine = engine_of(host, peer);
			if ((places[i].rkey & RKEY_NOTICE) && engine->on_notice != NULL)
				engine->on_notice(host, peer, now, out);
		}
	}
}

static void drain(struct world_host *host, struct nic *nic, ps_t now, struct outbox *out)
{
	struct completion done[DRAIN_BURST];
	uint32_t count;
	while ((count = endpoint_poll(nic->endpoint, done, DRAIN_BURST)) > 0) {
		for (uint32_t i = 0; i < count; i++) {
			switch (done[i].kind) {
			case COMPLETION_SENT:
				on_sent(host, nic, &done[i], now, out);
				break;
			case COMPLETION_RECEIVED:
				on_received(host, nic, &done[i], now, out);
				break;
			case COMPLETION_READY:
				on_ready(host, nic, done[i].qp, now, out);
				break;
			case COMPLETION_FLUSHED:
				break; // counted by the endpoint (qps_failed); the work stays
				       // undone
			}
		}
	}
	drain_places(host, nic, now, out);
}

// The switch asks for a pause of the lossless class, or ends one.
__attribute__((noinline)) static void on_pause(struct world_host *host,
					       const struct arrival *arrival, struct outbox *out)
{
	uint32_t index = host->nic_of_port[arrival->port];
	struct nic *nic = &host->nics[index];
	uint32_t quanta = packet_at(out->packets, arrival->packet)->timestamp;
	if (nic->endpoint != NULL)
		nic_advance(nic, arrival->at, out);
	pause_take(&nic->pauses[arrival->port - nic->first_port],
		   pause_length_ps(nic->line, quanta), arrival->at);
	packet_put(out->packets, arrival->packet);
	if (nic->endpoint != NULL)
		touch(host, index);
}

// Whether the connection of a packet has a QP.
static bool admit(struct nic *nic, const struct arrival *arrival, const struct outbox *out)
{
	return qp_pool_admit(nic, packet_at(out->packets, arrival->packet));
}

static void on_arrival(struct world_host *host, const struct arrival *arrival, struct outbox *out)
{
	uint32_t index = host->nic_of_port[arrival->port];
	struct nic *nic = &host->nics[index];
	if (__builtin_expect(nic->pauses != NULL, 0) &&
	    packet_at(out->packets, arrival->packet)->opcode == PACKET_PAUSE) {
		on_pause(host, arrival, out);
		return;
	}
	if (nic->endpoint == NULL || // no endpoint on this NIC, or this one does not
	    __builtin_expect(nic->qp_pool != NULL && !admit(nic, arrival, out), 0)) {
		host->record->outcome->dropped_at_host[DROP_UNKNOWN_QP]++;
		packet_put(out->packets, arrival->packet);
		return;
	}
	nic_advance(nic, arrival->at, out);
	if (nic->bin != NULL)
		watched_receive(host, nic, arrival, out);
	else
		endpoint_receive(nic->endpoint, arrival->packet, arrival->at, out);
	touch(host, index);
	if (endpoint_has_events(nic->endpoint))
		drain(host, nic, arrival->at, out);
}

static void on_timer(struct world_host *host, uint32_t index, ps_t now, struct outbox *out)
{
	struct nic *nic = &host->nics[index];
	nic_advance(nic, now, out);
	endpoint_on_time(nic->endpoint, now, out);
	touch(host, index);
	if (endpoint_has_events(nic->endpoint))
		drain(host, nic, now, out);
}

// A port is down for the light that faults leave, or for what the driver sees.
void host_link(struct world_host *host, uint32_t port, ps_t now, struct outbox *out)
{
	uint32_t index = host->nic_of_port[port];
	struct nic *nic = &host->nics[index];
	bool is_down = (host->watches != NULL && host->watches[port].link_is_down) ||
		(host->cut != NULL && host->cut[port]);
	if (nic->endpoint == NULL)
		return;
	if (host->was_down != NULL)
		host->was_down[port] |= is_down;
	nic_advance(nic, now, out);
	endpoint_port(nic->endpoint, port - nic->first_port, !is_down, now, out);
	touch(host, index);
}

// The light of a port changed a while ago. What did not last so long is never known.
static void on_link_state(struct world_host *host, struct heap_item item, struct outbox *out)
{
	uint32_t port = (uint32_t)item.key;
	ps_t now = item.at;
	struct port_watch *watch = &host->watches[port];
	ps_t then = now - host->detect_ps, next = link_state_next(watch, then);
	bool link_is_down = !link_state_is_up(watch, then);
	if (next != PS_NEVER)
		heap_push(&host->link_states, next + host->detect_ps, port);
	if (link_is_down == watch->link_is_down || !link_state_is_steady(watch, then, now))
		return;
	watch->link_is_down = link_is_down;
	host_link(host, port, now, out);
}

static void on_event(struct world_host *host, struct heap_item item, struct outbox *out)
{
	static const uint8_t engine_of_event[] = {
		[HOST_RELEASE] = ENGINE_RINGS,	[HOST_SENT] = ENGINE_RINGS,
		[HOST_RECEIVED] = ENGINE_RINGS, [HOST_CREDIT] = ENGINE_RINGS,
		[HOST_FLOW] = ENGINE_FLOWS,	[HOST_OP_BEGIN] = ENGINE_LINES,
		[HOST_OP_ENDED] = ENGINE_LINES, [HOST_OP_ARRIVED] = ENGINE_LINES,
	};
	enum host_event event = (enum host_event)(item.key >> 56);
	host->engines[engine_of_event[event]]->on_event(host, event, item.key & EVENT_ID_MASK,
							item.at, out);
}

// Whether a NIC has something to send or waits for something. If none has, light may come and go:
// nobody looks, and nothing is to be done before something else happens.
static bool is_awake(const struct world_host *host)
{
	if (timer_at(host) != PS_NEVER)
		return true;
	for (uint32_t i = 0; i < host->nic_count; i++)
		if (host->nics[i].endpoint && endpoint_has_work(host->nics[i].endpoint))
			return true;
	return false;
}

// When a timer is due, or a NIC looks at the light of a port.
static ps_t due_at(const struct world_host *host)
{
	ps_t link_state_at = heap_next_at(&host->link_states);
	return link_state_at != PS_NEVER && is_awake(host) ? ps_min(link_state_at, timer_at(host))
							   : timer_at(host);
}

// Emits the departures before `until` and says when there is something to do again.
static ps_t settle(struct world_host *host, ps_t until, struct outbox *out)
{
	ps_t next = PS_NEVER;
	for (uint32_t word = 0; word < BITMAP_WORDS(host->nic_count); word++) {
		for (uint64_t rest = host->working[word]; rest != 0; rest &= rest - 1) {
			uint32_t index = (word << 6) + (uint32_t)__builtin_ctzll(rest);
			ps_t start = nic_settle(&host->nics[index], until, out);
			if (start == PS_NEVER)
				bitmap_clear(host->working, index);
			arm(host, index);
			next = ps_min(next, start);
		}
	}
	return ps_min(next, ps_min(due_at(host), heap_next_at(&host->events)));
}

// Whether anybody looks at light that changed at `at`: in the rest of this call, or because a NIC
// is awake when all that left before is gone.
static bool is_looked_at(struct world_host *host, bool has_more, ps_t at, struct outbox *out)
{
	if (!has_more)
		settle(host, at + 1, out);
	return has_more || is_awake(host);
}

// Arrivals before `until`, light, timers and events before it, in time order.
static void run_events(struct world_host *host, const struct arrival *arrival,
		       const struct arrival *end, ps_t until, struct outbox *out)
{
	for (;;) {
		ps_t wake_at = timer_at(host), event_at = heap_next_at(&host->events);
		ps_t link_state_at = heap_next_at(&host->link_states),
		     first = ps_min(wake_at, event_at);
		if (arrival < end && arrival->at <= ps_min(first, link_state_at)) {
			on_arrival(host, arrival++, out);
		} else if (link_state_at <= first && link_state_at < until) {
			if (!is_looked_at(host, arrival < end || first < until, link_state_at, out))
				return;
			if (link_state_at <= timer_at(host)) // else a departure has armed one
				on_link_state(host, heap_pop(&host->link_states), out);
		} else if (first >= until) {
			return;
		} else if (wake_at <= event_at) {
			on_timer(host, host->wake_nic, wake_at, out);
		} else {
			on_event(host, heap_pop(&host->events), out);
		}
	}
}

// Takes arrivals, does timers and events before `until`; as host_run().
static ps_t run_span(struct world_host *host, const struct arrival *arrivals,
		     const struct arrival *end, ps_t until, struct outbox *out)
{
	run_events(host, arrivals, end, until, out);
	ps_t next = settle(host, until, out);
	while (heap_next_at(&host->events) <
	       until) { // a departure armed a timer that is due already
		run_events(host, end, end, until, out);
		next = settle(host, until, out);
	}
	return next;
}

// ---------------------------------------------------------------- stalls

static void put_off(struct heap *heap, ps_t until)
{
	while (heap_next_at(heap) < until) {
		struct heap_item item = heap_pop(heap);
		heap_push(heap, until, item.key);
	}
}

void host_resume(struct world_host *host, ps_t now)
{
	host->awake_at = now;
	put_off(&host->events, now);
	put_off(&host->link_states, now);
	for (uint32_t i = 0; i < host->nic_count; i++) {
		struct nic *nic = &host->nics[i];
		for (uint32_t plane = 0; plane < nic->planes; plane++)
			nic->free_at[plane] = ps_max(nic->free_at[plane], now);
		if (nic->endpoint != NULL)
			arm(host, i);
	}
}

// run_span() of a host that stalls: from each stall's begin to its end nothing is done. What comes
// meanwhile waits at its ports (the driver's) and is here at the end.
static __attribute__((noinline)) ps_t run_stalling(struct world_host *host,
						   const struct arrival *arrival,
						   const struct arrival *end, ps_t until,
						   struct outbox *out)
{
	for (;;) {
		ps_t stall_at = stall_next(&host->faults, host->awake_at);
		if (stall_at >= until)
			return run_span(host, arrival, end, until, out);
		const struct arrival *first = arrival;
		while (arrival < end && arrival->at < stall_at)
			arrival++;
		ps_t next = run_span(host, first, arrival, stall_at, out);
		ps_t over = stall_until(host->faults.stalls, host->faults.stall_count, stall_at);
		if (over >= until) {
			check(arrival == end);
			return next == PS_NEVER ? PS_NEVER : ps_max(next, over);
		}
		host_resume(host, over);
	}
}

ps_t host_run(void *self, const struct inbox *in, ps_t until, struct outbox *out)
{
	struct world_host *host = self;
	const struct arrival *arrivals = merge_runs(in), *end = arrivals + in->arrival_count;
	if (__builtin_expect(host->faults.stalls != NULL, 0))
		return run_stalling(host, arrivals, end, until, out);
	return run_span(host, arrivals, end, until, out);
}
