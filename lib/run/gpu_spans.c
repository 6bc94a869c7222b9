// SPDX-License-Identifier: Apache-2.0
// See gpu_pass.h.

#include <weft/run/gpu_pass.h>

#include <errno.h>
#include <stdlib.h>

#include <weft/world/world_external_compute.h>

#include <weft/run/call.h>

static size_t all_parts(const struct gpu_call *gpu)
{
	return (size_t)gpu->config.ranks * gradients_parts(&gpu->config);
}

int gpu_spans_draw(struct call *call)
{
	struct gpu_call *gpu = &call->gpu;
	size_t count = all_parts(gpu);
	gpu->seen = malloc(count * sizeof(*gpu->seen));
	gpu->modelled = malloc(count * sizeof(*gpu->modelled));
	gpu->times = malloc(count * sizeof(*gpu->times));
	gpu->spans = malloc(REPORT_GPU_VIEWS * count * sizeof(*gpu->spans));
	if (gpu->seen == NULL || gpu->modelled == NULL || gpu->times == NULL || gpu->spans == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		gpu->seen[i] = gpu->modelled[i] = (struct gpu_seen){PS_NEVER, PS_NEVER};
		gpu->times[i] = (struct gpu_reported){-1, -1};
	}
	return 0;
}

void gpu_spans_model(struct call *call)
{
	struct gpu_call *gpu = &call->gpu;
	uint32_t parts = gradients_parts(&gpu->config);
	for (uint32_t rank = 0; rank < gpu->config.ranks; rank++)
		for (uint32_t i = 0; i < parts; i++) {
			struct gpu_seen *seen = &gpu->modelled[(size_t)rank * parts + i];
			uint32_t op = gradients_op(&gpu->config, rank, i);
			struct gradients_part part;
			gradients_part(&gpu->config, i, &part);
			if (world_external_compute_has_begun(&call->world_instance.world, op,
							     &seen->begun))
				seen->ended = seen->begun + part.compute_ps;
		}
}

// By the flags of the link, in the fabric's time.
static struct gpu_seen on_device(const struct gpu_call *gpu, const struct gpu_reported *times)
{
	struct gpu_seen seen = {0, PS_NEVER};
	int64_t start_ns = gpu->link.header->start_ns;
	if (times->asked_ns >= 0)
		seen.begun = gpu_fabric_time(gpu, times->asked_ns - start_ns);
	if (times->done_ns >= 0)
		seen.ended = gpu_fabric_time(gpu, times->done_ns - start_ns);
	return seen;
}

static struct gpu_seen look(const struct gpu_call *gpu, enum report_gpu_view view, uint32_t rank,
			    uint32_t part)
{
	size_t at = (size_t)rank * gradients_parts(&gpu->config) + part;
	if (view == REPORT_GPU_DEVICE)
		return on_device(gpu, &gpu->times[at]);
	return view == REPORT_GPU_HOST ? gpu->seen[at] : gpu->modelled[at];
}

// A rank's computations stand one behind the other, and so do its sums: what was waited before one
// begins where the other ended.
static void add_rank(struct gpu_call *gpu, enum report_gpu_view view, uint32_t rank)
{
	ps_t end = 0, sums_end = 0;
	for (uint32_t i = 0; i < gradients_parts(&gpu->config); i++) {
		const struct gradients_part *part = &gpu->parts[i];
		struct gpu_seen seen = look(gpu, view, rank, i);
		bool is_sum = part->work == GRADIENTS_REDUCE;
		ps_t *before = is_sum ? &sums_end : &end;
		if (seen.begun == PS_NEVER || seen.ended == PS_NEVER)
			continue;
		ps_t begun = ps_max(seen.begun, *before), ended = ps_max(seen.ended, begun);
		gpu->spans[gpu->report.span_count++] = (struct report_gpu_span){
			.view = view,
			.rank = rank,
			.work = gradients_work_name(part->work),
			.is_sum = is_sum,
			.step = part->step,
			.bucket = part->bucket,
			.slice = part->slice,
			.from_ps = is_sum ? begun : *before,
			.begun_ps = begun,
			.until_ps = ended};
		*before = ended;
	}
}

void gpu_spans_finish(struct call *call)
{
	struct gpu_call *gpu = &call->gpu;
	gpu->report.span_count = 0;
	gpu->report.spans = gpu->spans;
	for (enum report_gpu_view view = 0; view < REPORT_GPU_VIEWS; view++)
		for (uint32_t rank = 0; rank < gpu->config.ranks; rank++)
			add_rank(gpu, view, rank);
}

void gpu_spans_free(struct call *call)
{
	free(call->gpu.seen);
	free(call->gpu.modelled);
	free(call->gpu.times);
	free(call->gpu.spans);
}
