// SPDX-License-Identifier: Apache-2.0
// A run, window by window. Windows are at most as long as the shortest cable, so whatever a machine
// sends in a window arrives after it: inside a window each machine is run alone, in any order and
// on any thread, with the same result (conservative synchronisation, K. M. Chandy and J. Misra
// 1979; here with a global window). In virtual time one window follows the other; paced time waits
// for each one's end.
//
// Always on: time never goes back, arrivals on a cable never go back, every packet that was sent
// was delivered, dropped or is held.

#include "sim.h"

#include <string.h>
#include <time.h>

#include "stop.h"
#include <weft/files/clock.h>

#define PROGRESS_WINDOWS 256 // windows between two looks at the wall clock

// ---------------------------------------------------------------- the books

// Packets or frames that lie on cables, or found no room behind one from another rank.
static uint64_t cables_held(const struct sim *sim)
{
	const struct cable_set *cables = &sim->lanes[0].cables;
	const struct boundary *boundary = sim->lanes[0].boundary;
	uint64_t held = boundary != NULL ? boundary_stranded(boundary) : 0;
	for (uint32_t i = 0; i < cables->count; i++)
		held += cables->cables[i].fifo.count +
			(cables->reorder_queue[i] != NULL ? cables->reorder_queue[i]->count : 0) +
			(cables->stalled[i] != NULL ? cables->stalled[i]->fifo.count : 0);
	return held;
}

// Packets that are out of the pools of all lanes.
static uint64_t packets_taken(const struct sim *sim)
{
	uint64_t taken = 0;
	for (uint32_t i = 0; i < sim->lane_count; i++)
		taken += packet_pool_taken(sim->lanes[i].out.packets);
	return taken;
}

// What this process holds; its pools agree with what cables and machines hold.
static void check_held(struct sim *sim)
{
	struct run *run = &sim->run;
	const struct boundary *boundary = sim->lanes[0].boundary;
	uint64_t in_hosts = 0, in_switches = 0, on_cables = cables_held(sim);
	uint64_t stranded = boundary != NULL ? boundary_stranded(boundary) : 0;
	world_held(sim->world, &in_hosts, &in_switches);
	if (sim->ports == NULL) {
		check(packets_taken(sim) == on_cables - stranded + in_switches + in_hosts);
	} else {
		check(packets_taken(sim) == in_switches + in_hosts); // on cables there are frames
		check(sim->ports->ops->taken(sim->ports) == on_cables + in_switches);
	}
	run->held = on_cables + in_switches + in_hosts;
	run->held_unsent = in_hosts;
}

// sent and doubled = delivered + dropped + held, switches that send and take pause frames being
// ends of their own.
static void check_conservation(const struct sim *sim)
{
	const struct run *run = &sim->run;
	const struct pause_counters *pause = &sim->world->outcome->fabric.pause;
	uint64_t made = pause->pauses_sent + pause->resumes_sent;
	uint64_t taken = pause->pauses_received + pause->resumes_received;
	uint64_t dropped = 0, held = run->held - run->held_unsent;
	for (int i = 0; i < DROP_REASON_COUNT; i++)
		dropped += run->dropped[i] + sim->world->outcome->fabric.dropped[i];
	check(run->sent + made + run->doubled == run->delivered + taken + dropped + held);
	const uint64_t *forwarded = sim->world->outcome->fabric.forwarded;
	uint64_t departures = forwarded[PACKET_CLASS_CONTROL] + forwarded[PACKET_CLASS_DATA];
	if (run->end != RUN_LIMIT) // what found no frame did not leave
		check(run->hops == run->sent + departures && "what leaves is counted at both ends");
}

// Whether the workload is complete and nothing is under way.
static bool is_whole(const struct sim *sim)
{
	return sim->run.end == RUN_DONE && sim->run.is_drained;
}

// The machines that this process ran.
static void audit_machines(const struct sim *sim)
{
	struct fifo_pool *chunks[WORLD_SHARDS_MAX] = {0};
	const struct ranks *ranks = sim->options.ranks;
	for (uint32_t i = 0; i < sim->world->shard_count; i++) // one lane may run all shards
		if (ranks == NULL || i == ranks->index)
			chunks[i] = sim->lanes[i < sim->lane_count ? i : 0].out.chunks;
	world_audit_machines(sim->world, chunks, is_whole(sim));
}

// The counts of the lanes so far, in sim->run.
static void add_lanes(struct sim *sim)
{
	struct run *run = &sim->run;
	*run = (struct run){.now_ps = run->now_ps,
			    .windows = run->windows,
			    .is_drained = run->is_drained,
			    .limit_option = run->limit_option,
			    .lanes = sim->lane_count,
			    .ranks = sim->options.ranks != NULL ? sim->options.ranks->count : 1};
	for (uint32_t i = 0; i < sim->lane_count; i++)
		sim_add(run, &sim->lanes[i].run);
}

static void count_ports(const struct sim *sim, struct ports_figures *ret)
{
	const struct ports *ports = sim->ports;
	struct port_counts counts;
	if (ports == NULL)
		return;
	ports->ops->count(ports, &counts);
	*ret = (struct ports_figures){
		.name = ports->ops->name,
		.ports = ports->port_count,
		.queues = ports->queue_count,
		.cables_per_queue_max = ports->cables_per_queue_max,
		.frames = ports->frames,
		.frame_bytes_max = ports->frame_bytes_max,
		.sent = counts.sent,
		.received = counts.received,
		.missed = counts.missed,
	};
}

// All that is said about all machines: where there are ranks, rank 0 has what each of them
// measured.
static void sum_up(struct sim *sim)
{
	struct run *run = &sim->run;
	const struct cable_set *cables = &sim->lanes[0].cables;
	world_collect(sim->world);
	// what ends in the last window may end behind where that begins
	run->now_ps = ps_max(run->now_ps, sim->world->outcome->end_ps);
	check_conservation(sim);
	world_audit(sim->world,
		    &(struct world_audit){.doubled = run->doubled,
					  .is_whole = is_whole(sim),
					  .is_forged = sim->options.ports.watch_changes});
	if (run->is_drained)
		check(run->held == 0); // the pools are full again
	run->data_packets = sim->world->outcome->transport.data_packets;
	run->data_hops = run->data_packets +
		sim->world->outcome->fabric.forwarded[PACKET_CLASS_DATA];
	for (uint32_t i = 0; i < cables->count; i++)
		run->digest = rng_mix(run->digest ^ cables->digests[i]) + i;
}

static void finish(struct sim *sim, double cpu_s)
{
	struct run *run = &sim->run;
	const struct ranks *ranks = sim->options.ranks;
	add_lanes(sim);
	run->end = sim->end;
	run->cpu_s = cpu_s;
	run->cpu_waiting_s = ranks != NULL ? ranks->waited_cpu_s - sim->waited_cpu_s : 0;
	run->cpu_busiest_s = run->cpu_s - run->cpu_waiting_s;
	sim->world->reached_ps = ps_max(run->now_ps, sim->window_end);
	run->now_ps += world_skipped_ps(sim->world);
	check_held(sim);
	audit_machines(sim);
	if (ranks != NULL)
		sim_gather(sim);
	if (ranks == NULL || ranks->index == 0)
		sum_up(sim);
	count_ports(sim, &run->ports);
	run->seen = sim->ports != NULL ? &sim->seen : NULL;
	if (sim->options.pace.is_on) {
		run->lateness_ns = &sim->pace.lateness_ns;
		run->gap_ns = &sim->pace.gap_ns;
	}
}

// ---------------------------------------------------------------- from window to window

static void end_run(struct sim *sim, enum run_end end)
{
	sim->end = end;
	sim->has_ended = true;
}

// The limit that a lane hit in the last window.
static enum outbox_limit limit_hit(const struct sim *sim)
{
	for (uint32_t i = 0; i < sim->lane_count; i++)
		if (sim->lanes[i].out.limit != OUTBOX_WITHIN)
			return sim->lanes[i].out.limit;
	return OUTBOX_WITHIN;
}

static bool wants_stop(struct sim *sim)
{
	if (sim->options.stop != NULL && *sim->options.stop != 0)
		return true;
	if (sim->options.progress == NULL ||
	    (!sim->options.pace.is_on && sim->run.windows % PROGRESS_WINDOWS != 0))
		return false;
	double now = clock_s(CLOCK_MONOTONIC);
	if (now < sim->next_report_s)
		return false;
	sim->next_report_s = now + 0.1;
	add_lanes(sim);
	if (sim->lanes[0].boundary != NULL)
		sim->run.data_delivered = sim->news.data_so_far; // of all, a window ago
	return !sim->options.progress(sim->options.progress_context, sim->world, &sim->run);
}

// After a window, while all lanes stand still.
static void close_window(struct sim *sim)
{
	uint64_t frames = 0;
	if (!sim->is_in_window)
		return;
	sim->is_in_window = false;
	sim->run.windows++;
	for (uint32_t i = 0; i < sim->lane_count; i++) {
		frames += sim->lanes[i].window_sent;
		sim->lanes[i].window_sent = 0;
	}
	if (sim->options.pace.is_on)
		pace_note(&sim->pace, sim->window_end, frames);
	if (sim->taps != NULL)
		tap_window_end(sim->taps);
}

// The earliest window in which any lane has something to do.
static int64_t next_window(const struct sim *sim)
{
	int64_t next = INT64_MAX;
	for (uint32_t i = 0; i < sim->lane_count; i++)
		if (sim->lanes[i].next_window < next)
			next = sim->lanes[i].next_window;
	return next;
}

static uint64_t hops_so_far(const struct sim *sim)
{
	uint64_t hops = 0;
	for (uint32_t i = 0; i < sim->lane_count; i++)
		hops += sim->lanes[i].run.hops;
	return hops;
}

// What is known between two windows, here or by all ranks together.
static void look(struct sim *sim, bool has_run)
{
	struct boundary_news *news = &sim->news;
	struct boundary *boundary = sim->lanes[0].boundary;
	news->wants_stop = has_run && wants_stop(sim);
	news->limit = limit_hit(sim);
	news->next_window = next_window(sim);
	news->hops = hops_so_far(sim);
	if (boundary == NULL)
		return;
	news->work_done = world_work_done(sim->world);
	news->data_so_far = sim->lanes[0].run.data_delivered;
	news->has_front = has_run && world_fast_forward_has_front(sim->world);
	boundary_agree(boundary, news);
}

static void share_bytes(void *context, const void *mine, void *all, size_t bytes)
{
	ranks_share(context, mine, all, bytes);
}

// Steps of rings may be jumped over: by all ranks at once, as all see the same.
static void look_at_rings(struct sim *sim)
{
	if (sim->lanes[0].boundary == NULL)
		world_fast_forward_look(sim->world, NULL, NULL);
	else if (sim->news.has_front)
		world_fast_forward_look(sim->world, share_bytes, sim->options.ranks);
}

// Whether the workload is complete, when nothing more is run.
static bool is_done(const struct sim *sim)
{
	uint64_t done = sim->lanes[0].boundary != NULL ? sim->news.work_done
						       : world_work_done(sim->world);
	return done == sim->world->work_total;
}

// The option to raise where a limit other than that of time was hit; NULL: none was. What comes
// behind a complete workload is not missed.
static const char *limit_option(const struct sim *sim, bool has_all_hops)
{
	if (sim->news.limit == OUTBOX_NO_PACKET)
		return "limits.packets";
	if (sim->news.limit != OUTBOX_WITHIN)
		return "limits.memory";
	return has_all_hops && !is_done(sim) ? "limits.hops" : NULL;
}

static bool is_at_hops(const struct sim *sim)
{
	uint64_t hops_max = sim->world->scenario->hops_max;
	bool goes_on = sim->news.next_window != INT64_MAX;
	return hops_max > 0 && goes_on && sim->news.hops >= hops_max;
}

// Says which window comes next, or that the run ends. Done by one lane while the others wait.
static void choose_window(struct sim *sim)
{
	bool has_run = sim->is_in_window; // a run that goes on after a stop runs one at least
	close_window(sim);
	if (sim->options.external_compute != NULL && !external_compute_wait(sim)) {
		end_run(sim, RUN_LOST);
		return;
	}
	look(sim, has_run);
	if (has_run)
		look_at_rings(sim);
	ps_t time_max_ps = sim->world->scenario->time_max_ps - world_skipped_ps(sim->world);
	bool has_all_hops = is_at_hops(sim);
	sim->run.limit_option = limit_option(sim, has_all_hops);
	if (sim->run.limit_option != NULL || has_all_hops) {
		end_run(sim, sim->run.limit_option != NULL ? RUN_LIMIT : RUN_DONE);
		return;
	}
	if (sim->news.wants_stop) {
		end_run(sim, RUN_INTERRUPTED);
		return;
	}
	sim->window = sim->news.next_window;
	if (sim->window == INT64_MAX) {
		sim->run.is_drained = true;
		end_run(sim, is_done(sim) ? RUN_DONE : RUN_STALLED);
		return;
	}
	ps_t start = sim->window * sim->world->window_ps;
	if (start >= time_max_ps) {
		sim->run.now_ps = time_max_ps;
		end_run(sim, is_done(sim) ? RUN_DONE : RUN_TIME);
		return;
	}
	sim->window_end = ps_min(start + sim->world->window_ps, time_max_ps);
	sim->run.now_ps = start;
	if (sim->options.pace.is_on)
		pace_wait(&sim->pace, sim->window_end, sim->options.stop);
	sim->is_in_window = true;
}

// Waits until all lanes are here.
static void meet(struct sim *sim)
{
	if (sim->lane_count == 1)
		return;
	uint32_t round = __atomic_load_n(&sim->round, __ATOMIC_RELAXED);
	if (__atomic_add_fetch(&sim->here, 1, __ATOMIC_ACQ_REL) == sim->lane_count) {
		sim->here = 0;
		__atomic_store_n(&sim->round, round + 1, __ATOMIC_RELEASE);
		return;
	}
	while (__atomic_load_n(&sim->round, __ATOMIC_ACQUIRE) == round)
		pace_relax();
}

static void lane_run(void *context)
{
	struct lane *lane = context;
	struct sim *sim = lane->sim;
	for (;;) {
		if (lane->ports != NULL)
			frames_poll(lane);
		signal_queue_take(lane);
		lane->next_window = window_peek(&lane->windows);
		meet(sim);
		if (lane->index == 0)
			choose_window(sim);
		meet(sim);
		if (sim->has_ended)
			return;
		window_go(&lane->windows, sim->window);
		lane->window_start = sim->window * lane->windows.length_ps;
		lane->window_end = sim->window_end;
		lane_run_window(lane);
		meet(sim); // all frames are sent before anybody looks for them
	}
}

void sim_run(struct sim *sim, struct run *ret)
{
	void *contexts[PORT_LANES_MAX];
	stop_place_set(&(struct stop_place){sim->world->scenario->seed, &sim->run.now_ps});
	for (uint32_t i = 0; i < sim->lane_count; i++)
		contexts[i] = &sim->lanes[i];
	sim->has_ended = false;
	if (sim->options.ranks != NULL)
		sim->waited_cpu_s = sim->options.ranks->waited_cpu_s;
	double cpu_s = clock_s(CLOCK_PROCESS_CPUTIME_ID), wall_s = clock_s(CLOCK_MONOTONIC);
	if (sim->options.pace.is_on)
		pace_start(&sim->pace, sim->run.now_ps);
	if (sim->lane_count == 1)
		lane_run(contexts[0]);
	else
		dpdk_run(lane_run, contexts, sim->lane_count);
	if (sim->options.pace.is_on)
		pace_end(&sim->pace);
	cpu_s = clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu_s;
	wall_s = clock_s(CLOCK_MONOTONIC) - wall_s;
	finish(sim, cpu_s);
	sim->run.wall_s = wall_s;
	*ret = sim->run;
}

const char *run_end_name(enum run_end end)
{
	static const char *const names[] = {"done",  "time limit", "interrupted",
					    "limit", "stalled",	   "peer lost"};
	return (unsigned)end < sizeof(names) / sizeof(*names) ? names[end] : "unknown";
}
