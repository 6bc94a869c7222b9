// SPDX-License-Identifier: Apache-2.0
// Turn after turn.

#include <unistd.h>

#include <weft/host/host.h>
#include <weft/host/nic.h>
#include <weft/wall/view.h>
#include <weft/world/world_external_compute.h>

#include "loop.h"

// What a look finds. See view.h.

struct wall;

bool viewer_ask(struct viewer *viewer, enum view_of of, uint32_t first, uint32_t qp,
		uint32_t wait_ms)
{
	if (__atomic_load_n(&viewer->state, __ATOMIC_ACQUIRE) == VIEWER_ASKS)
		return false; // the last one was not answered
	viewer->view.of = of;
	viewer->view.first = first;
	viewer->view.qp = qp;
	__atomic_store_n(&viewer->state, VIEWER_ASKS, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < wait_ms * 10; i++) {
		if (__atomic_load_n(&viewer->state, __ATOMIC_ACQUIRE) == VIEWER_TOLD)
			return true;
		usleep(100);
	}
	uint32_t asks = VIEWER_ASKS; // taken back, unless it is answered just now
	return !__atomic_compare_exchange_n(&viewer->state, &asks, VIEWER_IDLE, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static void put_quantiles(const struct hist *hist, int64_t ret[3])
{
	static const uint32_t parts[3] = {500000, 990000, 999000};
	for (int i = 0; i < 3; i++)
		ret[i] = hist->total > 0 ? hist_quantile(hist, parts[i]) : 0;
}

static void fill_run(const struct wall *wall, struct view *ret)
{
	const struct outcome *outcome = wall->host->record->outcome;
	const struct hist *slowest = &outcome->message_ns[0];
	ret->messages = 0;
	for (int i = 0; i < PAIR_CLASS_COUNT; i++) {
		ret->messages += outcome->message_ns[i].total;
		if (outcome->message_ns[i].total > slowest->total)
			slowest = &outcome->message_ns[i];
	}
	put_quantiles(slowest, ret->message_ns); // of the kind that there is most of
	put_quantiles(&wall->turn_ns, ret->turn_ns);
	ret->counts = wall->counts;
	ret->counts.turn_ns = ret->counts.burst_ns = NULL;
	ret->counts.frames_dropped = missed_by_ports(wall) - wall->missed_before;
	ret->counts.yields = wall->rest.yields;
	ret->counts.sleeps = wall->rest.sleeps;
	ret->counts.asleep_ns = wall->rest.asleep_ns;
	ret->data_packets = ret->data_resent = ret->data_bytes = 0;
	for (uint32_t i = 0; i < wall->host->nic_count; i++) {
		if (wall->host->nics[i].endpoint == NULL)
			continue;
		const struct transport_counters *count = endpoint_counters(
			wall->host->nics[i].endpoint);
		ret->data_packets += count->data_packets;
		for (int k = 0; k < RTX_REASON_COUNT; k++)
			ret->data_resent += count->rtx[k];
		for (uint32_t k = 0; k < wall->host->planes; k++)
			ret->data_bytes += count->plane_bytes[k];
	}
}

static void fill_lines(const struct wall *wall, struct view *ret)
{
	uint32_t ports = wall->machine.port_count, planes = wall->host->planes;
	ret->total = ret->count = ports < VIEW_LINES ? ports : VIEW_LINES;
	for (uint32_t port = 0; port < ret->count; port++) {
		const struct nic *nic = &wall->host->nics[port / planes];
		ret->lines[port] = (struct view_line){.is_down = wall->cut[port]};
		if (nic->endpoint != NULL)
			ret->lines[port].bytes =
				endpoint_counters(nic->endpoint)->plane_bytes[port % planes];
	}
	for (uint32_t i = 0; i < wall->line_count; i++) {
		uint32_t port = wall->lines[i].wall_port.port;
		if (port >= ret->count)
			continue;
		ret->lines[port].waiting += line_count(&wall->lines[i]);
		ret->lines[port].is_down |= wall->lines[i].is_down;
	}
}

static void fill_qps(const struct wall *wall, struct view *ret)
{
	ret->total = host_qps(wall->host);
	for (ret->count = 0; ret->count < VIEW_QPS && ret->first + ret->count < ret->total;
	     ret->count++)
		host_qp(wall->host, ret->first + ret->count, &ret->qps[ret->count]);
}

// Writes down what is asked for.
static void view_fill(struct wall *wall, ps_t now, struct view *view)
{
	view->at = now;
	view->work = wall_work(wall);
	view->count = view->total = 0;
	switch ((enum view_of)view->of) {
	case VIEW_RUN:
		fill_run(wall, view);
		return;
	case VIEW_PLANES:
		fill_lines(wall, view);
		return;
	case VIEW_QPS_FROM:
		fill_qps(wall, view);
		return;
	case VIEW_EVS_OF:
		view->total = host_evs(wall->host, view->qp, view->first, view->evs, VIEW_EVS,
				       &view->count);
		return;
	}
}

// Answers at the end of a turn, if anybody asks.
static inline void view_serve(struct wall *wall, ps_t now, struct viewer *viewer)
{
	if (viewer == NULL || __atomic_load_n(&viewer->state, __ATOMIC_ACQUIRE) != VIEWER_ASKS)
		return;
	view_fill(wall, now, &viewer->view);
	__atomic_store_n(&viewer->state, VIEWER_TOLD, __ATOMIC_RELEASE);
}

#define LOOK_TURNS 64u	 // between two looks at whether QPs have failed
#define AWAKE_NS 500000	 // before the start
#define LOOK_NS 10000000 // between two looks at whether there still is one
#define RING_FRAMES 1024 // that a receive queue holds: lib/ports/port_device.c

const char *wall_end_name(enum wall_end end)
{
	static const char *const names[] = {"done",	     "interrupted", "peer lost",
					    "QP failed",     "time limit",  "limit",
					    "generator lost"};
	return (unsigned)end < sizeof(names) / sizeof(*names) ? names[end] : "unknown";
}

// What another host said, or this one heard.
static bool has_ended(const struct wall_control *control, enum wall_end *ret)
{
	if (control->stop != NULL && *control->stop != 0) {
		*ret = WALL_END_STOPPED;
		return true;
	}
	switch (control->news != NULL ? (enum wall_news) * control->news : WALL_QUIET) {
	case WALL_QUIET:
		return false;
	case WALL_ENDED:
		*ret = WALL_END_DONE;
		return true;
	case WALL_STOPPED:
		*ret = WALL_END_STOPPED;
		return true;
	case WALL_LOST:
		*ret = WALL_END_LOST;
		return true;
	}
	return false;
}

// What the run itself came to.
static bool has_failed(struct wall *wall, ps_t now, enum wall_end *ret)
{
	if (wall->out.limit != OUTBOX_WITHIN) {
		*ret = WALL_END_LIMIT;
		return true;
	}
	if (now >= wall->world->scenario->time_max_ps) {
		*ret = WALL_END_TIME;
		return true;
	}
	*ret = WALL_END_FAILED;
	if (wall->counts.turns % LOOK_TURNS != 0 || wall_qps_failed(wall) == 0)
		return false;
	bool was_seen = wall->has_failed; // what tells the peer leaves until the next look
	wall->has_failed = true;
	return was_seen;
}

// What half the receive ring takes to fill with full frames, and half of a stall, if that is less.
static int64_t longest_rest_ns(const struct wall *wall)
{
	const struct fabric_config *fabric = &wall->world->fabric;
	ps_t frame_ps = line_ps(line_of(fabric->link_rate_bps), wall->codec.frame_bytes_max);
	return ps_min(RING_FRAMES / 2 * frame_ps, wall->options.stall_ps / 2) / PS_PER_NS;
}

static void begin(struct wall *wall, const struct wall_control *control)
{
	rest_init(&wall->rest, control->owns_core, longest_rest_ns(wall));
	wall_announce(wall);
}

static void end(struct wall *wall, uint64_t start_ticks, int64_t took_ns)
{
	struct wall_counts *counts = &wall->counts;
	uint64_t took = ticks() - start_ticks;
	counts->tick_ns = took > 0 ? (double)took_ns / (double)took : 1;
	counts->frames_dropped = missed_by_ports(wall) - wall->missed_before;
	counts->yields = wall->rest.yields;
	counts->sleeps = wall->rest.sleeps;
	counts->asleep_ns = wall->rest.asleep_ns;
	counts->sleep_least_ns = wall->rest.owns_core ? 0 : wall->rest.least_ns;
}

static void wake(void *context, uint32_t machine, ps_t at)
{
	struct wall *wall = context;
	check(machine == wall->options.host);
	wall->next = ps_min(wall->next, at);
}

ps_t wall_external_compute_end(struct wall *wall, uint32_t op, ps_t at)
{
	ps_t begun = 0;
	check(world_external_compute_has_begun(wall->world, op, &begun));
	ps_t ends = ps_max(at, ps_max(begun, wall->until)); // what was run is over
	world_external_compute_end(wall->world, op, ends, wake, wall);
	return ends - at;
}

// Waits until the clock shows the start, asleep but for the last part. Returns what it shows then.
static int64_t await_start(const struct wall_control *control)
{
	enum wall_end end;
	int64_t now_ns = control->clock(control->clock_context);
	while (now_ns < control->start_ns && !has_ended(control, &end)) {
		int64_t left_ns = control->start_ns - now_ns;
		if (left_ns > 2 * AWAKE_NS)
			usleep((useconds_t)((left_ns < LOOK_NS ? left_ns - AWAKE_NS : LOOK_NS) /
					    1000));
		now_ns = control->clock(control->clock_context);
	}
	return now_ns;
}

static enum wall_end turn_after_turn(struct wall *wall, const struct wall_control *control,
				     int64_t start_ns)
{
	bool is_reported = false;
	enum wall_end end;
	for (;;) {
		if (control->external_compute != NULL &&
		    !control->external_compute(control->external_compute_context, wall))
			return WALL_END_EXTERNAL_COMPUTE;
		ps_t now = (control->clock(control->clock_context) - start_ns) * PS_PER_NS;
		bool was_busy = wall_turn(wall, now);
		if (!is_reported && wall_is_done(wall)) {
			is_reported = true;
			if (control->done != NULL)
				control->done(control->done_context);
			if (control->news == NULL) // it is alone
				return WALL_END_DONE;
		}
		if (has_ended(control, &end) || has_failed(wall, now, &end))
			return end;
		view_serve(wall, now, control->viewer);
		if (was_busy)
			rest_end(&wall->rest);
		else
			rest_take(&wall->rest, (wall->next - now) / PS_PER_NS);
	}
}

enum wall_end wall_run(struct wall *wall, const struct wall_control *control)
{
	begin(wall, control);
	int64_t start_ns = await_start(control);
	uint64_t start_ticks = ticks();
	wall->counts.start_ns = start_ns;
	wall->options.ports->start_ns = start_ns;
	enum wall_end ended = turn_after_turn(wall, control, start_ns);
	end(wall, start_ticks, control->clock(control->clock_context) - start_ns);
	return ended;
}

const char *wall_stage_name(enum wall_stage stage)
{
	static const char *const names[WALL_STAGE_COUNT] = {"receive", "read",	"machine",
							    "place",   "build", "send"};
	return names[stage];
}
