// SPDX-License-Identifier: Apache-2.0
// See sections.h; what the words mean: docs/result.md.

#include "sections.h"

#include <weft/result/number.h>
#include <weft/result/put.h>

static void put_ns(json_t *to, const char *key, int64_t ns)
{
	put(to, key, json_integer(ns));
}

static void put_rate(json_t *to, const char *key, double bps)
{
	if (bps > 0)
		put_real(to, key, bps);
	else
		put_reason(to, key, "too short to be measured");
}

// What only generators that came to their end have reported.
static void put_reported_json(json_t *to, const struct report_gpu *gpu)
{
	static const char *const keys[] = {"releases",
					   "release_late_p50_ns",
					   "release_late_p99_ns",
					   "release_late_max_ns",
					   "elements_checked",
					   "elements_wrong",
					   "clock_error_ns",
					   "clock_offset_ns",
					   "barrier_ps",
					   "exposed_device_ps",
					   "fill_bps",
					   "reduce_bps"};
	if (!gpu->is_whole) {
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
			put_reason(to, keys[i], "a generator did not come to its end");
		return;
	}
	put_count(to, "releases", gpu->releases);
	put_ns(to, "release_late_p50_ns", gpu->late_p50_ns);
	put_ns(to, "release_late_p99_ns", gpu->late_p99_ns);
	put_ns(to, "release_late_max_ns", gpu->late_max_ns);
	put_count(to, "elements_checked", gpu->elements);
	put_count(to, "elements_wrong", gpu->wrong);
	put_ns(to, "clock_error_ns", gpu->clock_error_ns);
	put_ns(to, "clock_offset_ns", gpu->clock_offset_ns);
	put_time(to, "barrier_ps", gpu->barrier_ps);
	put_time(to, "exposed_device_ps", gpu->exposed_device_ps);
	put_rate(to, "fill_bps", gpu->fill_bps);
	put_rate(to, "reduce_bps", gpu->reduce_bps);
}

void gpu_json(json_t *root, const struct report_input *input)
{
	const struct report_gpu *gpu = input->gpu;
	if (gpu == NULL)
		return;
	json_t *to = object_in(root, "gpu");
	put_text(to, "device", gpu->device);
	put_count(to, "ranks", gpu->ranks);
	put_text(to, "peers", "live");
	put_text(to, "payload", "host memory");
	put_reported_json(to, gpu);
	put_ns(to, "clock_zero_ns", gpu->clock_zero_ns);
	put_time(to, "heard_p50_ps", gpu->heard_p50_ps);
	put_time(to, "heard_p99_ps", gpu->heard_p99_ps);
	put_time(to, "heard_max_ps", gpu->heard_max_ps);
	put_time(to, "exposed_host_ps", gpu->exposed_host_ps);
	put_time(to, "exposed_model_ps", gpu->exposed_model_ps);
}

// ---------------------------------------------------------------- table

static void late_row(FILE *to, const char *name, ps_t p50, ps_t p99, ps_t max)
{
	struct text text[3];
	fprintf(to, "  %-40s %10s %10s %10s\n", name, number_time(&text[0], p50),
		number_time(&text[1], p99), number_time(&text[2], max));
}

static void put_reported(FILE *to, const struct report_gpu *gpu)
{
	struct text text[3];
	if (!gpu->is_whole) {
		fprintf(to, "  a generator did not finish, and reported nothing\n");
		return;
	}
	fprintf(to, "  %s elements checked, %s\n", number_grouped(&text[0], gpu->elements),
		gpu->wrong == 0 ? "all as they should be" : "WRONG ONES AMONG THEM");
	if (gpu->wrong > 0)
		fprintf(to, "  WRONG ELEMENTS: %s are not what was made or summed\n",
			number_grouped(&text[0], gpu->wrong));
	fprintf(to, "  %s releases %34s %10s %10s\n", number_grouped(&text[0], gpu->releases),
		"p50", "p99", "max");
	late_row(to, "released after due (wall time)", gpu->late_p50_ns * PS_PER_NS,
		 gpu->late_p99_ns * PS_PER_NS, gpu->late_max_ns * PS_PER_NS);
}

void gpu_table(FILE *to, const struct report_input *input)
{
	const struct report_gpu *gpu = input->gpu;
	struct text text[3];
	if (gpu == NULL)
		return;
	fprintf(to, "\nGradients from generators: %s ranks, %s\n",
		number_grouped(&text[0], gpu->ranks), gpu->device);
	put_reported(to, gpu);
	late_row(to, "sent after released (fabric's time)", gpu->heard_p50_ps, gpu->heard_p99_ps,
		 gpu->heard_max_ps);
	fprintf(to, "  exposed communication: %s at the device, %s at the host, %s by the model\n",
		gpu->is_whole ? number_time(&text[0], gpu->exposed_device_ps) : "unknown",
		number_time(&text[1], gpu->exposed_host_ps),
		number_time(&text[2], gpu->exposed_model_ps));
}
