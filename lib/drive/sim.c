// SPDX-License-Identifier: Apache-2.0
// Virtual time, window by window. Windows are at most as long as the shortest cable, so whatever a
// machine sends in a window arrives after it: inside a window each machine is run alone, in any
// order, with the same result (conservative synchronisation, K. M. Chandy and J. Misra 1979; here
// with a global window).
//
// Always on: time never goes back, arrivals on a cable never go back, every packet that was sent
// was delivered, dropped or is held.

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weft/bitmap.h>
#include <weft/drive.h>

#include "cable.h"
#include "stop.h"
#include "window.h"

#define SCATTER_AHEAD 8	     // departures whose cable is fetched ahead
#define PROGRESS_WINDOWS 256 // windows between two looks at the wall clock

struct sim {
	// hot
	struct cable *cables;  // by receiver: cable_base[to_machine] + to_port
	uint32_t *cable_base;  // [machines + 1]
	uint32_t *out_cable;   // cable at out-port p of machine m: out_cable[cable_base[m] + p]
	uint64_t **waiting;    // [machines] bit per in-port whose cable holds packets
	struct rng *cable_rng; // [cables]
	struct window_set windows;
	struct arrival *arrivals; // the inbox of the machine being run
	struct arrival *scratch[2];
	struct arrival_run *runs;
	struct outbox out;
	uint64_t *digests; // [cables] chained over the deliveries of a cable to a host
	struct world *world;
	struct run run;
	ps_t window_start, window_end;
	uint32_t arrivals_max;
	struct sim_options options;
};

static double clock_s(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// ---------------------------------------------------------------- building

static int draw_cables(struct sim *sim, struct world *world, struct arena *arena)
{
	uint32_t machines = world->machine_count, ports = 0;
	sim->cable_base = arena_draw(arena, ARENA_DRIVE, machines + 1, sizeof(uint32_t));
	sim->waiting = arena_draw(arena, ARENA_DRIVE, machines, sizeof(uint64_t *));
	if (sim->cable_base == NULL || sim->waiting == NULL)
		return -ENOMEM;
	for (uint32_t m = 0; m < machines; m++) {
		uint32_t count = world->machines[m].port_count;
		sim->cable_base[m] = ports;
		ports += count;
		sim->waiting[m] = arena_draw(arena, ARENA_DRIVE, BITMAP_WORDS(count) + 1,
					     sizeof(uint64_t));
		if (sim->waiting[m] == NULL)
			return -ENOMEM;
	}
	sim->cable_base[machines] = ports;
	sim->cables = arena_draw(arena, ARENA_DRIVE, ports, sizeof(struct cable));
	sim->out_cable = arena_draw(arena, ARENA_DRIVE, ports, sizeof(uint32_t));
	sim->digests = arena_draw(arena, ARENA_DRIVE, ports, sizeof(uint64_t));
	sim->cable_rng = arena_draw(arena, ARENA_DRIVE, ports, sizeof(struct rng));
	if (sim->cables == NULL || sim->out_cable == NULL || sim->digests == NULL ||
	    sim->cable_rng == NULL)
		return -ENOMEM;
	return 0;
}

static void lay_cables(struct sim *sim, const struct world *world)
{
	for (uint32_t i = 0; i < world->cable_count; i++) {
		const struct cable_plan *plan = &world->cables[i];
		uint32_t at = sim->cable_base[plan->to_machine] + plan->to_port;
		check(sim->cables[at].line == 0); // one cable per in-port
		sim->cables[at] = (struct cable){
			.line = plan->line,
			.delay_ps = plan->delay_ps,
			.to_machine = plan->to_machine,
			.to_port = plan->to_port,
			.fault_first = plan->fault_first,
			.fault_count = plan->fault_count,
		};
		sim->cable_rng[at] = rng_of(world->scenario->seed, RNG_CABLE, i);
		sim->out_cable[sim->cable_base[plan->from_machine] + plan->from_port] = at;
	}
}

static int draw_burst(struct sim *sim, const struct world *world, struct arena *arena)
{
	uint32_t ports_max = 0;
	for (uint32_t m = 0; m < world->machine_count; m++)
		if (world->machines[m].port_count > ports_max)
			ports_max = world->machines[m].port_count;
	uint32_t burst = world->departures_max;
	sim->arrivals_max = burst;
	sim->arrivals = arena_draw(arena, ARENA_DRIVE, burst, sizeof(struct arrival));
	sim->scratch[0] = arena_draw(arena, ARENA_DRIVE, burst, sizeof(struct arrival));
	sim->scratch[1] = arena_draw(arena, ARENA_DRIVE, burst, sizeof(struct arrival));
	sim->runs = arena_draw(arena, ARENA_DRIVE, ports_max, sizeof(struct arrival_run));
	sim->out.departures = arena_draw(arena, ARENA_DRIVE, burst, sizeof(struct departure));
	if (sim->arrivals == NULL || sim->scratch[0] == NULL || sim->scratch[1] == NULL ||
	    sim->runs == NULL || sim->out.departures == NULL)
		return -ENOMEM;
	sim->out.capacity = burst;
	return 0;
}

// The longest time between a window's start and an arrival that a machine causes in it.
static ps_t cable_span_ps(const struct world *world, ps_t window_ps)
{
	ps_t longest = 0;
	for (uint32_t i = 0; i < world->cable_count; i++)
		longest = ps_max(
			longest,
			world->cables[i].delay_ps +
				line_ps(world->cables[i].line, world_packet_bytes_max(world)));
	return window_ps + longest;
}

int sim_create(struct sim **ret, struct world *world, const struct sim_options *options,
	       struct refusal *refusal)
{
	struct arena *arena = world->arena;
	ps_t window_ps = world->window_ps;
	ps_t span_ps = cable_span_ps(world, window_ps);
	if (span_ps >= CABLE_SPAN_PS)
		return refuse(refusal, -EINVAL,
			      "the longest cable takes % ns end to end; at most % ns are supported",
			      span_ps / PS_PER_NS, CABLE_SPAN_PS / PS_PER_NS, 0);
	struct sim *sim = arena_draw(arena, ARENA_DRIVE, 1, sizeof(*sim));
	if (sim == NULL || draw_cables(sim, world, arena) < 0 ||
	    draw_burst(sim, world, arena) < 0 ||
	    window_set_init(&sim->windows, arena, world->machine_count, window_ps, span_ps) < 0)
		return refuse(refusal, -ENOMEM,
			      "the world does not fit into % MiB: raise limits.memory",
			      (int64_t)(arena->size >> 20), 0, 0);
	sim->world = world;
	sim->options = *options;
	lay_cables(sim, world);
	arena_seal(arena);
	sim->out.packets = &world->packets;
	sim->out.chunks = &world->chunks;
	for (uint32_t m = 0; m < world->machine_count; m++)
		if (world->machines[m].is_host)
			window_mark(&sim->windows, m,
				    0); // a host may want to start something at time 0
	*ret = sim;
	return 0;
}

// ---------------------------------------------------------------- one machine in one window

// Counts a delivery to a host and chains it into the digest of its cable.
static void deliver(struct sim *sim, uint32_t cable, const struct arrival *arrival)
{
	const struct packet *packet = packet_at(sim->out.packets, arrival->packet);
	uint64_t what = (uint64_t)packet->psn << 32 | (uint64_t)packet->opcode << 24 |
		(uint64_t)packet->flags << 16 | packet->hop;
	uint64_t who = (uint64_t)packet->qpn << 32 ^ packet->source;
	uint64_t digest = sim->digests[cable] ^
		rng_mix((uint64_t)arrival->at ^ what * UINT64_C(0x9e3779b97f4a7c15));
	sim->digests[cable] = (digest ^ who) * UINT64_C(0xff51afd7ed558ccd) + 1;
	sim->run.delivered++;
	sim->run.data_delivered += packet->payload_bytes > 0;
}

// Takes the packets of one cable that arrive before the window's end; `to` has room for `room`.
static uint32_t take_cable(struct sim *sim, uint32_t index, struct arrival *to, uint32_t room)
{
	struct cable *cable = &sim->cables[index];
	struct fifo_pool *chunks = sim->out.chunks;
	uint32_t taken = 0;
	while (cable->fifo.count > 0) {
		uint64_t entry = fifo_peek(&cable->fifo, chunks);
		ps_t at = cable_entry_at(entry, sim->window_start);
		if (at >= sim->window_end)
			break;
		check(taken < room);
		fifo_pop(&cable->fifo, chunks);
		uint32_t packet = (uint32_t)(entry >> 32);
		__builtin_prefetch(packet_at(sim->out.packets, packet), 1);
		to[taken++] = (struct arrival){at, packet, cable->to_port};
	}
	return taken;
}

// Fetches the cables that hold packets for machine `m`, then their oldest entries: they come from
// as many places in memory.
static void prefetch_cables(const struct sim *sim, uint32_t m)
{
	const struct cable *cables = sim->cables + sim->cable_base[m];
	const struct fifo_chunk *chunks = sim->out.chunks->chunks;
	uint32_t words = BITMAP_WORDS(sim->world->machines[m].port_count);
	for (uint32_t word = 0; word < words; word++)
		for (uint64_t rest = sim->waiting[m][word]; rest != 0; rest &= rest - 1)
			__builtin_prefetch(&cables[(word << 6) + (uint32_t)__builtin_ctzll(rest)],
					   1);
	for (uint32_t word = 0; word < words; word++) {
		for (uint64_t rest = sim->waiting[m][word]; rest != 0; rest &= rest - 1) {
			uint32_t port = (word << 6) + (uint32_t)__builtin_ctzll(rest);
			const struct fifo *fifo = &cables[port].fifo;
			__builtin_prefetch(&chunks[fifo->head].entries[fifo->head_at]);
		}
	}
}

// Fills the inbox of machine `m`.
static void gather(struct sim *sim, uint32_t m, struct inbox *in)
{
	const struct machine *machine = &sim->world->machines[m];
	uint32_t base = sim->cable_base[m], runs = 0, total = 0;
	uint64_t *waiting = sim->waiting[m];
	prefetch_cables(sim, m);
	for (uint32_t word = 0; word < BITMAP_WORDS(machine->port_count); word++) {
		for (uint64_t rest = waiting[word]; rest != 0; rest &= rest - 1) {
			uint32_t port = (word << 6) + (uint32_t)__builtin_ctzll(rest);
			struct arrival *to = sim->arrivals + total;
			uint32_t taken = take_cable(sim, base + port, to,
						    sim->arrivals_max - total);
			if (sim->cables[base + port].fifo.count == 0)
				bitmap_clear(waiting, port);
			if (taken > 0)
				sim->runs[runs++] = (struct arrival_run){to, taken};
			total += taken;
		}
	}
	for (uint32_t i = 0; machine->is_host && i < total; i++)
		deliver(sim, base + sim->arrivals[i].port, &sim->arrivals[i]);
	*in = (struct inbox){.runs = sim->runs,
			     .run_count = runs,
			     .arrival_count = total,
			     .scratch = {sim->scratch[0], sim->scratch[1]}};
}

// Loses a packet on a faulty cable, or not.
static bool is_lost(struct sim *sim, uint32_t index, const struct departure *departure, ps_t at)
{
	struct cable *cable = &sim->cables[index];
	enum drop_reason fate = cable_fate(cable, sim->world->cable_faults, &sim->cable_rng[index],
					   departure->start, at);
	if (fate == DROP_REASON_COUNT)
		return false;
	sim->run.dropped[fate]++;
	packet_put(sim->out.packets, departure->packet);
	return true;
}

// Lays the departures of machine `m` onto its cables.
static void scatter(struct sim *sim, uint32_t m)
{
	const uint32_t *out_cable = sim->out_cable + sim->cable_base[m];
	for (uint32_t i = 0; i < sim->out.count; i++) {
		const struct departure *departure = &sim->out.departures[i];
		if (i + SCATTER_AHEAD < sim->out.count)
			__builtin_prefetch(&sim->cables[out_cable[departure[SCATTER_AHEAD].port]],
					   1);
		uint32_t index = out_cable[departure->port];
		struct cable *cable = &sim->cables[index];
		ps_t at = departure->start + line_ps(cable->line, departure->bytes) +
			cable->delay_ps;
		check(departure->start >= sim->window_start && at >= sim->window_end); // lookahead
		check(departure->start + cable->delay_ps >=
		      cable->last_at); // one packet at a time, in order
		cable->last_at = at;
		if (cable->fault_count > 0 && is_lost(sim, index, departure, at))
			continue;
		fifo_push(&cable->fifo, sim->out.chunks, cable_entry(at, departure->packet));
		if (at >= cable->marked_until || cable->fifo.count == 1) {
			bitmap_set(sim->waiting[cable->to_machine], cable->to_port);
			window_mark(&sim->windows, cable->to_machine, at);
			cable->marked_until = at - at % sim->windows.length_ps +
				sim->windows.length_ps;
		}
	}
	sim->run.hops += sim->out.count;
	if (sim->world->machines[m].is_host)
		sim->run.sent += sim->out.count;
	sim->out.count = 0;
}

static void run_machine(struct sim *sim, uint32_t m)
{
	const struct machine *machine = &sim->world->machines[m];
	struct inbox in;
	gather(sim, m, &in);
	ps_t next = machine->run(machine->self, &in, sim->window_end, &sim->out);
	scatter(sim, m);
	sim->run.visits++;
	// The last window may end early, at the time limit: what is due then belongs to the next
	// one all the same.
	if (next != PS_NEVER)
		window_mark(&sim->windows, m,
			    ps_max(next, sim->window_start + sim->windows.length_ps));
}

// ---------------------------------------------------------------- the run

static void run_window(struct sim *sim)
{
	uint64_t *bits = window_bits(&sim->windows);
	for (uint32_t word = 0; word < sim->windows.words; word++) {
		while (bits[word] != 0) {
			uint32_t m = (word << 6) + (uint32_t)__builtin_ctzll(bits[word]);
			bits[word] &= bits[word] - 1;
			run_machine(sim, m);
		}
	}
	sim->run.windows++;
#ifdef PLANT_ALLOCATE // a bug on purpose: the watch over malloc must find it
	void *volatile planted = malloc(1);
	free(planted);
#endif
}

// Packets that lie on cables.
static uint64_t cables_held(const struct sim *sim)
{
	uint64_t held = 0;
	for (uint32_t i = 0; i < sim->world->cable_count; i++)
		held += sim->cables[i].fifo.count;
	return held;
}

// sent = delivered + dropped + held, and the pool agrees with what cables and machines hold.
static void check_conservation(struct sim *sim)
{
	struct run *run = &sim->run;
	world_collect(sim->world);
	uint64_t dropped = 0, in_hosts = 0, in_switches = 0;
	for (int i = 0; i < DROP_REASON_COUNT; i++)
		dropped += run->dropped[i] + sim->world->outcome->fabric.dropped[i];
	world_held(sim->world, &in_hosts, &in_switches);
	run->held = cables_held(sim) + in_switches;
	check(packet_pool_taken(&sim->world->packets) == run->held + in_hosts);
	check(run->sent == run->delivered + dropped + run->held);
	run->held += in_hosts;
}

static void finish(struct sim *sim, enum run_end end)
{
	struct run *run = &sim->run;
	run->end = end;
	check_conservation(sim);
	if (run->is_drained)
		check(run->held == 0); // the pools are full again
	run->data_packets = sim->world->outcome->transport.data_packets;
	run->data_hops = run->data_packets +
		sim->world->outcome->fabric.forwarded[PACKET_CLASS_DATA];
	uint64_t digest = 0;
	for (uint32_t i = 0; i < sim->cable_base[sim->world->machine_count]; i++)
		digest = rng_mix(digest ^ sim->digests[i]) + i;
	run->digest = digest;
}

static enum run_end limit_end(struct sim *sim)
{
	sim->run.limit_option = sim->out.limit == OUTBOX_NO_PACKET ? "limits.packets"
								   : "limits.memory";
	return RUN_LIMIT;
}

static bool wants_stop(struct sim *sim, double *next_report_s)
{
	if (sim->options.stop != NULL && *sim->options.stop != 0)
		return true;
	if (sim->options.progress == NULL || sim->run.windows % PROGRESS_WINDOWS != 0)
		return false;
	double now = clock_s(CLOCK_MONOTONIC);
	if (now < *next_report_s)
		return false;
	*next_report_s = now + 0.1;
	return !sim->options.progress(sim->options.progress_context, sim->world, &sim->run);
}

static enum run_end run_windows(struct sim *sim)
{
	ps_t time_max_ps = sim->world->scenario->time_max_ps;
	double next_report_s = 0;
	while (window_next(&sim->windows)) {
		sim->window_start = sim->windows.index * sim->windows.length_ps;
		sim->window_end = sim->window_start + sim->windows.length_ps;
		if (sim->window_start >= time_max_ps) {
			sim->run.now_ps = time_max_ps;
			return world_is_done(sim->world) ? RUN_DONE : RUN_TIME;
		}
		sim->window_end = ps_min(sim->window_end, time_max_ps);
		sim->run.now_ps = sim->window_start;
		run_window(sim);
		if (sim->out.limit != OUTBOX_WITHIN)
			return limit_end(sim);
		if (wants_stop(sim, &next_report_s))
			return RUN_INTERRUPTED;
	}
	sim->run.is_drained = true;
	return world_is_done(sim->world) ? RUN_DONE : RUN_STALLED;
}

void sim_run(struct sim *sim, struct run *ret)
{
	stop_place_set(&(struct stop_place){sim->world->scenario->seed, &sim->run.now_ps});
	double cpu_s = clock_s(CLOCK_PROCESS_CPUTIME_ID), wall_s = clock_s(CLOCK_MONOTONIC);
	enum run_end end = run_windows(sim);
	sim->run.cpu_s = clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu_s;
	sim->run.wall_s = clock_s(CLOCK_MONOTONIC) - wall_s;
	finish(sim, end);
	*ret = sim->run;
}

const char *run_end_name(enum run_end end)
{
	static const char *const names[] = {"done", "time limit", "interrupted", "limit",
					    "stalled"};
	return (unsigned)end < sizeof(names) / sizeof(*names) ? names[end] : "unknown";
}
