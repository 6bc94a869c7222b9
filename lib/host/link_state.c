// SPDX-License-Identifier: Apache-2.0
// The light on the cables of NICs over time, from the timeline of faults. See link_state.h.
#include <weft/host/link_state.h>

// Flaps that together never change the light have edges without end: after so many of them somebody
// may look again.
#define EDGES_MAX 4096u

static bool link_is_down(const struct cable_fault *fault, ps_t at)
{
	if (at < fault->from_ps || at >= fault->until_ps)
		return false;
	if (fault->kind == FAULT_FLAP)
		return (at - fault->from_ps) % (fault->down_ps + fault->up_ps) < fault->down_ps;
	return fault->kind == FAULT_LINK_DOWN;
}

bool link_state_is_up(const struct port_watch *watch, ps_t at)
{
	at = ps_max(at, 0);
	for (uint32_t i = 0; i < watch->fault_count; i++)
		if (link_is_down(&watch->faults[i], at))
			return false;
	return true;
}

// When a fault begins or ends after `at`, or a flap turns.
static ps_t next_edge(const struct cable_fault *fault, ps_t at)
{
	bool is_of_link_state = fault->kind == FAULT_LINK_DOWN || fault->kind == FAULT_FLAP;
	if (!is_of_link_state || at >= fault->until_ps)
		return PS_NEVER;
	if (at < fault->from_ps)
		return fault->from_ps;
	if (fault->kind == FAULT_LINK_DOWN)
		return fault->until_ps;
	ps_t period = fault->down_ps + fault->up_ps;
	ps_t into = (at - fault->from_ps) % period;
	ps_t edge = at - into + (into < fault->down_ps ? fault->down_ps : period);
	return ps_min(edge, fault->until_ps);
}

// Until when a cable is down for certain, whatever else flaps meanwhile; `at` when it is not.
static ps_t down_until(const struct port_watch *watch, ps_t at)
{
	ps_t until = at;
	for (uint32_t i = 0; i < watch->fault_count; i++) {
		const struct cable_fault *fault = &watch->faults[i];
		if (fault->kind == FAULT_LINK_DOWN && link_is_down(fault, at))
			until = ps_max(until, fault->until_ps);
	}
	return until;
}

ps_t link_state_next(const struct port_watch *watch, ps_t at)
{
	at = ps_max(at, 0);
	bool is_on = link_state_is_up(watch, at);
	uint32_t left = EDGES_MAX;
	do {
		ps_t next = down_until(watch, at);
		if (next == at) {
			next = PS_NEVER;
			for (uint32_t i = 0; i < watch->fault_count; i++)
				next = ps_min(next, next_edge(&watch->faults[i], at));
		}
		at = next;
	} while (at != PS_NEVER && --left > 0 && link_state_is_up(watch, at) == is_on);
	return at;
}
