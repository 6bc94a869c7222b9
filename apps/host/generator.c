// SPDX-License-Identifier: Apache-2.0
// Generators of a host's gradients. See host.h.

#include "host.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <jansson.h>

#include <weft/ports/payload_store.h>
#include <weft/run/gpu_pass.h>
#include <weft/run/outcome.h>

#define DILATION_MILLI 1000 // wall time

int generator_check(struct call *call)
{
	struct gradients_config config;
	if (call->choice.gpu == NULL)
		return 0;
	if (call->scenario.traffic.kind != TRAFFIC_GRADIENTS)
		return outcome_bad_line(
			&call->refusal,
			"--gpu has no effect here; it needs traffic.kind gradients");
	for (uint32_t i = 0; i < call->scenario.fault_count; i++)
		if (call->scenario.faults[i].kind == FAULT_STALL ||
		    call->scenario.faults[i].kind == FAULT_STRAGGLER)
			return outcome_bad_line(
				&call->refusal,
				"--gpu cannot run faults of kind stall or straggler: "
				"a generator does not know of them");
	clocks_use_system();
	scenario_gradients(&config, &call->scenario);
	return gradients_check(&config, &call->refusal);
}

static int make_link(struct call *call)
{
	struct gpu_call *gpu = &call->gpu;
	const struct gradients_config *config = &gpu->config;
	ps_t limit_s = call->scenario.time_max_ps / PS_PER_S + 1 + 2 * call->choice.timeout_s;
	struct gpu_link_shape shape = gpu_shape(config, call->scenario.seed);
	shape.rank_count = gpu->here;
	shape.group_ranks = config->ranks;
	shape.dilation_milli = DILATION_MILLI;
	shape.limit_s = limit_s < GPU_LIMIT_S_MAX ? (uint32_t)limit_s : GPU_LIMIT_S_MAX;
	int rc = gpu_link_create(&gpu->link, call->choice.gpu, &shape, &call->refusal);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < gpu->here; i++)
		gpu->link.numbers[i] = gpu->first + i;
	gpu_write_ops(gpu, DILATION_MILLI);
	return gpu_link_offer(&gpu->link, &call->refusal);
}

// What each computation received, and when.
static int draw_times(struct call *call)
{
	struct gpu_call *gpu = &call->gpu;
	size_t count = (size_t)gpu->here * gradients_parts(&gpu->config);
	gpu->seen = calloc(count, sizeof(*gpu->seen));
	gpu->times = calloc(count, sizeof(*gpu->times));
	return gpu->seen != NULL && gpu->times != NULL
		? 0
		: refuse(&call->refusal, -ENODEV, "no memory for the computations of % ranks",
			 gpu->here);
}

int generator_open(struct call *call)
{
	struct gpu_call *gpu = &call->gpu;
	if (call->choice.gpu == NULL)
		return 0;
	call->scenario.traffic.is_external_compute = true;
	scenario_gradients(&gpu->config, &call->scenario);
	gpu->link.fd = -1;
	gpu->here = call->scenario.fabric.nics_per_host;
	gpu->first = call->index * gpu->here;
	call->has_generators = true;
	int rc = draw_times(call);
	if (rc == 0)
		rc = gpu_draw(gpu, &call->refusal);
	if (rc == 0)
		rc = make_link(call);
	return rc < 0 ? rc : gpu_await(gpu, call->choice.timeout_s, "--timeout", &call->refusal);
}

int generator_attach(struct call *call, const struct host_run *host_run,
		     struct ports_options *payload)
{
	struct gpu_call *gpu = &call->gpu;
	payload_store_hook(gpu->payload_store, payload);
	if (call->choice.pcap != NULL) {
		snprintf(call->why_copied, sizeof(call->why_copied), "--pcap takes whole frames");
		payload->find = NULL;
	} else if (!port_device_lend(&call->ports, gpu->link.base, gpu->link.bytes,
				     call->why_copied)) {
		payload->find = NULL;
	}
	return payload_store_attach_to(gpu->payload_store, &host_run->world,
				       gpu->config.element_bytes, gpu->first,
				       gpu->link.base + gpu->link.header->buffers,
				       gpu->link.header->buffer_bytes, &call->refusal);
}

// ---------------------------------------------------------------- while it runs

static int64_t due_ns(void *wall, ps_t at)
{
	return wall_counts(wall)->start_ns + at / PS_PER_NS;
}

static ps_t time_of(void *wall, int64_t at_ns)
{
	return ps_max((at_ns - wall_counts(wall)->start_ns) * PS_PER_NS, 0);
}

static ps_t end_op(void *wall, uint32_t op, int64_t at_ns)
{
	return wall_external_compute_end(wall, op, time_of(wall, at_ns));
}

bool generator_poll(void *context, struct wall *wall)
{
	struct call *call = context;
	const struct gpu_driver driver = {.world = wall_world(wall),
					  .context = wall,
					  .due_ns = due_ns,
					  .time = time_of,
					  .end = end_op};
	return gpu_pass(&call->gpu, &driver) != GPU_LOST;
}

// ---------------------------------------------------------------- afterwards

void generator_finish(struct call *call, const struct host_run *host_run)
{
	if (call->has_generators)
		gpu_take_leave(&call->gpu, host_run->end == WALL_END_DONE);
}

void generator_drop(struct call *call)
{
	if (!call->has_generators)
		return;
	free(call->gpu.seen);
	free(call->gpu.times);
	port_device_recall(&call->ports);
	gpu_drop(&call->gpu);
	call->has_generators = false;
}

void generator_print(FILE *to, const struct call *call)
{
	const struct report_gpu *of = &call->gpu.report;
	if (!call->has_generators)
		return;
	if (!of->is_whole) {
		fprintf(to, "generators of host %u: no figures, they did not come to the end\n",
			call->index);
		return;
	}
	fprintf(to,
		"generators of host %u (%s): %u ranks, %" PRIu64
		" slices released, p99 %.1f us after "
		"they were due, %.1f us later for the host; %" PRIu64 " elements checked, %" PRIu64
		" wrong; exposed %.1f us by their clock, %.1f us by the host's\n",
		call->index, of->device, of->ranks, of->releases, (double)of->late_p99_ns / 1e3,
		(double)of->heard_p99_ps / PS_PER_US, of->elements, of->wrong,
		(double)of->exposed_device_ps / PS_PER_US, (double)of->exposed_host_ps / PS_PER_US);
	if (call->why_copied[0] != '\0')
		fprintf(to, "payload is copied into frames here: %s\n", call->why_copied);
	else
		fprintf(to,
			"payload of %" PRIu64
			" frames was read by the ports where it lies, and not copied\n",
			port_device_lent(&call->ports));
}

json_t *generator_json(const struct call *call)
{
	const struct report_gpu *of = &call->gpu.report;
	if (!call->has_generators || !of->is_whole)
		return json_null();
	return json_pack("{s:s,s:I,s:i,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "device", of->device,
			 "frames_in_place", (json_int_t)port_device_lent(&call->ports), "ranks",
			 (int)of->ranks, "releases", (json_int_t)of->releases, "elements_checked",
			 (json_int_t)of->elements, "elements_wrong", (json_int_t)of->wrong,
			 "release_late_p50_ns", (json_int_t)of->late_p50_ns, "release_late_p99_ns",
			 (json_int_t)of->late_p99_ns, "heard_p50_ps", (json_int_t)of->heard_p50_ps,
			 "heard_p99_ps", (json_int_t)of->heard_p99_ps, "exposed_device_ps",
			 (json_int_t)of->exposed_device_ps, "exposed_host_ps",
			 (json_int_t)of->exposed_host_ps);
}
