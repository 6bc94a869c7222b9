// SPDX-License-Identifier: Apache-2.0
// A run with generators: the link, and what passes over it. See gpu.h.

#include <weft/run/gpu_pass.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <weft/core/check.h>
#include <weft/world/world_external_compute.h>

#include <weft/run/call.h>

static int64_t due_ns(void *sim, ps_t at)
{
	return sim_external_compute_due_ns(sim, at);
}

static ps_t time_of(void *sim, int64_t at_ns)
{
	return sim_external_compute_time(sim, at_ns);
}

static ps_t end_op(void *sim, uint32_t op, int64_t at_ns)
{
	return sim_external_compute_end(sim, op, at_ns);
}

static enum external_compute_news poll(void *context, struct sim *sim)
{
	struct call *call = context;
	const struct gpu_driver driver = {.world = &call->world_instance.world,
					  .context = sim,
					  .due_ns = due_ns,
					  .time = time_of,
					  .end = end_op};
	static const enum external_compute_news news[] = {
		EXTERNAL_COMPUTE_QUIET, EXTERNAL_COMPUTE_ENDED, EXTERNAL_COMPUTE_LOST};
	return news[gpu_pass(&call->gpu, &driver)];
}

// ---------------------------------------------------------------- before it runs

static int check_call(struct call *call)
{
	struct refusal *refusal = &call->refusal;
	if (call->is_comparison)
		return refuse(refusal, -EINVAL,
			      "--gpu runs one job: name a variant with --variant");
	if (call->scenario.traffic.kind != TRAFFIC_GRADIENTS)
		return refuse(refusal, -EINVAL,
			      "--gpu has no effect here; it needs traffic.kind gradients");
	if (call->scenario.fault_count > 0)
		for (uint32_t i = 0; i < call->scenario.fault_count; i++)
			if (call->scenario.faults[i].kind == FAULT_STALL ||
			    call->scenario.faults[i].kind == FAULT_STRAGGLER)
				return refuse(refusal, -EINVAL,
					      "--gpu cannot run faults of kind stall or "
					      "straggler: a generator does not know of them");
	return 0;
}

// The scenario's own times in virtual time: what the model says.
static int run_model(struct call *call)
{
	struct sim_options options = {.stop = signals_stop()};
	struct run run;
	int rc = world_instance_build(&call->world_instance, &call->scenario, NULL, 0, &options,
				      &call->refusal);
	if (rc < 0)
		return rc;
	sim_run(call->world_instance.sim, &run);
	call->gpu.model_end_ps = call->world_instance.world.outcome->end_ps;
	gpu_spans_model(call);
	world_instance_free(&call->world_instance);
	if (run.end != RUN_DONE)
		return refuse(&call->refusal, *signals_stop() != 0 ? -EINTR : -EINVAL,
			      "by its own times, without generators, this scenario does not come "
			      "to its end (weft sim says why)");
	return 0;
}

// For as long as the run may wait for generators and then take, a generator has the link open.
static uint32_t limit_s(const struct call *call)
{
	__int128 run_ps = (__int128)call->scenario.time_max_ps * (int64_t)call->dilation_milli /
		1000;
	__int128 limit = run_ps / PS_PER_S + 1 + call->options.gpu_timeout_s;
	return limit < GPU_LIMIT_S_MAX ? (uint32_t)limit : GPU_LIMIT_S_MAX;
}

static int make_link(struct call *call)
{
	struct gpu_call *gpu = &call->gpu;
	const struct gradients_config *config = &gpu->config;
	struct gpu_link_shape shape = gpu_shape(config, call->scenario.seed);
	shape.rank_count = config->ranks;
	shape.dilation_milli = call->dilation_milli;
	shape.limit_s = limit_s(call);
	shape.has_barrier = call->options.has_gpu_barrier;
	int rc = gpu_link_create(&gpu->link, call->options.gpu, &shape, &call->refusal);
	if (rc < 0)
		return rc;
	gpu_write_ops(gpu, call->dilation_milli);
	return gpu_link_offer(&gpu->link, &call->refusal);
}

int gpu_open(struct call *call, struct sim_options *options)
{
	struct gpu_call *gpu = &call->gpu;
	gpu->link.fd = -1;
	int rc = check_call(call);
	if (rc < 0)
		return rc;
	scenario_gradients(&gpu->config, &call->scenario);
	gpu->here = gpu->config.ranks;
	rc = gradients_check(&gpu->config, &call->refusal); // before there is room for it
	if (rc == 0 && gpu_spans_draw(call) < 0)
		rc = refuse(&call->refusal, -ENODEV, "not enough memory for a time line");
	if (rc == 0)
		rc = run_model(call);
	if (rc < 0)
		return rc;
	call->scenario.traffic.is_external_compute = true;
	scenario_gradients(&gpu->config, &call->scenario);
	rc = gpu_draw(gpu, &call->refusal);
	if (rc == 0)
		rc = make_link(call);
	if (rc < 0)
		return rc;
	payload_store_hook(gpu->payload_store, &options->ports);
	options->external_compute = poll;
	options->external_compute_context = call;
	return 0;
}

int gpu_attach(struct call *call)
{
	struct gpu_call *gpu = &call->gpu;
	int rc = payload_store_attach_to(gpu->payload_store, &call->world_instance.world,
					 gpu->config.element_bytes, 0,
					 gpu->link.base + gpu->link.header->buffers,
					 gpu->link.header->buffer_bytes, &call->refusal);
	return rc < 0
		? rc
		: gpu_await(gpu, call->options.gpu_timeout_s, "--gpu-timeout", &call->refusal);
}

// ---------------------------------------------------------------- afterwards

static ps_t silent_ps(const struct gradients_config *config)
{
	return config->steps *
		(config->buckets * (config->forward_ps + config->backward_ps) + config->update_ps);
}

void gpu_finish(struct call *call, enum run_end end)
{
	struct gpu_call *gpu = &call->gpu;
	gpu_take_leave(gpu, end == RUN_DONE);
	gpu_spans_finish(call);
	gpu->report.exposed_model_ps = gpu->model_end_ps - silent_ps(&gpu->config);
}

bool gpu_say_lost(const struct call *call)
{
	return gpu_tell_lost(&call->gpu, call->options.program);
}

void gpu_close(struct call *call)
{
	struct gpu_call *gpu = &call->gpu;
	if (call->options.gpu == NULL)
		return;
	gpu_drop(gpu);
	gpu_spans_free(call);
}
