// SPDX-License-Identifier: Apache-2.0
// What is remembered of an EV beyond its state, in a byte: its row, which marks raise and uses
// lower, and how often it was lost again soon after its probe came back. Both make it rest for
// longer.
#pragma once

#include "ev_slot.h"

// A new mark of an EV in use. What one counts for depends on how common they are: where all EVs of
// the plane are marked alike there is nothing to turn to.
void history_mark(struct path_set *set, uint32_t index);

// How much longer than others of its plane an answer took that came back over this EV: so much a
// mark counts for beyond what history_mark() says, HISTORY_LATER where it took twice as long and
// more. `rtt_ps` below 0: not known. The answer counts in the mean.
#define HISTORY_LATER 6u
uint32_t history_late(struct path_set *set, uint32_t index, ps_t rtt_ps);

// The same of an answer that counts in no mean: of a probe, which waits in no window.
// Where a plane has few EVs each is used so often that marks say it soon enough: 0.
uint32_t history_late_beside(const struct path_set *set, uint32_t index, ps_t rtt_ps);

// The same of a trim, which says that a queue is full; it was heard of after `rtt_ps`, below 0:
// not known.
uint32_t history_late_trim(const struct path_set *set, uint32_t index, ps_t base_rtt_ps,
			   ps_t rtt_ps);

// Logarithm, in 256ths of octaves, of the rate of a plane that holds so many bytes in flight for as
// long as its answers take in the mean; 0 where none is known.
uint32_t history_rate(const struct path_set *set, uint32_t plane, uint32_t flying_bytes);

// A mark, or a probe's answer, counts for so much more.
void history_raise(struct path_set *set, uint32_t index, uint32_t by);

// As path_skip(), for a mark that counts for so much more.
static inline bool history_skip(struct path_set *set, uint32_t index, uint32_t late)
{
	bool is_new = path_skip(set, index);
	if (is_new)
		history_raise(set, index, late);
	return is_new;
}

// Whether an EV is slow where others of its plane are not: it is marked again and again, few are.
// Then what it loses is its own matter.
bool history_stands_out(const struct path_set *set, uint32_t index);

// It takes a packet.
static inline void history_use(struct path_set *set, uint32_t index)
{
	if ((set->history[index] & HISTORY_ROW) == 0)
		return;
	if ((--set->history[index] & HISTORY_ROW) == 0)
		ev_slot_plane(set, index)->rows--;
}

// Whether an EV in SKIP, whose turn it is, goes on to lose turns behind this one.
bool history_skips_on(const struct path_set *set, uint32_t index);

// An EV is lost. How much longer than the retry time it waits for its first probe.
ps_t history_lose(struct path_set *set, uint32_t index, uint32_t now_units);

// It was not to blame for its losses.
static inline void history_excuse(struct path_set *set, uint32_t index)
{
	set->history[index] &= HISTORY_ROW;
}
