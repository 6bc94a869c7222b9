// SPDX-License-Identifier: Apache-2.0
// Turn after turn.

#include <sched.h>

#include "loop.h"

#define LOOK_TURNS 64u // between two looks at whether QPs have failed

const char *wall_end_name(enum wall_end end)
{
	static const char *const names[] = {"done",	 "interrupted", "peer lost",
					    "QP failed", "time limit",	"limit"};
	return (unsigned)end < sizeof(names) / sizeof(*names) ? names[end] : "unknown";
}

// What another host said, or this one was told.
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
static bool has_failed(const struct wall *wall, ps_t now, enum wall_end *ret)
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
	return wall->counts.turns % LOOK_TURNS == 0 && wall_qps_failed(wall) > 0;
}

// Others may have the CPU: who waits for it here is most often the peer.
static void rest(struct wall *wall, const struct wall_control *control)
{
	if (control->owns_core)
		return;
	wall->counts.naps++;
	sched_yield();
}

enum wall_end wall_run(struct wall *wall, const struct wall_control *control)
{
	int64_t start_ns = control->clock(control->clock_context);
	bool is_told = false;
	enum wall_end end;
	wall_announce(wall);
	for (;;) {
		ps_t now = (control->clock(control->clock_context) - start_ns) * PS_PER_NS;
		bool was_busy = wall_turn(wall, now);
		if (!is_told && wall_is_done(wall)) {
			is_told = true;
			if (control->done != NULL)
				control->done(control->done_context);
			if (control->news == NULL) // it is alone
				return WALL_END_DONE;
		}
		if (has_ended(control, &end) || has_failed(wall, now, &end))
			return end;
		if (!was_busy)
			rest(wall, control);
	}
}
