// SPDX-License-Identifier: Apache-2.0
// Facts: PyTorch's profiler writes what the host did as events of categories cpu_op,
// user_annotation and cuda_runtime; a kernel has the number of the call that launched it
// (args.correlation). The autograd engine calls each node of the backward inside
// "autograd::engine::evaluate_function: NODE", which has a forward that is run again, too; each
// optimizer runs inside "Optimizer.step#NAME.step"; profiler.step() ends "ProfilerStep#N".

#include <weft/core/order.h>
#include <weft/trace/trace_phases.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "field.h"

// Some time of a thread of the host, or of the GPU: in microseconds, as the file has them.
struct span {
	int64_t of; // thread; phase and step of a kernel
	double begin, end;
};

struct spans {
	struct span *list;
	uint32_t count, max;
};

struct launch {
	int64_t correlation, thread;
	double at;
};

struct launches {
	struct launch *list;
	uint32_t count, max;
};

struct phases {
	struct trace_input input; // for the refusal alone
	struct spans steps, backwards, optimizers, kernels;
	struct launches launches;
};

// ---------------------------------------------------------------- spans

static int by_begin(const void *a, const void *b)
{
	const struct span *one = a, *other = b;
	return ORDER(one->of, other->of) ?: ORDER(one->begin, other->begin);
}

// Sorts, and joins those of one thread that touch.
static void join(struct spans *spans)
{
	uint32_t kept = 0;
	if (spans->count == 0)
		return;
	qsort(spans->list, spans->count, sizeof(*spans->list), by_begin);
	for (uint32_t i = 1; i < spans->count; i++) {
		struct span *last = &spans->list[kept];
		const struct span *next = &spans->list[i];
		if (next->of == last->of && next->begin <= last->end)
			last->end = fmax(last->end, next->end);
		else
			spans->list[++kept] = *next;
	}
	spans->count = kept + 1;
}

// The joined span of a thread that `at` lies in; NULL: there is none.
static const struct span *find(const struct spans *spans, int64_t of, double at)
{
	const struct span wanted = {.of = of, .begin = at};
	uint32_t low = 0, high = spans->count;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (by_begin(&spans->list[middle], &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	const struct span *found = low > 0 ? &spans->list[low - 1] : NULL;
	return found != NULL && found->of == of && at < found->end ? found : NULL;
}

static int add(const struct phases *phases, struct spans *to, const struct span *span)
{
	if (!input_grow((void **)&to->list, to->count, &to->max, sizeof(*to->list)))
		return input_no_memory(&phases->input);
	to->list[to->count++] = *span;
	return 0;
}

// ---------------------------------------------------------------- the host

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool has_correlation(const json_t *event, int64_t *ret)
{
	const json_t *number = json_object_get(json_object_get(event, "args"), "correlation");
	*ret = json_integer_value(number);
	return json_is_integer(number);
}

static bool is_gpu(const char *category)
{
	return strcmp(category, "kernel") == 0 || strcmp(category, "gpu_memcpy") == 0 ||
		strcmp(category, "gpu_memset") == 0;
}

static int take_launch(struct phases *phases, const json_t *event, const struct span *span)
{
	struct launches *to = &phases->launches;
	int64_t correlation;
	if (!has_correlation(event, &correlation))
		return 0;
	if (!input_grow((void **)&to->list, to->count, &to->max, sizeof(*to->list)))
		return input_no_memory(&phases->input);
	to->list[to->count++] = (struct launch){correlation, span->of, span->begin};
	return 0;
}

static int take_host(struct phases *phases, const json_t *event, const char *category,
		     const struct span *span)
{
	const char *name = field_text(event, "name");
	if (begins(category, "cuda_") || begins(category, "hip_"))
		return take_launch(phases, event, span);
	if (strcmp(category, "user_annotation") == 0 && begins(name, "ProfilerStep#")) {
		struct span step = *span;
		step.of = 0; // of all threads
		return add(phases, &phases->steps, &step);
	}
	if (begins(name, "autograd::engine::evaluate_function"))
		return add(phases, &phases->backwards, span);
	return begins(name, "Optimizer.step#") ? add(phases, &phases->optimizers, span) : 0;
}

// ---------------------------------------------------------------- kernels

static int by_correlation(const void *a, const void *b)
{
	int64_t one = ((const struct launch *)a)->correlation;
	int64_t other = ((const struct launch *)b)->correlation;
	return ORDER(one, other);
}

static uint32_t step_at(const struct phases *phases, double at)
{
	for (uint32_t i = 0; i < phases->steps.count; i++)
		if (at >= phases->steps.list[i].begin && at < phases->steps.list[i].end)
			return i;
	return UINT32_MAX;
}

static enum trace_phase phase_of(const struct phases *phases, const struct launch *launch)
{
	if (find(&phases->backwards, launch->thread, launch->at) != NULL)
		return PHASE_BACKWARD;
	return find(&phases->optimizers, launch->thread, launch->at) != NULL ? PHASE_OPTIMIZER
									     : PHASE_FORWARD;
}

// One of no step, or whose launch the file does not have, is left out.
static int take_kernel(struct phases *phases, const json_t *event, const struct span *span)
{
	struct launch wanted;
	if (!has_correlation(event, &wanted.correlation) || phases->launches.count == 0)
		return 0;
	const struct launch *launch = bsearch(&wanted, phases->launches.list,
					      phases->launches.count,
					      sizeof(*phases->launches.list), by_correlation);
	uint32_t step = launch == NULL ? UINT32_MAX : step_at(phases, launch->at);
	if (step == UINT32_MAX)
		return 0;
	const struct span kernel = {step * PHASE_COUNT + phase_of(phases, launch), span->begin,
				    span->end};
	return add(phases, &phases->kernels, &kernel);
}

static int take_event(struct phases *phases, const json_t *event, bool wants_gpu)
{
	const char *category = field_text(event, "cat");
	const json_t *begin = json_object_get(event, "ts"), *dur = json_object_get(event, "dur");
	if (strcmp(field_text(event, "ph"), "X") != 0 || !json_is_number(begin) ||
	    !json_is_number(dur) || is_gpu(category) != wants_gpu)
		return 0;
	struct span span = {json_integer_value(json_object_get(event, "tid")),
			    json_number_value(begin), 0};
	span.end = span.begin + json_number_value(dur);
	if (!isfinite(span.begin) || !isfinite(span.end) || span.end < span.begin)
		return 0;
	if (!wants_gpu)
		return take_host(phases, event, category, &span);
	return begins(field_text(event, "name"), "nccl") ? 0 : take_kernel(phases, event, &span);
}

// ---------------------------------------------------------------- figures

static int median_ps(double *values, uint32_t count, ps_t *ret)
{
	qsort(values, count, sizeof(*values), order_double);
	return micros_ps((values[(count - 1) / 2] + values[count / 2]) / 2, ret);
}

// Steps from one's begin to the next one's: the last one ends where its own record does.
static int measure_steps(struct trace_phases *ret, const struct phases *phases, double *values)
{
	const struct span *steps = phases->steps.list;
	uint32_t count = phases->steps.count;
	for (uint32_t i = 0; i < count; i++)
		values[i] = (i + 1 < count ? steps[i + 1].begin : steps[i].end) - steps[i].begin;
	int rc = median_ps(values, count, &ret->step_ps);
	if (rc == 0)
		rc = micros_ps(values[0], &ret->least_ps);
	return rc < 0 ? rc : micros_ps(values[count - 1], &ret->most_ps);
}

static int measure_phase(struct trace_phases *ret, const struct phases *phases, uint32_t phase,
			 double *values)
{
	uint32_t count = phases->steps.count;
	memset(values, 0, count * sizeof(*values));
	for (uint32_t i = 0; i < phases->kernels.count; i++) {
		const struct span *kernel = &phases->kernels.list[i];
		if (kernel->of % PHASE_COUNT == phase)
			values[kernel->of / PHASE_COUNT] += kernel->end - kernel->begin;
	}
	return median_ps(values, count, &ret->phase_ps[phase]);
}

static int measure(struct trace_phases *ret, struct phases *phases)
{
	double *values = calloc(phases->steps.count, sizeof(*values));
	if (values == NULL)
		return input_no_memory(&phases->input);
	join(&phases->kernels);
	ret->steps = phases->steps.count;
	int rc = measure_steps(ret, phases, values);
	for (uint32_t i = 0; rc == 0 && i < PHASE_COUNT; i++)
		rc = measure_phase(ret, phases, i, values);
	free(values);
	if (rc < 0)
		return input_refuse(&phases->input, 0, "times of over 106 days are none", 0, 0);
	if (ret->phase_ps[PHASE_BACKWARD] > 0)
		return 0;
	return input_refuse(&phases->input, 0,
			    "no kernel was launched by the autograd engine: a profile with "
			    "activities CPU and CUDA of training steps is needed",
			    0, 0);
}

// ---------------------------------------------------------------- a file

static int take_list(struct phases *phases, const json_t *list)
{
	const json_t *event;
	size_t i;
	int rc = 0;
	json_array_foreach(list, i, event) if (rc == 0) rc = take_event(phases, event, false);
	if (rc < 0)
		return rc;
	if (phases->steps.count == 0 || phases->steps.count > TRACE_STEPS_MAX)
		return input_refuse(&phases->input, 0,
				    "% steps (ProfilerStep#N) are there, 1 to % are needed: call "
				    "profiler.step() behind each step",
				    phases->steps.count, TRACE_STEPS_MAX);
	qsort(phases->steps.list, phases->steps.count, sizeof(struct span), by_begin);
	join(&phases->backwards);
	join(&phases->optimizers);
	if (phases->launches.count > 0)
		qsort(phases->launches.list, phases->launches.count, sizeof(struct launch),
		      by_correlation);
	json_array_foreach(list, i, event) if (rc == 0) rc = take_event(phases, event, true);
	return rc;
}

int trace_phases(struct trace_phases *ret, const char *text, size_t bytes, struct refusal *refusal)
{
	struct phases phases = {.input = {.text = text, .bytes = bytes, .refusal = refusal}};
	json_t *root = field_root(&phases.input);
	const json_t *list = root == NULL ? NULL : field_list(&phases.input, root, "traceEvents");
	*ret = (struct trace_phases){0};
	int rc = list == NULL ? -EINVAL : take_list(&phases, list);
	if (rc == 0)
		rc = measure(ret, &phases);
	const json_t *rank = json_object_get(json_object_get(root, "distributedInfo"), "rank");
	ret->has_rank = json_is_integer(rank) && json_integer_value(rank) >= 0 &&
		json_integer_value(rank) < UINT32_MAX;
	ret->rank = ret->has_rank ? (uint32_t)json_integer_value(rank) : 0;
	free(phases.steps.list);
	free(phases.backwards.list);
	free(phases.optimizers.list);
	free(phases.kernels.list);
	free(phases.launches.list);
	json_decref(root);
	return rc;
}
