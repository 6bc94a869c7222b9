// SPDX-License-Identifier: Apache-2.0
// See perfetto.h.

#include <inttypes.h>

#include "perfetto.h"

#define FIRST_PID 101u // behind those of perfetto.c

static const char *const view_names[REPORT_GPU_VIEWS] = {
	[REPORT_GPU_DEVICE] = "generators, by the device",
	[REPORT_GPU_HOST] = "generators, as hosts saw them",
	[REPORT_GPU_MODEL] = "generators, by the model",
};

struct writer {
	FILE *to;
	uint32_t count, left_out;
};

static void put_time(FILE *to, const char *key, ps_t time)
{
	fprintf(to, ",\"%s\":%" PRId64 ".%06" PRId64, key, time / PS_PER_US, time % PS_PER_US);
}

static void put_name(FILE *to, const char *what, uint32_t pid, uint32_t tid, const char *name,
		     uint32_t number)
{
	fprintf(to,
		",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":\"%s",
		what, pid, tid, name);
	if (tid > 0)
		fprintf(to, " %u", number);
	fputs("\"}}", to);
}

static uint32_t pid_of(const struct report_gpu_span *span)
{
	return FIRST_PID + span->view;
}

static uint32_t tid_of(const struct report_gpu_span *span)
{
	return 2 * span->rank + 1 + span->is_sum;
}

static void put(struct writer *writer, const struct report_gpu_span *span, const char *name,
		ps_t from, ps_t until)
{
	if (writer->count == PERFETTO_SPANS_MAX) {
		writer->left_out++;
		return;
	}
	writer->count++;
	if (writer->to == NULL)
		return;
	fprintf(writer->to,
		",\n{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"generators\",\"pid\":%u,\"tid\":%u",
		name, pid_of(span), tid_of(span));
	put_time(writer->to, "ts", from);
	put_time(writer->to, "dur", until - from);
	fprintf(writer->to, ",\"args\":{\"step\":%u,\"bucket\":%u,\"slice\":%u}}", span->step,
		span->bucket, span->slice);
}

static bool is_same_track(const struct report_gpu_span *a, const struct report_gpu_span *b)
{
	return a->view == b->view && a->rank == b->rank;
}

// Where the computations of a step end that begins with span `first`.
static ps_t step_end(const struct report_gpu *gpu, uint32_t first)
{
	const struct report_gpu_span *begin = &gpu->spans[first];
	ps_t end = begin->until_ps;
	for (uint32_t i = first; i < gpu->span_count; i++) {
		const struct report_gpu_span *span = &gpu->spans[i];
		if (!is_same_track(span, begin) || span->step != begin->step)
			break;
		if (!span->is_sum)
			end = span->until_ps;
	}
	return end;
}

static void put_tracks(FILE *to, const struct report_gpu_span *span, bool is_new_view)
{
	uint32_t pid = pid_of(span), tid = 2 * span->rank + 1;
	if (is_new_view)
		put_name(to, "process_name", pid, 0, view_names[span->view], 0);
	put_name(to, "thread_name", pid, tid, "rank", span->rank);
	put_name(to, "thread_name", pid, tid + 1, "sums of rank", span->rank);
}

uint32_t perfetto_gpu_write(FILE *to, const struct report_gpu *gpu)
{
	struct writer writer = {.to = to};
	char name[64];
	for (uint32_t i = 0; i < gpu->span_count; i++) {
		const struct report_gpu_span *span = &gpu->spans[i];
		bool is_new_track = i == 0 || !is_same_track(span, span - 1);
		if (is_new_track && to != NULL)
			put_tracks(to, span, i == 0 || span->view != span[-1].view);
		if (is_new_track || span->step != span[-1].step) {
			snprintf(name, sizeof(name), "step %u", span->step);
			put(&writer, span, name, span->from_ps, step_end(gpu, i));
		}
		snprintf(name, sizeof(name), "%s", span->work);
		put(&writer, span, name, span->from_ps, span->until_ps);
		if (span->begun_ps > span->from_ps)
			put(&writer, span, "wait", span->from_ps, span->begun_ps);
	}
	return writer.left_out;
}
