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

static void reported_table(FILE *to, const json_t *gpu)
{
	bool is_wrong = document_number(gpu, "elements_wrong") > 0;
	table_say(to, gpu, "  {elements_checked} elements checked, ");
	fprintf(to, "%s\n", is_wrong ? "WRONG ONES AMONG THEM" : "all as they should be");
	if (is_wrong)
		table_say(to, gpu,
			  "  WRONG ELEMENTS: {elements_wrong} are not what was made or summed\n");
	table_say(to, gpu, "  {releases} releases ");
	fprintf(to, "%34s %10s %10s\n  %-40s ", "p50", "p99", "max",
		"released after due (wall time)");
	table_say(
		to, gpu,
		"{release_late_p50_ns:,10} {release_late_p99_ns:,10} {release_late_max_ns:,10}\n");
}

void gpu_table(FILE *to, const json_t *result)
{
	const json_t *gpu = json_object_get(result, "gpu");
	bool is_whole = json_is_integer(json_object_get(gpu, "releases"));
	if (gpu == NULL)
		return;
	table_say(to, gpu, "\nGradients from generators: {ranks} ranks, {device}\n");
	if (is_whole)
		reported_table(to, gpu);
	else
		fprintf(to, "  a generator did not finish, and reported nothing\n");
	fprintf(to, "  %-40s ", "sent after released (fabric's time)");
	table_say(to, gpu, "{heard_p50_ps:,10} {heard_p99_ps:,10} {heard_max_ps:,10}\n");
	table_say(to, gpu,
		  is_whole ? "  exposed communication: {exposed_device_ps} at the device, "
			   : "  exposed communication: unknown at the device, ");
	table_say(to, gpu, "{exposed_host_ps} at the host, {exposed_model_ps} by the model\n");
}
