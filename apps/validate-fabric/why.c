// SPDX-License-Identifier: Apache-2.0
// Why a case may fail on a fabric whose links are well: what its scenario sets stands against what
// the case relies on. Nothing here is looked up in a result; what was measured stands beside it.

#include <string.h>

#include "acceptance.h"

#define MS_PER_S 1e3
#define FEW_VALUES 4 // for each way: with eight, loads differ by a third and less
#define NOTABLE 0.005
#define MANY_TURNS 4	   // of a round trip until a value comes up again
#define LONG_ROUND_TRIPS 6 // what shipped profiles allow until a dead path is left
#define MANY_QUEUES 10	   // of windows that come at once

// What a path policy does not do.
static const char *const paths[] = {
	[PATH_ROTATE] = "transport.path is rotate: no EV is ever held bad, each keeps its share of "
			"packets, however full its links are and whatever it loses",
	[PATH_MRC] = NULL,
	[PATH_SINGLE] = "transport.path is single: all packets of a connection take one path",
	[PATH_RANDOM] = "transport.path is random: no EV is ever held bad, each keeps its share of "
			"packets, however full its links are and whatever it loses",
	[PATH_BITMAP] = "transport.path is bitmap: no EV is held bad and probed; one whose packets "
			"are marked or trimmed loses turns",
	[PATH_REPS] = "transport.path is reps: no EV is held bad and probed; those whose packets "
		      "came back clean are used again",
	[PATH_REPS_LEGACY] = "transport.path is reps_legacy: no EV is held bad and probed; those "
			     "whose packets came back clean are used again",
	[PATH_MIXED] = "transport.path is mixed: no EV is held bad and probed; those whose packets "
		       "came back clean are used again",
	[PATH_FLOWLET] = "transport.path is flowlet: all packets of a connection take one path "
			 "until it pauses",
};
static_assert(sizeof(paths) / sizeof(*paths) == PATH_COUNT, "what the newest policy lacks");

static bool is_adaptive(const struct acceptance *acceptance)
{
	return acceptance->scenario.fabric.spray != FABRIC_SPRAY_HASH;
}

static void say_paths(FILE *to, const struct acceptance *acceptance, unsigned relies)
{
	const struct fabric_facts *fabric_facts = &acceptance->fabric_facts;
	if ((relies & (RELIES_ON_SPREAD | RELIES_ON_DETOUR)) == 0 ||
	    (is_adaptive(acceptance) && (relies & RELIES_ON_DETOUR) == 0))
		return;
	if (!fabric_facts->is_mrc)
		fputs("; transport.kind is rc: a connection stays on the path that its hash chose, "
		      "which others may share, or which may be dead",
		      to);
	else if (fabric_facts->path < sizeof(paths) / sizeof(*paths) &&
		 paths[fabric_facts->path] != NULL)
		fprintf(to, "; %s", paths[fabric_facts->path]);
}

static void say_marks(FILE *to, const struct acceptance *acceptance, unsigned relies)
{
	if (relies != 0 && !acceptance->fabric_facts.has_ecn && !acceptance->fabric_facts.has_pfc)
		fputs("; queue.ecn is false: no mark tells of full queues", to);
	const char *name = acceptance->scenario.transport.cc.name;
	if (relies != 0 && cc_find(name)->is_fixed)
		fprintf(to, "; cc.algorithm is %s: senders do not slow down for full queues", name);
}

// A hole that is older than this is held lost; a full queue alone may keep a packet for longer.
static void say_holes(FILE *to, const struct acceptance *acceptance, unsigned relies)
{
	const struct fabric_facts *fabric_facts = &acceptance->fabric_facts;
	double age_s = (double)acceptance->scenario.transport.hole_age_ps / (double)PS_PER_S;
	double full_s = 8.0 * (double)fabric_facts->queue_bytes * fabric_facts->planes /
		fabric_facts->nic_rate_bps;
	if (relies != 0 && fabric_facts->is_mrc && age_s > 0 && age_s < full_s)
		fprintf(to,
			"; transport.hole_age is %.3g ms, and a full queue takes %.3g ms: what "
			"waits "
			"there is held lost",
			age_s * MS_PER_S, full_s * MS_PER_S);
}

// What the receiver's lines carry beside payload, and what is lost where nothing trims.
static void say_receiver(FILE *to, const struct acceptance *acceptance, const struct case_run *run)
{
	const struct fabric_facts *fabric_facts = &acceptance->fabric_facts;
	const struct fabric_config *fabric = &acceptance->scenario.fabric;
	double trims = run->figures.trimmed * fabric->trim_bytes / fabric_facts->mtu_bytes;
	if ((run->of->relies & RELIES_ON_CONTROL) == 0)
		return;
	if (!fabric_facts->has_trim && !fabric_facts->has_pfc)
		fputs("; queue.trim is false: a full queue drops", to);
	else if (trims > NOTABLE)
		fprintf(to,
			"; of the receiver's lines headers take %.1f %%, and those of trimmed "
			"packets "
			"%.1f %%",
			(1 - fabric_facts->wire_share) * 100, trims * 100);
	if (run->figures.answers_dropped > 0)
		fprintf(to,
			"; receivers had no room for %.0f answers, which timers make up for: a "
			"NACK is "
			"%u B on the line, a trimmed header %u B%s",
			run->figures.answers_dropped, fabric->control_bytes, fabric->trim_bytes,
			fabric->control_bytes > fabric->trim_bytes
				? ", so they come faster than they are answered"
				: "");
	double windows = (double)run->of->number * (double)fabric_facts->window_bytes;
	double queues = (double)fabric_facts->queue_bytes * fabric_facts->planes;
	if (fabric_facts->has_trim && windows > MANY_QUEUES * queues)
		fprintf(to,
			"; %u windows that come at once are %.0f times what the receiver's queues "
			"hold: until senders slow down its lines are full of trimmed headers",
			run->of->number, windows / queues);
}

// Switches that spray well still fill a queue now and then.
static void say_full(FILE *to, const struct acceptance *acceptance, unsigned relies)
{
	const struct fabric_facts *fabric_facts = &acceptance->fabric_facts;
	if ((relies & RELIES_ON_SPREAD) != 0 && !fabric_facts->has_trim && !fabric_facts->has_pfc)
		fputs("; queue.trim is false: a full queue drops, and what it drops waits for a "
		      "timer",
		      to);
}

// What crosses links that carry less than NICs send is held back by marks all the time.
static void say_share(FILE *to, const struct acceptance *acceptance, const struct case_run *run)
{
	const struct fabric_facts *fabric_facts = &acceptance->fabric_facts;
	unsigned relies = run->of->relies;
	if ((relies & RELIES_ON_DETOUR) != 0) { // there flows are no more than these links carry
		if (fabric_facts->drill_count > 1 &&
		    fabric_facts->nics_per_t0 * fabric_facts->up_share <= fabric_facts->drill_count)
			fputs("; its flows need all links above their T0, and a hash puts some on "
			      "the same",
			      to);
		return;
	}
	if ((relies & RELIES_ON_SPREAD) != 0 && run->carried > 0 && run->carried < 1)
		fprintf(to,
			"; links between switches carry %.3g %% of what its NICs send, and no more "
			"is asked: senders are held back all the time",
			run->carried * 100);
}

// A window that transport.mpr cuts short of what is under way on an idle path.
static void say_window(FILE *to, const struct acceptance *acceptance, unsigned relies)
{
	const struct fabric_facts *fabric_facts = &acceptance->fabric_facts;
	double out = (double)fabric_facts->mpr * (double)fabric_facts->payload_bytes;
	double bdp = fabric_facts->nic_rate_bps / 8 * (double)fabric_facts->base_rtt_ps /
		(double)PS_PER_S;
	if ((relies & (RELIES_ON_SPREAD | RELIES_ON_DETOUR)) != 0 && fabric_facts->is_mrc &&
	    out < bdp * fabric_facts->wire_share)
		fprintf(to,
			"; transport.mpr lets a connection have %u packets out, %.3g %% of its "
			"rate over an idle round trip",
			fabric_facts->mpr, out / (bdp * fabric_facts->wire_share) * 100);
}

// Few values are spread over ways by chance; of many what is known of their paths is old.
static void say_values(FILE *to, const struct acceptance *acceptance, unsigned relies)
{
	const struct fabric_facts *fabric_facts = &acceptance->fabric_facts;
	uint32_t count = acceptance->scenario.transport.ev_count;
	if (!fabric_facts->is_mrc || is_adaptive(acceptance) ||
	    (relies & (RELIES_ON_SPREAD | RELIES_ON_DETOUR)) == 0)
		return;
	double bdp = fabric_facts->nic_rate_bps / 8 * (double)fabric_facts->base_rtt_ps /
		(double)PS_PER_S;
	double turns = count / (bdp / fabric_facts->mtu_bytes);
	if (fabric_facts->ways > 0 &&
	    (double)count / fabric_facts->planes / fabric_facts->ways <= FEW_VALUES)
		fprintf(to,
			"; transport.evs is %u, %.3g for each way across a plane: by chance some "
			"ways have more than others",
			count, (double)count / fabric_facts->planes / fabric_facts->ways);
	else if (turns >= MANY_TURNS)
		fprintf(to,
			"; transport.evs is %u, %.2g times the packets of a round trip: a value "
			"comes up again when what is known of its path is old",
			count, turns);
}

// How a loss that no NACK tells of is found.
static void say_losses(FILE *to, const struct acceptance *acceptance, unsigned relies)
{
	const struct fabric_facts *fabric_facts = &acceptance->fabric_facts;
	ps_t age_ps = acceptance->scenario.transport.hole_age_ps;
	double queue_s = 8.0 * (double)fabric_facts->queue_bytes * fabric_facts->planes /
		fabric_facts->nic_rate_bps;
	double auto_s = 1.25 * (double)fabric_facts->base_rtt_ps / (double)PS_PER_S + 3 * queue_s;
	if ((relies & RELIES_ON_DETOUR) == 0 || !fabric_facts->is_mrc)
		return;
	if (age_ps == 0)
		fputs("; transport.hole_age is off: what a dead link lost is found by the timer "
		      "alone",
		      to);
	else if (age_ps < 0 &&
		 auto_s > LONG_ROUND_TRIPS * (double)fabric_facts->base_rtt_ps / (double)PS_PER_S)
		fprintf(to,
			"; queues are so deep that a loss is told from waiting after %.3g us only "
			"(transport.hole_age auto)",
			auto_s * 1e6);
}

void why_say(FILE *to, const struct acceptance *acceptance, const struct case_run *run)
{
	unsigned relies = run->of->relies;
	uint32_t faults = acceptance->scenario.file_fault_count;
	if (faults > 0)
		fprintf(to, "; the scenario breaks %u thing%s itself, in each case", faults,
			faults == 1 ? "" : "s");
	say_paths(to, acceptance, relies);
	say_marks(to, acceptance, relies);
	say_holes(to, acceptance, relies);
	say_receiver(to, acceptance, run);
	say_full(to, acceptance, relies);
	say_share(to, acceptance, run);
	say_window(to, acceptance, relies);
	say_values(to, acceptance, relies);
	say_losses(to, acceptance, relies);
}
