// SPDX-License-Identifier: Apache-2.0
// Which EV a packet takes, and the health of EVs. See path.h.
#include "path.h"

#include "balance.h"
#include "doubt.h"
#include "ev_slot.h"
#include "history.h"
#include "load.h"

#include <weft/cc/cc_derived.h>

// PATH_REPS_LEGACY walks the EVs in order first: as many packets as the largest window holds, which
// is the first one, but not more than there are EVs.
static uint32_t first_window(const struct transport_config *config)
{
	uint64_t window = config->cc.max_cwnd_bytes;
	if (config->path_policy != PATH_REPS_LEGACY)
		return 0;
	if (window == 0)
		window = (uint64_t)cc_window_auto(&config->cc);
	uint64_t packets = window / (config->payload_bytes + config->header_bytes);
	return packets < config->ev_count ? (uint32_t)packets : config->ev_count;
}

struct path_shape path_shape_of(const struct transport_config *config)
{
	uint32_t universe = ev_universe(config), index_mask = ev_index_mask(universe);
	bool is_port = config->ev_bits == 16;
	enum path_policy policy = config->kind == TRANSPORT_RC ? PATH_SINGLE : config->path_policy;
	return (struct path_shape){
		.planes = config->planes,
		.per_plane = config->ev_count / config->planes,
		.universe = universe,
		.index_mask = index_mask,
		.drawn_mask = (is_port ? EVS_OF_PORT_MAX - 1 : UINT32_MAX) & ~index_mask,
		.fixed = is_port ? EV_PORT_FIRST : 0,
		.min_active = ev_min_active(config),
		.policy = policy,
		.first_window = first_window(config),
		.flowlet_gap_ps = config->flowlet_gap_ps,
		.skip_ps = policy == PATH_MRC && config->skip_ps > 0 ? config->skip_ps : 0,
		.has_rows = policy == PATH_MRC && config->skip_ps == SKIP_BY_MARKS,
		.retry_ps = config->path_retry_ps,
		.has_load = has_plane_shares(config),
	};
}

uint64_t path_bytes(const struct path_shape *shape)
{
	uint64_t bytes = shape->universe * (sizeof(uint32_t) + 2 * sizeof(uint8_t));
	if (ev_slot_has_backups(shape))
		bytes += ev_slot_count(shape) * sizeof(uint16_t);
	return (bytes + 7) / 8 * 8 + balance_bytes(shape) + load_bytes(shape);
}

// The first places go to the first EVs, the others wait.
static void init_places(struct path_set *set, void *memory)
{
	uint32_t active = ev_slot_count(set->shape);
	set->ev_slots = memory;
	for (uint32_t place = 0; place < active; place++)
		set->ev_slots[place] = (uint16_t)place;
	for (uint32_t index = active; index < set->shape->universe; index++)
		set->states[index] = PATH_GOOD | STATE_BACKUP;
}

static void init_denied(struct path_set *set)
{
	const struct profile *profile = set->shape->profile;
	uint32_t from = 0;
	for (uint32_t left = profile->denied_count; left > 0; left--) {
		uint32_t index = bitmap_next(profile->denied, profile->count, from);
		path_deny(set, index);
		from = index + 1;
	}
}

void path_init(struct path_set *set, const struct path_shape *shape, void *memory, struct rng rng)
{
	uint32_t active = ev_slot_count(shape);
	*set = (struct path_set){.shape = shape, .rng = rng, .min_active = shape->min_active};
	set->control_rng.state = rng_next(&set->rng);
	set->upper = shape->fixed | ((uint32_t)rng_next(&set->rng) & shape->drawn_mask);
	set->single = rng_below(&set->rng, active);
	set->retry_at = memory;
	uint8_t *behind = (uint8_t *)(set->retry_at + shape->universe);
	set->states = ev_slot_has_backups(shape) ? behind + active * sizeof(uint16_t) : behind;
	set->history = set->states + shape->universe;
	if (ev_slot_has_backups(shape))
		init_places(set, behind);
	for (uint32_t plane = 0; plane < shape->planes; plane++) {
		ev_slot_begin_round(set, &set->planes[plane]);
		set->planes[plane].heard = UINT16_MAX; // none yet
		set->planes[plane].renewed_at = UINT32_MAX;
	}
	if (balance_is_for(shape->policy))
		set->balance = balance_init(
			shape, (uint8_t *)memory + path_bytes(shape) - balance_bytes(shape));
	if (shape->has_load)
		set->load = load_init(shape,
				      (uint8_t *)memory + path_bytes(shape) - load_bytes(shape));
	if (shape->profile)
		init_denied(set);
}

// --- turns

static uint32_t retry_units(ps_t at)
{
	return (uint32_t)(at >> PATH_UNIT_SHIFT);
}

// In units: a retry time from now, and never too early.
static uint32_t retry_from(const struct path_set *set, ps_t now)
{
	return retry_units(now + set->shape->retry_ps) + 1;
}

static bool is_due(uint32_t units, ps_t now)
{
	return (int32_t)(retry_units(now) - units) >= 0;
}

// The next EV of a plane on which nothing is usable.
static struct path_choice try_any(struct path_set *set, uint32_t plane, uint32_t index)
{
	for (uint32_t left = 2 * set->shape->per_plane;
	     left > 0 && path_state(set, index) == PATH_DENIED; left--)
		index = ev_slot_turn(set, plane);
	return (struct path_choice){index, true};
}

// Units until a skip that began now ends: never too early.
static uint32_t skip_units(const struct path_set *set)
{
	return retry_units(set->shape->skip_ps) + 1;
}

// Whether a SKIP EV goes on to lose turns. One that was quiet until the units came round does not.
static bool is_skipped(const struct path_set *set, uint32_t index)
{
	uint32_t left = set->retry_at[index] - set->now;
	if (set->shape->has_rows)
		return history_skips_on(set, index);
	return set->shape->skip_ps != 0 && left - 1 < skip_units(set);
}

// Whether an EV that is kept, though all that it carried since it was heard of was lost, loses this
// turn. The more it lost, the more turns: of those that are kept, some may be alive. Not
// where another plane can stand in.
static bool rests_in_doubt(const struct path_set *set, uint32_t index)
{
	uint32_t planes = set->shape->planes, plane = index % planes, row = ev_slot_row(set, index);
	if (row == 0 || planes > 1 || !path_is_in_doubt(set, plane))
		return false;
	return ((set->planes[plane].round + index / planes) & ((1u << row) - 1)) != 0;
}

// Whether this turn's EV may be used. A skipped EV has now lost its turn, or its time is over.
static bool take_turn(struct path_set *set, uint32_t index)
{
	if (path_state(set, index) == PATH_SKIP && !is_skipped(set, index)) {
		ev_slot_set_state(set, index, PATH_GOOD);
		return set->shape->skip_ps != 0;
	}
	if (path_state(set, index) != PATH_GOOD || rests_in_doubt(set, index))
		return false;
	history_use(set, index);
	return true;
}

static bool has_open_plane(const struct path_set *set)
{
	for (uint32_t plane = 0; plane < set->shape->planes; plane++)
		if (!path_is_shut(set, plane))
			return true;
	return false;
}

bool path_has_other(const struct path_set *set, uint32_t plane_number)
{
	return set->planes[plane_number].is_denied || has_open_plane(set);
}

bool path_is_cut(const struct path_set *set)
{
	for (uint32_t plane = 0; plane < set->shape->planes; plane++)
		if (!set->planes[plane].is_denied && !(set->shape->ports_down >> plane & 1))
			return false;
	return true;
}

struct path_choice path_pick(struct path_set *set, uint32_t plane_number, uint32_t avoid)
{
	const struct path_shape *shape = set->shape;
	if (__builtin_expect(shape->policy >= PATH_SINGLE, 0))
		return (struct path_choice){
			set->balance ? balance_next(set, plane_number) : set->single, false};
	struct path_plane *plane = &set->planes[plane_number];
	uint32_t index = ev_slot_turn(set, plane_number);
	if (path_is_shut(set, plane_number))
		return try_any(set, plane_number, index);
	if ((plane->unusable | plane->rows) == 0 && index != avoid)
		return (struct path_choice){index, false};
	// two rounds meet every EV of the plane, whatever its state
	uint32_t spare =
		index; // the one to be avoided, or in SKIP: better than one that is blocked
	for (uint32_t left = 2 * shape->per_plane; left > 0; left--) {
		if (take_turn(set, index) && index != avoid)
			return (struct path_choice){index, false};
		if (!ev_slot_is_blocked(set, index) &&
		    (index != avoid || ev_slot_is_blocked(set, spare)))
			spare = index;
		index = ev_slot_turn(set, plane_number);
	}
	return (struct path_choice){spare, false};
}

uint32_t path_last_heard(const struct path_set *set, uint32_t plane_number)
{
	const struct path_plane *plane = &set->planes[plane_number];
	uint32_t index = plane->heard;
	if (plane->bad == 0 || index >= set->shape->universe ||
	    index % set->shape->planes != plane_number || path_state(set, index) == PATH_DENIED)
		return PATH_NO_EV;
	bool is_last = set->shape->planes == 1 && plane->is_closed; // better than any other
	return is_last || !ev_slot_is_blocked(set, index) ? index : PATH_NO_EV;
}

struct path_choice path_pick_heard(struct path_set *set, uint32_t plane, uint32_t avoid)
{
	uint32_t index = set->balance ? PATH_NO_EV : path_last_heard(set, plane);
	if (index == PATH_NO_EV)
		return path_pick(set, plane, avoid);
	// with one plane it may be the answer that was lost: every other time
	bool is_avoided = set->shape->planes > 1
		? index == avoid
		: ev_slot_row(set, index) > 0 && (rng_next(&set->control_rng) & 1) != 0;
	return is_avoided ? path_pick(set, plane, avoid) : (struct path_choice){index, false};
}

// --- feedback

// Whether what must come through can do without slow EVs, over which it would be trimmed again and
// again: on the only plane, of which most is alive.
static bool leaves_slow(const struct path_set *set)
{
	return set->shape->planes == 1 && !path_is_doubtful(set, 0);
}

void path_forget(struct path_set *set, uint32_t index)
{
	if (leaves_slow(set) && set->planes[0].heard == index)
		set->planes[0].heard = UINT16_MAX;
}

void path_alive(struct path_set *set, uint32_t index)
{
	uint32_t plane = index % set->shape->planes;
	path_plane_alive(set, plane);
	if (!leaves_slow(set) || !history_stands_out(set, index))
		set->planes[plane].heard = (uint16_t)index;
	if (!ev_slot_is_blocked(set, index))
		ev_slot_end_row(set, index);
}

enum path_change path_arrived(struct path_set *set, uint32_t index)
{
	bool is_trial = path_is_shut(set, index % set->shape->planes);
	path_heard(set, index);
	if (!is_trial || path_state(set, index) != PATH_ASSUMED_BAD)
		return PATH_SAME;
	history_excuse(set, index);
	ev_slot_reinstate(set, index, PATH_GOOD);
	return PATH_CHANGED;
}

void path_renew(struct path_set *set, uint32_t plane, ps_t now)
{
	path_plane_alive(set, plane);
	set->planes[plane].renewed_at = retry_units(now);
	for (uint32_t index = plane; set->held > 0 && index < set->shape->universe;
	     index += set->shape->planes)
		if (path_state(set, index) == PATH_ASSUMED_BAD) {
			history_excuse(set, index);
			ev_slot_reinstate(set, index, PATH_GOOD);
		}
}

// Counts a loss on a plane; too many in a row close it.
static void lose_on(struct path_set *set, struct path_plane *plane, ps_t now)
{
	if (plane->lost < PATH_PLANE_LOSSES) {
		plane->lost++;
		set->lost++;
	}
	if (plane->lost < PATH_PLANE_LOSSES || plane->is_closed)
		return;
	plane->is_closed = true;
	set->closed++;
	plane->probe_at = retry_from(set, now);
}

// Another mark lets the time begin anew.
static void begin_skip(struct path_set *set, uint32_t index)
{
	if (set->shape->skip_ps != 0)
		set->retry_at[index] = set->now + skip_units(set);
}

bool path_skip(struct path_set *set, uint32_t index)
{
	if (set->shape->policy != PATH_MRC || ev_slot_is_blocked(set, index))
		return false;
	bool is_new = path_state(set, index) == PATH_GOOD;
	begin_skip(set, index);
	if (is_new) {
		history_mark(set, index);
		ev_slot_set_state(set, index, PATH_SKIP);
	}
	return is_new;
}

enum path_change path_retire(struct path_set *set, uint32_t index, ps_t now)
{
	const struct path_shape *shape = set->shape;
	if (shape->policy != PATH_MRC || ev_slot_is_blocked(set, index))
		return PATH_SAME;
	bool is_active = !ev_slot_is_backup(set, index);
	uint32_t backup = is_active ? ev_slot_usable_backup(set, index) : PATH_NO_EV;
	// so many places stay in use, at least one; a whole plane may go
	uint32_t left = ev_slot_count(shape) - set->bad - 1;
	uint32_t left_on_plane = shape->per_plane - ev_slot_plane(set, index)->bad;
	bool is_kept = left_on_plane <= set->min_active / shape->planes &&
		ev_slot_row(set, index) < PATH_EV_LOSSES;
	if (is_active && backup == PATH_NO_EV && (left == 0 || left < set->min_active || is_kept))
		return PATH_SAME;
	ev_slot_set_state(set, index, PATH_ASSUMED_BAD);
	set->retry_at[index] = retry_from(set, now + history_lose(set, index, retry_units(now)));
	if (backup == PATH_NO_EV)
		return PATH_CHANGED;
	ev_slot_give(set, index, backup);
	return PATH_REPLACED;
}

enum path_change path_lose(struct path_set *set, uint32_t index, ps_t now)
{
	if (set->shape->policy != PATH_MRC || path_is_down(set, index % set->shape->planes))
		return PATH_SAME; // of a port that is down it says nothing new
	lose_on(set, ev_slot_plane(set, index), now);
	if (!ev_slot_is_blocked(set, index) && ev_slot_row(set, index) < PATH_EV_LOSSES)
		ev_slot_lengthen_row(set, index);
	return path_retire(set, index, now);
}

// --- probes

enum path_change path_probed(struct path_set *set, uint32_t index, bool is_marked,
			     uint32_t successes)
{
	path_heard(set, index);
	if (path_state(set, index) != PATH_ASSUMED_BAD) {
		if (is_marked && path_skip(set, index))
			return PATH_CHANGED;
		return PATH_SAME;
	}
	if (ev_slot_row(set, index) + 1u < successes) {
		ev_slot_lengthen_row(set, index);
		return PATH_SAME;
	}
	ev_slot_reinstate(set, index, is_marked ? PATH_SKIP : PATH_GOOD);
	if (is_marked)
		begin_skip(set, index);
	return PATH_CHANGED;
}

void path_unanswered(struct path_set *set, uint32_t index)
{
	if (!ev_slot_is_blocked(set, index))
		return;
	ev_slot_end_row(set, index);
}

// Whether a plane is closed, and a probe could open it.
static bool is_probed(const struct path_set *set, uint32_t plane)
{
	return set->planes[plane].is_closed && !set->planes[plane].is_denied &&
		!path_is_down(set, plane);
}

// A closed plane is probed over one of its EVs, whatever it is held for.
static uint32_t due_on_closed(struct path_set *set, ps_t now)
{
	for (uint32_t number = 0; number < set->shape->planes; number++) {
		struct path_plane *plane = &set->planes[number];
		if (!is_probed(set, number) || !is_due(plane->probe_at, now))
			continue;
		plane->probe_at = retry_from(set, now);
		uint32_t index = try_any(set, number, ev_slot_turn(set, number)).index;
		set->retry_at[index] = plane->probe_at;
		return index;
	}
	return PATH_NO_EV;
}

// Whether this EV is to be probed alone: those of a plane that is closed or down wait until it
// opens. Not where it is the only plane: any EV may be the one that opens it, those that are kept
// though they lost what they carried, too.
static bool waits_for_probe(const struct path_set *set, uint32_t index)
{
	uint32_t plane = index % set->shape->planes;
	bool is_bad = path_state(set, index) == PATH_ASSUMED_BAD;
	if (path_is_down(set, plane))
		return false;
	if (!set->planes[plane].is_closed)
		return is_bad;
	bool is_kept = path_state(set, index) == PATH_GOOD && ev_slot_row(set, index) > 0;
	return set->shape->planes == 1 && (is_bad || is_kept);
}

uint32_t path_due(struct path_set *set, uint32_t *from, ps_t now)
{
	uint32_t index = set->closed > 0 ? due_on_closed(set, now) : PATH_NO_EV;
	if (index != PATH_NO_EV || (set->held == 0 && set->closed == 0))
		return index;
	for (uint32_t left = set->shape->universe; left > 0; left--) {
		index = *from % set->shape->universe;
		*from = index + 1;
		if (!waits_for_probe(set, index) || !is_due(set->retry_at[index], now))
			continue;
		set->retry_at[index] = retry_from(set, now);
		return index;
	}
	return PATH_NO_EV;
}

static ps_t time_of(uint32_t units, ps_t now)
{
	int32_t left = (int32_t)(units - retry_units(now));
	return left <= 0 ? now : (((now >> PATH_UNIT_SHIFT) + left) << PATH_UNIT_SHIFT);
}

ps_t path_due_at(const struct path_set *set, ps_t now)
{
	ps_t at = PS_NEVER;
	bool is_any_bad = set->held > 0 || set->closed > 0;
	for (uint32_t plane = 0; set->closed > 0 && plane < set->shape->planes; plane++)
		if (is_probed(set, plane))
			at = ps_min(at, time_of(set->planes[plane].probe_at, now));
	for (uint32_t index = 0; is_any_bad && index < set->shape->universe; index++)
		if (waits_for_probe(set, index))
			at = ps_min(at, time_of(set->retry_at[index], now));
	return at;
}
