// SPDX-License-Identifier: Apache-2.0
// What passes over a link between a run and its generators, whoever runs the world. See gpu_pass.h.

#include <weft/run/gpu_pass.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weft/files/signals.h>
#include <weft/world/world_external_compute.h>

#define BEAT_NS INT64_C(50000000)
#define NS_PER_S INT64_C(1000000000)

enum reported { REPORTED_NOTHING, REPORTED_ASKED, REPORTED_ENDED };

struct gpu_link_shape gpu_shape(const struct gradients_config *config, uint64_t seed)
{
	return (struct gpu_link_shape){
		.op_count = gradients_parts(config),
		.stretch_bytes = gradients_stretch_bytes(config),
		.bucket_bytes = config->bucket_bytes,
		.slice_bytes = config->bucket_bytes / config->slices,
		.block_bytes = gradients_block_bytes(config),
		.element_bytes = config->element_bytes,
		.seed = seed,
	};
}

// ---------------------------------------------------------------- while it runs

static uint8_t *reported_of(struct gpu_call *gpu, uint32_t rank, uint32_t part)
{
	return &gpu->reported[(uint64_t)rank * gradients_parts(&gpu->config) + part];
}

static struct gpu_seen *seen_of(struct gpu_call *gpu, uint32_t rank, uint32_t part)
{
	return &gpu->seen[(uint64_t)rank * gradients_parts(&gpu->config) + part];
}

static struct gpu_reported *times_of(struct gpu_call *gpu, uint32_t rank, uint32_t part)
{
	return &gpu->times[(uint64_t)rank * gradients_parts(&gpu->config) + part];
}

// The program's operation of a rank of the link.
static uint32_t op_of(const struct gpu_call *gpu, uint32_t rank, uint32_t part)
{
	return gradients_op(&gpu->config, gpu->first + rank, part);
}

// Time that the rank's computations stood still for messages, sums apart.
static void note_exposed(struct gpu_call *gpu, uint32_t rank, uint32_t part, ps_t begun)
{
	struct gpu_rank_seen *seen = &gpu->ranks[rank];
	if (gpu->parts[part].work == GRADIENTS_REDUCE || begun <= seen->end_ps)
		return;
	seen->exposed_ps += begun - seen->end_ps;
	seen->end_ps = begun;
}

static void ask(struct gpu_call *gpu, const struct gpu_driver *driver, uint32_t rank, uint32_t part,
		ps_t begun)
{
	struct gpu_link *link = &gpu->link;
	int64_t at_ns = driver->due_ns(driver->context, begun);
	if (gpu->parts[part].needs_messages) {
		gpu_link_raise_own(link, gpu_link_flag_of(link, link->asked, rank, part), at_ns);
		times_of(gpu, rank, part)->asked_ns = at_ns;
	}
	*reported_of(gpu, rank, part) = REPORTED_ASKED;
	seen_of(gpu, rank, part)->begun = begun;
	note_exposed(gpu, rank, part, begun);
}

static void end(struct gpu_call *gpu, const struct gpu_driver *driver, uint32_t rank, uint32_t part,
		int64_t at_ns)
{
	uint32_t op = op_of(gpu, rank, part);
	ps_t late_ps = driver->end(driver->context, op, at_ns);
	times_of(gpu, rank, part)->done_ns = at_ns;
	*reported_of(gpu, rank, part) = REPORTED_ENDED;
	if (gpu->parts[part].work == GRADIENTS_FILL)
		gpu_lateness_add(&gpu->heard, late_ps);
	ps_t ended = driver->time(driver->context, at_ns);
	seen_of(gpu, rank, part)->ended = ended;
	if (gpu->parts[part].work == GRADIENTS_REDUCE)
		return;
	gpu->ranks[rank].end_ps = ps_max(gpu->ranks[rank].end_ps, ended);
}

// Whoever was lost first is named.
static void lose(struct gpu_call *gpu, uint32_t rank, enum gpu_peer how, const char *why)
{
	if (gpu->lost != GPU_PEER_HERE)
		return;
	gpu->lost_rank = rank;
	gpu->lost = how;
	gpu->lost_why = why;
}

// One computation: passes on that it may begin, or has ended. Returns whether it ended now.
static bool pass(struct gpu_call *gpu, const struct gpu_driver *driver, uint32_t rank,
		 uint32_t part)
{
	struct gpu_link *link = &gpu->link;
	const struct gpu_link_flag *done = gpu_link_flag_of(link, link->done, rank, part);
	ps_t begun;
	int64_t at_ns;
	if (*reported_of(gpu, rank, part) == REPORTED_NOTHING &&
	    world_external_compute_has_begun(driver->world, op_of(gpu, rank, part), &begun))
		ask(gpu, driver, rank, part, begun);
	if (*reported_of(gpu, rank, part) != REPORTED_ASKED)
		return false;
	enum gpu_look look = gpu_link_look(done, &at_ns);
	if (look == GPU_LOOK_WRONG)
		lose(gpu, rank, GPU_PEER_WRONG, "a computation ended when it cannot have");
	if (look != GPU_LOOK_UP)
		return false;
	end(gpu, driver, rank, part, at_ns);
	return true;
}

// Nothing behind an update that has not ended can have begun.
static bool pass_rank(struct gpu_call *gpu, const struct gpu_driver *driver, uint32_t rank)
{
	uint32_t count = gradients_parts(&gpu->config);
	struct gpu_rank_seen *seen = &gpu->ranks[rank];
	bool has_ended = false;
	for (uint32_t i = seen->first_open; i < count; i++) {
		has_ended |= *reported_of(gpu, rank, i) != REPORTED_ENDED &&
			pass(gpu, driver, rank, i);
		if (gpu->parts[i].work == GRADIENTS_UPDATE &&
		    *reported_of(gpu, rank, i) != REPORTED_ENDED)
			break;
	}
	while (seen->first_open < count &&
	       *reported_of(gpu, rank, seen->first_open) == REPORTED_ENDED)
		seen->first_open++;
	return has_ended;
}

// Whether a rank ended all of its computations, as it has before it is done.
static bool has_all(const struct gpu_call *gpu, uint32_t rank)
{
	const struct gpu_link *link = &gpu->link;
	for (uint32_t i = gpu->ranks[rank].first_open; i < link->header->op_count; i++)
		if (!gpu_link_is_raised(gpu_link_flag_of(link, link->done, rank, i)))
			return false;
	return true;
}

static void look_at_rank(struct gpu_call *gpu, uint32_t rank, int64_t now_ns)
{
	enum gpu_rank_state state = gpu_link_rank_state(&gpu->link, rank);
	enum gpu_peer peer = gpu_link_rank_is(&gpu->link, rank, now_ns);
	if (state == GPU_RANK_DONE && !has_all(gpu, rank))
		lose(gpu, rank, GPU_PEER_WRONG, "it is done, but its computations are not");
	else if (state != GPU_RANK_DONE && peer != GPU_PEER_HERE)
		lose(gpu, rank, peer, NULL);
	else if (state != GPU_RANK_DONE && state != GPU_RANK_READY)
		lose(gpu, rank, GPU_PEER_GONE, NULL);
}

// Whether a generator that still has something to do is lost, or the link is. The link is looked at
// last: in one that was damaged meanwhile a rank may seem silent or gone.
static bool is_lost(struct gpu_call *gpu, int64_t now_ns)
{
	if (gpu->lost != GPU_PEER_HERE)
		return true;
	for (uint32_t rank = 0; rank < gpu->here && gpu->lost == GPU_PEER_HERE; rank++)
		look_at_rank(gpu, rank, now_ns);
	const char *wrong = gpu_link_wrong(&gpu->link);
	if (wrong != NULL) {
		gpu->lost = GPU_PEER_HERE;
		lose(gpu, UINT32_MAX, GPU_PEER_WRONG, wrong);
	}
	return gpu->lost != GPU_PEER_HERE;
}

static bool look_around(struct gpu_call *gpu)
{
	int64_t now_ns = gpu_clock_ns();
	if (now_ns < gpu->beat_ns + BEAT_NS)
		return gpu->lost == GPU_PEER_HERE;
	gpu->beat_ns = now_ns;
	gpu_link_beat_host(&gpu->link, now_ns);
	return !is_lost(gpu, now_ns);
}

enum gpu_news gpu_pass(struct gpu_call *gpu, const struct gpu_driver *driver)
{
	bool has_ended = false;
	if (gpu_link_host_state(&gpu->link) == GPU_HOST_WAITS)
		gpu_link_set_host(&gpu->link, GPU_HOST_RUNS, driver->due_ns(driver->context, 0));
	for (uint32_t rank = 0; rank < gpu->here; rank++)
		has_ended |= pass_rank(gpu, driver, rank);
	if (!look_around(gpu))
		return GPU_LOST;
	return has_ended ? GPU_ENDED : GPU_QUIET;
}

// ---------------------------------------------------------------- before it runs

int gpu_draw(struct gpu_call *gpu, struct refusal *refusal)
{
	uint32_t parts = gradients_parts(&gpu->config), ranks = gpu->here;
	uint32_t fills = gpu->config.steps * gpu->config.buckets * gpu->config.slices;
	gpu->parts = calloc(parts, sizeof(*gpu->parts));
	gpu->ranks = calloc(ranks, sizeof(*gpu->ranks));
	gpu->reported = calloc((size_t)ranks * parts, 1);
	gpu->payload_store = payload_store_create();
	if (gpu->parts == NULL || gpu->ranks == NULL || gpu->reported == NULL ||
	    gpu->payload_store == NULL || gpu_lateness_init(&gpu->heard, fills * ranks) < 0)
		return refuse(refusal, -ENODEV, "not enough memory for % computations of % ranks",
			      parts, ranks);
	for (uint32_t i = 0; i < parts; i++)
		gradients_part(&gpu->config, i, &gpu->parts[i]);
	return 0;
}

void gpu_write_ops(struct gpu_call *gpu, uint64_t dilation_milli)
{
	for (uint32_t i = 0; i < gradients_parts(&gpu->config); i++) {
		const struct gradients_part *part = &gpu->parts[i];
		static const enum gpu_work works[] = {[GRADIENTS_GATE] = GPU_GATE,
						      [GRADIENTS_FILL] = GPU_FILL,
						      [GRADIENTS_REDUCE] = GPU_REDUCE,
						      [GRADIENTS_UPDATE] = GPU_UPDATE};
		__int128 compute = (__int128)part->compute_ps * (int64_t)dilation_milli;
		gpu->link.ops[i] = (struct gpu_link_op){
			.work = works[part->work],
			.needs_messages = part->needs_messages,
			.step = part->step,
			.bucket = part->bucket,
			.slice = part->slice,
			.offset = part->offset,
			.bytes = part->bytes,
			.compute_ns = (int64_t)(compute / 1000 / PS_PER_NS)};
	}
}

static uint32_t missing(const struct gpu_call *gpu)
{
	uint32_t count = 0;
	for (uint32_t rank = 0; rank < gpu->here; rank++)
		count += gpu_link_rank_state(&gpu->link, rank) == GPU_RANK_FREE;
	return count;
}

int gpu_await(struct gpu_call *gpu, uint32_t timeout_s, const char *option, struct refusal *refusal)
{
	int64_t until_ns = gpu_clock_ns() + timeout_s * NS_PER_S;
	while (missing(gpu) > 0) {
		int64_t now_ns = gpu_clock_ns();
		gpu_link_beat_host(&gpu->link, now_ns);
		if (*signals_stop() != 0)
			return refuse(refusal, -EINTR,
				      "interrupted while it waited for generators");
		refusal_name(refusal, gpu->link.path);
		const char *wrong = gpu_link_wrong(&gpu->link);
		if (wrong != NULL)
			return refuse(refusal, -ECONNRESET, wrong);
		if (now_ns > until_ns) {
			snprintf(refusal->text, sizeof(refusal->text),
				 "%u of %u ranks have no generator (weft gpu), and %s, %u s, is "
				 "over",
				 missing(gpu), gpu->here, option, timeout_s);
			return -ECONNRESET;
		}
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	}
	gpu_link_unname(&gpu->link); // all are here: what remains goes with the last process
	return 0;
}

// ---------------------------------------------------------------- afterwards

// A copy of what each rank measured, where it can be.
static bool take_figures(struct gpu_call *gpu)
{
	for (uint32_t rank = 0; rank < gpu->here; rank++) {
		struct gpu_link_figures *figures = &gpu->link.figures[rank];
		memcpy(figures, &gpu->link.ranks[rank].figures, sizeof(*figures));
		const char *wrong = gpu_link_figures_wrong(gpu->link.header, figures);
		if (wrong != NULL)
			lose(gpu, rank, GPU_PEER_WRONG, wrong);
	}
	return gpu->lost == GPU_PEER_HERE;
}

// Generators tell their figures right after their last computation.
static bool wait_for_figures(struct gpu_call *gpu)
{
	int64_t until_ns = gpu_clock_ns() + GPU_SILENT_NS;
	for (;;) {
		uint32_t done = 0;
		for (uint32_t rank = 0; rank < gpu->here; rank++)
			done += gpu_link_rank_state(&gpu->link, rank) == GPU_RANK_DONE;
		int64_t now_ns = gpu_clock_ns();
		if (is_lost(gpu, now_ns))
			return false;
		if (done == gpu->here)
			return take_figures(gpu);
		if (now_ns > until_ns)
			lose(gpu, UINT32_MAX, GPU_PEER_WRONG,
			     "generators did not tell what they measured");
		gpu_link_beat_host(&gpu->link, now_ns);
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	}
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

ps_t gpu_fabric_time(const struct gpu_call *gpu, int64_t ns)
{
	return (ps_t)((__int128)ns * PS_PER_NS * 1000 / (int64_t)gpu->link.header->dilation_milli);
}

static void add_rank(struct gpu_call *gpu, uint32_t rank, uint64_t sums[4])
{
	const struct gpu_link_figures *figures = &gpu->link.figures[rank];
	struct report_gpu *to = &gpu->report;
	int64_t exposed_ns = figures->gates_ns + figures->update_wait_ns;
	to->releases += figures->releases;
	to->elements += figures->elements;
	to->wrong += figures->wrong;
	to->late_p50_ns = larger(to->late_p50_ns, figures->late_p50_ns);
	to->late_p99_ns = larger(to->late_p99_ns, figures->late_p99_ns);
	to->late_max_ns = larger(to->late_max_ns, figures->late_max_ns);
	to->clock_error_ns = larger(to->clock_error_ns, figures->clock_error_ns);
	to->barrier_ps = ps_max(to->barrier_ps, gpu_fabric_time(gpu, figures->barrier_ns));
	to->exposed_device_ps = ps_max(to->exposed_device_ps, gpu_fabric_time(gpu, exposed_ns));
	sums[0] += figures->fill_bytes;
	sums[1] += (uint64_t)figures->fill_ns;
	sums[2] += figures->reduce_bytes;
	sums[3] += (uint64_t)figures->reduce_ns;
}

static double rate_bps(uint64_t bytes, uint64_t ns)
{
	return ns == 0 ? 0 : (double)bytes * 8e9 / (double)ns;
}

void gpu_take_leave(struct gpu_call *gpu, bool is_done)
{
	uint64_t sums[4] = {0};
	gpu->report.is_whole = is_done && wait_for_figures(gpu);
	gpu_link_set_host(&gpu->link, is_done ? GPU_HOST_DONE : GPU_HOST_FAILED,
			  gpu->link.header->start_ns);
	gpu->report.ranks = gpu->here;
	for (uint32_t rank = 0; rank < gpu->here; rank++) {
		if (gpu->report.is_whole)
			add_rank(gpu, rank, sums);
		gpu->report.exposed_host_ps = ps_max(gpu->report.exposed_host_ps,
						     gpu->ranks[rank].exposed_ps);
	}
	gpu->report.fill_bps = rate_bps(sums[0], sums[1]);
	gpu->report.reduce_bps = rate_bps(sums[2], sums[3]);
	gpu_link_device(&gpu->link, 0, gpu->device);
	gpu->report.device = gpu->device;
	gpu->report.clock_offset_ns = gpu->link.figures[0].clock_offset_ns;
	gpu->report.clock_zero_ns = gpu->link.header->start_ns;
	gpu->report.heard_p50_ps = gpu_lateness_quantile(&gpu->heard, 500);
	gpu->report.heard_p99_ps = gpu_lateness_quantile(&gpu->heard, 990);
	gpu->report.heard_max_ps = gpu_lateness_quantile(&gpu->heard, 1000);
}

bool gpu_tell_lost(const struct gpu_call *gpu, const char *program)
{
	uint32_t rank = gpu->first + gpu->lost_rank;
	if (gpu->lost == GPU_PEER_HERE)
		return false;
	if (gpu->lost_rank == UINT32_MAX)
		fprintf(stderr, "weft %s: %s: %s\n", program, gpu->link.path, gpu->lost_why);
	else if (gpu->lost == GPU_PEER_WRONG)
		fprintf(stderr, "weft %s: what the generator of rank %u wrote cannot be: %s\n",
			program, rank, gpu->lost_why);
	else
		fprintf(stderr, "weft %s: the generator of rank %u is %s\n", program, rank,
			gpu->lost == GPU_PEER_SILENT ? "silent: it lives, but does not move"
						     : "gone: its process has ended");
	return true;
}

void gpu_drop(struct gpu_call *gpu)
{
	payload_store_free(gpu->payload_store);
	if (gpu->link.header != NULL)
		gpu_link_close(&gpu->link);
	gpu_lateness_free(&gpu->heard);
	free(gpu->parts);
	free(gpu->ranks);
	free(gpu->reported);
}
