// SPDX-License-Identifier: Apache-2.0
// The run's end of a link, played from records: ranks that are live, and others that are patterns.
// See weft/gpu/gpu_record.h.

#include <weft/gpu/gpu_record.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define START_NS INT64_C(20000000) // until the first computation is due
#define BEAT_NS INT64_C(50000000)
#define NAP_NS INT64_C(1000000)
#define SHORT_NAP_NS INT64_C(50000) // others have the CPU as long as nothing is due soon
#define SOON_NS INT64_C(150000)

struct live { // a rank of the link
	const struct gpu_record *record;
	struct gpu_data data;
	uint32_t row;  // in the link
	uint32_t made; // atomic: what the others send for parts before lies there
	uint32_t step_parts;
	uint32_t first_open; // parts before are done
};

struct gpu_replay {
	struct gpu_link *link;
	struct live *ranks; // [count]
	uint32_t count;
	uint8_t is_here[GPU_RANKS_MAX]; // ranks of the group that are live
	pthread_t thread, maker;
	uint32_t is_stopped; // atomic
	int64_t beat_ns, late_ns;
	int64_t next_ns;	// when something is due, of what can be known now
	enum gpu_damage damage; // that is still to be done
};

static const struct gpu_link_flag *done_flag(const struct gpu_replay *replay,
					     const struct live *live, uint32_t part)
{
	return gpu_link_flag_of(replay->link, replay->link->done, live->row, part);
}

// When a computation ended, by its flag; false: it has not. The link has no name, and its generator
// is in this process; a time that cannot be is now all the same, so that nothing wraps.
static bool has_ended_at(const struct gpu_link_flag *flag, int64_t *ret_ns)
{
	enum gpu_look look = gpu_link_look(flag, ret_ns);
	if (look == GPU_LOOK_WRONG)
		*ret_ns = gpu_clock_ns();
	return look != GPU_LOOK_DOWN;
}

// The computation that part `part` was recorded behind; the first has none.
static int64_t before(const struct live *live, uint32_t part)
{
	const struct gpu_record_part *parts = live->record->parts;
	if (parts[part].work == GPU_REDUCE)
		return part - 1; // its fill
	int64_t at = (int64_t)part - 1;
	while (at >= 0 && parts[at].work == GPU_REDUCE)
		at--;
	return at;
}

// An update is behind all sums of its step.
static bool are_sums_done(const struct gpu_replay *replay, const struct live *live, uint32_t part)
{
	const struct gpu_record_part *parts = live->record->parts;
	if (parts[part].work != GPU_UPDATE)
		return true;
	for (uint32_t i = part; i-- > 0 && parts[i].step == parts[part].step;)
		if (parts[i].work == GPU_REDUCE && !gpu_link_is_raised(done_flag(replay, live, i)))
			return false;
	return true;
}

// What live ranks send of their own: a slice that they filled, sums behind their update. Whether
// all have, and the last of them at *ret_ns.
static bool have_peers_sent(const struct gpu_replay *replay, const struct live *live, uint32_t part,
			    int64_t *ret_ns)
{
	const struct gpu_link_op *op = &replay->link->ops[part];
	uint32_t sent = op->work == GPU_REDUCE ? part - 1 : op->step * live->step_parts - 1;
	bool is_sent = op->work == GPU_REDUCE || (op->work == GPU_GATE && op->step > 0);
	*ret_ns = 0;
	for (uint32_t i = 0; is_sent && i < replay->count; i++) {
		const struct gpu_link_flag *flag = done_flag(replay, &replay->ranks[i], sent);
		int64_t at_ns;
		if (!has_ended_at(flag, &at_ns))
			return false;
		*ret_ns = at_ns > *ret_ns ? at_ns : *ret_ns;
	}
	return true;
}

// ---------------------------------------------------------------- data

// Blocks of live ranks come from where these made them.
static void bring(const struct gpu_replay *replay, const struct live *live,
		  const struct gpu_link_op *op)
{
	const struct gpu_data *to = &live->data;
	uint64_t block = to->block_bytes, slice = to->slice_bytes;
	for (uint32_t i = 0; i < replay->count; i++) {
		const struct gpu_data *from = &replay->ranks[i].data;
		if (from->rank == to->rank)
			continue;
		if (op->work == GPU_REDUCE)
			memcpy(to->landed + op->offset + from->rank * block,
			       from->gradients + op->offset + to->rank * block, block);
		for (uint64_t at = op->offset; op->work == GPU_GATE && at < op->offset + op->bytes;
		     at += slice)
			memcpy(to->sums + at + from->rank * block,
			       from->sums + at + from->rank * block, block);
	}
}

static void damage(struct gpu_replay *replay, const struct live *live, const struct gpu_link_op *op)
{
	const struct gpu_data *data = &live->data;
	uint8_t *sums = data->sums + op->offset;
	uint64_t bytes = data->slice_bytes;
	if (replay->damage == GPU_DAMAGE_BIT && op->work == GPU_REDUCE)
		data->landed[op->offset + (data->rank == 0 ? data->block_bytes : 0)] ^= 1;
	else if (replay->damage == GPU_DAMAGE_SWAP && op->work == GPU_GATE && op->bytes > bytes)
		for (uint64_t i = 0; i < bytes; i++) {
			uint8_t kept = sums[i];
			sums[i] = sums[bytes + i];
			sums[bytes + i] = kept;
		}
	else
		return;
	replay->damage = GPU_DAMAGE_NONE;
}

// The part of the step before that read what lies where part `part` will; -1: there is none. Gates
// at the end stand elsewhere than in a step.
static int64_t read_by(const struct live *live, uint32_t part)
{
	const struct gpu_record *record = live->record;
	uint32_t end = record->steps * live->step_parts;
	if (part < end)
		return (int64_t)part - live->step_parts;
	for (uint32_t i = end - live->step_parts; i < end; i++)
		if (record->parts[i].work == GPU_GATE &&
		    record->parts[i].bucket == record->parts[part].bucket)
			return i;
	return -1;
}

// What ranks that are not here send for part `part`: known beforehand, and made as soon as what lay
// there in the step before was read.
static bool make_part(struct gpu_replay *replay, struct live *live, uint32_t part)
{
	const struct gpu_link_op *op = &replay->link->ops[part];
	int64_t reader = read_by(live, part);
	if (reader >= 0 && !gpu_link_is_raised(done_flag(replay, live, (uint32_t)reader)))
		return false;
	if (op->work == GPU_REDUCE)
		gpu_host_play_parts(&live->data, op->step, op->offset, replay->is_here);
	else if (op->work == GPU_GATE && op->step > 0)
		gpu_host_play_sums(&live->data, op->step - 1, op->offset, op->bytes,
				   replay->is_here);
	__atomic_store_n(&live->made, part + 1, __ATOMIC_RELEASE);
	return true;
}

static bool is_stopped(struct gpu_replay *replay)
{
	return __atomic_load_n(&replay->is_stopped, __ATOMIC_ACQUIRE) != 0;
}

// A thread of its own: making takes longer than asking may be late.
static void *make(void *context)
{
	struct gpu_replay *replay = context;
	for (bool is_all = false; !is_all && !is_stopped(replay);) {
		is_all = true;
		bool has_made = false;
		for (uint32_t i = 0; i < replay->count; i++) {
			struct live *live = &replay->ranks[i];
			if (live->made < live->record->part_count)
				has_made |= make_part(replay, live, live->made);
			is_all = is_all && live->made == live->record->part_count;
		}
		if (!has_made)
			nanosleep(&(struct timespec){0, NAP_NS / 4}, NULL);
	}
	return NULL;
}

// ---------------------------------------------------------------- asking

static void ask(struct gpu_replay *replay, struct live *live, uint32_t part)
{
	struct gpu_link *link = replay->link;
	const struct gpu_link_op *op = &link->ops[part];
	struct gpu_link_flag *asked = gpu_link_flag_of(link, link->asked, live->row, part);
	int64_t behind = before(live, part), behind_ns = link->header->start_ns;
	if (op->needs_messages == 0 || gpu_link_is_raised(asked) ||
	    (behind >= 0 && !has_ended_at(done_flag(replay, live, (uint32_t)behind), &behind_ns)))
		return;
	int64_t due_ns = live->record->parts[part].wait_ns + behind_ns;
	int64_t now_ns = gpu_clock_ns(), sent_ns;
	if (due_ns < replay->next_ns)
		replay->next_ns = due_ns;
	if (now_ns < due_ns || __atomic_load_n(&live->made, __ATOMIC_ACQUIRE) <= part ||
	    !are_sums_done(replay, live, part) || !have_peers_sent(replay, live, part, &sent_ns))
		return;
	bring(replay, live, op);
	damage(replay, live, op);
	gpu_link_raise(asked, now_ns);
	due_ns = sent_ns > due_ns ? sent_ns : due_ns;
	if (op->work != GPU_UPDATE && now_ns - due_ns > replay->late_ns)
		replay->late_ns = now_ns - due_ns;
}

// All parts up to the end of the step in hand. What stands behind a computation that has not ended
// cannot be asked for.
static void ask_all(struct gpu_replay *replay, struct live *live)
{
	const struct gpu_record *record = live->record;
	for (uint32_t i = live->first_open; i < record->part_count; i++) {
		ask(replay, live, i);
		if (record->parts[i].work != GPU_REDUCE &&
		    !gpu_link_is_raised(done_flag(replay, live, i)))
			break;
	}
	while (live->first_open < record->part_count &&
	       gpu_link_is_raised(done_flag(replay, live, live->first_open)))
		live->first_open++;
}

static bool has_ended(const struct gpu_replay *replay)
{
	for (uint32_t i = 0; i < replay->count; i++)
		if (replay->ranks[i].first_open < replay->ranks[i].record->part_count)
			return false;
	return true;
}

static void beat(struct gpu_replay *replay)
{
	int64_t now_ns = gpu_clock_ns();
	if (now_ns > replay->beat_ns + BEAT_NS)
		gpu_link_beat_host(replay->link, replay->beat_ns = now_ns);
}

static void *play(void *context)
{
	struct gpu_replay *replay = context;
	struct gpu_link *link = replay->link;
	for (uint32_t i = 0; i < replay->count; i++)
		while (gpu_link_rank_state(link, replay->ranks[i].row) != GPU_RANK_READY &&
		       !is_stopped(replay)) {
			beat(replay);
			nanosleep(&(struct timespec){0, NAP_NS}, NULL);
		}
	gpu_link_set_host(link, GPU_HOST_RUNS, gpu_clock_ns() + START_NS);
	while (!has_ended(replay) && !is_stopped(replay)) {
		replay->next_ns = INT64_MAX;
		for (uint32_t i = 0; i < replay->count; i++)
			ask_all(replay, &replay->ranks[i]);
		beat(replay);
		if (replay->next_ns - SOON_NS > gpu_clock_ns())
			nanosleep(&(struct timespec){0, SHORT_NAP_NS}, NULL);
		else
			sched_yield();
	}
	gpu_link_set_host(link, GPU_HOST_DONE, link->header->start_ns);
	return NULL;
}

// ---------------------------------------------------------------- the thread

static void let_go(struct gpu_replay *replay)
{
	free(replay->ranks);
	free(replay);
}

static void prepare(struct gpu_replay *replay, const struct gpu_record *records)
{
	for (uint32_t i = 0; i < replay->count; i++) {
		struct live *live = &replay->ranks[i];
		live->record = &records[i];
		live->row = i;
		live->step_parts = (records[i].part_count - records[i].buckets) / records[i].steps;
		gpu_data_of(&live->data, replay->link, i);
		replay->is_here[live->data.rank] = 1;
	}
}

int gpu_replay_start(struct gpu_replay **ret, struct gpu_link *link,
		     const struct gpu_record *records, enum gpu_damage damage_wanted,
		     struct refusal *refusal)
{
	struct gpu_replay *replay = calloc(1, sizeof(*replay));
	struct live *ranks = calloc(link->header->rank_count, sizeof(*ranks));
	if (replay == NULL || ranks == NULL) {
		free(replay);
		free(ranks);
		return refuse(refusal, -ENOMEM, "no memory to play a record");
	}
	replay->link = link;
	replay->ranks = ranks;
	replay->count = link->header->rank_count;
	replay->damage = damage_wanted;
	prepare(replay, records);
	if (pthread_create(&replay->maker, NULL, make, replay) != 0) {
		let_go(replay);
		return refuse(refusal, -EAGAIN, "the system gives no thread");
	}
	if (pthread_create(&replay->thread, NULL, play, replay) != 0) {
		__atomic_store_n(&replay->is_stopped, 1u, __ATOMIC_RELEASE);
		pthread_join(replay->maker, NULL);
		let_go(replay);
		return refuse(refusal, -EAGAIN, "the system gives no thread");
	}
	*ret = replay;
	return 0;
}

int64_t gpu_replay_end(struct gpu_replay *replay)
{
	__atomic_store_n(&replay->is_stopped, 1u, __ATOMIC_RELEASE);
	pthread_join(replay->thread, NULL);
	pthread_join(replay->maker, NULL);
	int64_t late_ns = replay->late_ns;
	let_go(replay);
	return late_ns;
}
