// SPDX-License-Identifier: Apache-2.0
// The run's end of a link, played from a record: one live rank, and others that are patterns. See
// weft/gpu_record.h.

#include <weft/gpu_record.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#define START_NS INT64_C(20000000) // until the first computation is due
#define BEAT_NS INT64_C(50000000)

struct gpu_player {
	struct gpu_link *link;
	const struct gpu_record *record;
	struct gpu_data data; // of the live rank
	pthread_t thread;
	uint32_t is_stopped; // atomic
	uint8_t *is_made;    // [parts] what the others sent for it lies there
	uint32_t first_open; // parts before are done
	int64_t beat_ns, late_ns;
	enum gpu_damage damage; // that is still to be done
};

static const struct gpu_link_flag *done_flag(const struct gpu_player *player, uint32_t part)
{
	const struct gpu_link *link = player->link;
	return gpu_link_flag_of(link, link->done, player->record->rank, part);
}

// The computation that part `part` was recorded behind; the first has none.
static int64_t before(const struct gpu_player *player, uint32_t part)
{
	const struct gpu_record_part *parts = player->record->parts;
	if (parts[part].work == GPU_REDUCE)
		return part - 1; // its fill
	int64_t at = (int64_t)part - 1;
	while (at >= 0 && parts[at].work == GPU_REDUCE)
		at--;
	return at;
}

// An update is behind all sums of its step.
static bool are_sums_done(const struct gpu_player *player, uint32_t part)
{
	const struct gpu_record_part *parts = player->record->parts;
	if (parts[part].work != GPU_UPDATE)
		return true;
	for (uint32_t i = part; i-- > 0 && parts[i].step == parts[part].step;)
		if (parts[i].work == GPU_REDUCE && !gpu_link_is_raised(done_flag(player, i)))
			return false;
	return true;
}

static void damage(struct gpu_player *player, const struct gpu_link_op *op)
{
	const struct gpu_data *data = &player->data;
	uint8_t *sums = data->sums + op->offset;
	uint64_t bytes = data->slice_bytes;
	if (player->damage == GPU_DAMAGE_BIT && op->work == GPU_REDUCE)
		data->landed[op->offset + (data->rank == 0 ? data->block_bytes : 0)] ^= 1;
	else if (player->damage == GPU_DAMAGE_SWAP && op->work == GPU_GATE && op->bytes > bytes)
		for (uint64_t i = 0; i < bytes; i++) {
			uint8_t kept = sums[i];
			sums[i] = sums[bytes + i];
			sums[bytes + i] = kept;
		}
	else
		return;
	player->damage = GPU_DAMAGE_NONE;
}

// What the others would have sent by then.
static void make_data(struct gpu_player *player, uint32_t part)
{
	const struct gpu_link_op *op = &player->link->ops[part];
	if (player->is_made[part])
		return;
	if (op->work == GPU_REDUCE)
		gpu_host_play_parts(&player->data, op->step, op->offset);
	else if (op->work == GPU_GATE)
		gpu_host_play_sums(&player->data, op->step - 1, op->offset, op->bytes);
	damage(player, op);
	player->is_made[part] = 1;
}

static void ask(struct gpu_player *player, uint32_t part)
{
	struct gpu_link *link = player->link;
	struct gpu_link_flag *asked = gpu_link_flag_of(link, link->asked, player->record->rank,
						       part);
	int64_t behind = before(player, part);
	if (link->ops[part].needs_messages == 0 || gpu_link_is_raised(asked) ||
	    !gpu_link_is_raised(done_flag(player, (uint32_t)behind)))
		return;
	make_data(player, part);
	int64_t due_ns = done_flag(player, (uint32_t)behind)->at_ns +
		player->record->parts[part].wait_ns;
	int64_t now_ns = gpu_clock_ns();
	if (now_ns < due_ns || !are_sums_done(player, part))
		return;
	gpu_link_raise(asked, now_ns);
	if (link->ops[part].work != GPU_UPDATE && now_ns - due_ns > player->late_ns)
		player->late_ns = now_ns - due_ns;
}

// All parts up to the end of the step in hand.
static void ask_all(struct gpu_player *player)
{
	const struct gpu_record *record = player->record;
	for (uint32_t i = player->first_open; i < record->part_count; i++) {
		ask(player, i);
		if (record->parts[i].work == GPU_UPDATE &&
		    !gpu_link_is_raised(done_flag(player, i)))
			break;
	}
	while (player->first_open < record->part_count &&
	       gpu_link_is_raised(done_flag(player, player->first_open)))
		player->first_open++;
}

static void *play(void *context)
{
	struct gpu_player *player = context;
	struct gpu_link *link = player->link;
	while (gpu_link_rank_state(link, player->record->rank) != GPU_RANK_READY &&
	       __atomic_load_n(&player->is_stopped, __ATOMIC_ACQUIRE) == 0) {
		gpu_link_beat_host(link, gpu_clock_ns());
		sched_yield();
	}
	gpu_link_set_host(link, GPU_HOST_RUNS, gpu_clock_ns() + START_NS);
	while (player->first_open < player->record->part_count &&
	       __atomic_load_n(&player->is_stopped, __ATOMIC_ACQUIRE) == 0) {
		ask_all(player);
		int64_t now_ns = gpu_clock_ns();
		if (now_ns > player->beat_ns + BEAT_NS)
			gpu_link_beat_host(link, player->beat_ns = now_ns);
		sched_yield();
	}
	gpu_link_set_host(link, GPU_HOST_DONE, link->header->start_ns);
	return NULL;
}

int gpu_player_start(struct gpu_player **ret, struct gpu_link *link,
		     const struct gpu_record *record, enum gpu_damage damage_wanted,
		     struct refusal *refusal)
{
	struct gpu_player *player = calloc(1, sizeof(*player));
	uint8_t *is_made = calloc(record->part_count, 1);
	if (player == NULL || is_made == NULL) {
		free(player);
		free(is_made);
		return refuse(refusal, -ENOMEM, "no memory to play a record", 0, 0, 0);
	}
	*player = (struct gpu_player){
		.link = link, .record = record, .is_made = is_made, .damage = damage_wanted};
	gpu_data_of(&player->data, link, record->rank);
	if (pthread_create(&player->thread, NULL, play, player) != 0) {
		free(player);
		free(is_made);
		return refuse(refusal, -EAGAIN, "the system gives no thread", 0, 0, 0);
	}
	*ret = player;
	return 0;
}

int64_t gpu_player_end(struct gpu_player *player)
{
	__atomic_store_n(&player->is_stopped, 1u, __ATOMIC_RELEASE);
	pthread_join(player->thread, NULL);
	int64_t late_ns = player->late_ns;
	free(player->is_made);
	free(player);
	return late_ns;
}
