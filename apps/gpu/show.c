// SPDX-License-Identifier: Apache-2.0
// What weft gpu prints of its ranks.

#include <inttypes.h>
#include <jansson.h>

#include "gpu.h"
#include <weft/result/put.h>

static double us(int64_t ns)
{
	return (double)ns / 1e3;
}

static double ms(int64_t ns)
{
	return (double)ns / 1e6;
}

// "0,4": ranks of the group that were live; others were played back.
static void put_peers(FILE *to, const struct gpu_link *link)
{
	for (uint32_t i = 0; i < link->header->rank_count; i++)
		fprintf(to, "%s%u", i > 0 ? "," : "", link->numbers[i]);
}

static void show_played(FILE *to, const struct gpu_link *link, const struct played *played)
{
	uint32_t live = link->header->rank_count, all = link->header->group_ranks;
	fprintf(to, "\nlive: ");
	put_peers(to, link);
	if (live < all)
		fprintf(to, "; played back: the other %u of %u, at most %.1f us late", all - live,
			all, us(played->late_ns));
	fprintf(to, "\n%.3f MB of gradients a step and rank", (double)played->step_bytes / 1e6);
	if (played->scale_by > 1)
		fprintf(to, ": buckets are 1/%u of what was recorded, times are not scaled",
			played->scale_by);
	fprintf(to, "\n");
}

// What was done in place of waiting; nothing with --load spin.
static void show_load(FILE *to, const struct gpu_link *link, const uint32_t *ranks, uint32_t count)
{
	double bytes = 0, flops = 0;
	for (uint32_t i = 0; i < count; i++) {
		bytes += (double)link->figures[ranks[i]].load_bytes;
		flops += (double)link->figures[ranks[i]].load_flops;
	}
	if (bytes > 0)
		fprintf(to, "\nbeside it %.3f GB were copied\n", bytes / 1e9);
	if (flops > 0)
		fprintf(to, "\nbeside it %.3f GFLOP were multiplied and added\n", flops / 1e9);
}

static void show_steps(FILE *to, const struct gpu_link *link, const uint32_t *ranks, uint32_t count)
{
	fprintf(to, "\n  %5s %12s %12s %12s %12s %12s %12s\n", "rank", "step min", "p50", "mean",
		"max", "for stages", "at barriers");
	fprintf(to, "  %5s %12s %12s %12s %12s %12s %12s\n", "", "ms", "ms", "ms", "ms", "ms",
		"ms");
	for (uint32_t i = 0; i < count; i++) {
		const struct gpu_link_figures *of = &link->figures[ranks[i]];
		fprintf(to, "  %5u %12.3f %12.3f %12.3f %12.3f %12.3f %12.3f\n",
			link->numbers[ranks[i]], ms(of->step_min_ns), ms(of->step_p50_ns),
			ms(of->step_mean_ns), ms(of->step_max_ns), ms(of->compute_wait_ns),
			ms(of->barrier_ns));
	}
}

void show_table(FILE *to, const struct gpu_link *link, const uint32_t *ranks, uint32_t count,
		const struct played *played)
{
	char device[GPU_NAME_BYTES];
	gpu_link_device(link, ranks[0], device);
	fprintf(to, "%u of %u ranks on %s, dilation %.1f; times are of the clock here\n\n", count,
		link->header->group_ranks, device, (double)link->header->dilation_milli / 1000);
	fprintf(to, "  %5s %9s %10s %10s %10s %11s %11s %12s %7s\n", "rank", "releases", "late p50",
		"p99", "max", "at gates", "for sums", "elements", "wrong");
	fprintf(to, "  %5s %9s %10s %10s %10s %11s %11s %12s %7s\n", "", "", "us", "us", "us", "us",
		"us", "checked", "");
	for (uint32_t i = 0; i < count; i++) {
		const struct gpu_link_figures *of = &link->figures[ranks[i]];
		fprintf(to,
			"  %5u %9" PRIu64 " %10.1f %10.1f %10.1f %11.1f %11.1f %12" PRIu64
			" %7" PRIu64 "\n",
			link->numbers[ranks[i]], of->releases, us(of->late_p50_ns),
			us(of->late_p99_ns), us(of->late_max_ns), us(of->gates_ns),
			us(of->update_wait_ns), of->elements, of->wrong);
	}
	show_steps(to, link, ranks, count);
	show_load(to, link, ranks, count);
	if (played != NULL)
		show_played(to, link, played);
}

static json_t *rank_json(const struct gpu_link *link, uint32_t rank)
{
	const struct gpu_link_figures *of = &link->figures[rank];
	const struct {
		const char *key;
		int64_t value;
	} values[] = {{"rank", link->numbers[rank]},
		      {"releases", (int64_t)of->releases},
		      {"release_late_p50_ns", of->late_p50_ns},
		      {"release_late_p99_ns", of->late_p99_ns},
		      {"release_late_max_ns", of->late_max_ns},
		      {"gates_ns", of->gates_ns},
		      {"update_wait_ns", of->update_wait_ns},
		      {"compute_wait_ns", of->compute_wait_ns},
		      {"barrier_ns", of->barrier_ns},
		      {"elements_checked", (int64_t)of->elements},
		      {"elements_wrong", (int64_t)of->wrong},
		      {"clock_error_ns", of->clock_error_ns},
		      {"clock_offset_ns", of->clock_offset_ns},
		      {"fill_ns", of->fill_ns},
		      {"fill_bytes", (int64_t)of->fill_bytes},
		      {"reduce_ns", of->reduce_ns},
		      {"reduce_bytes", (int64_t)of->reduce_bytes},
		      {"run_ns", of->run_ns},
		      {"step_min_ns", of->step_min_ns},
		      {"step_p50_ns", of->step_p50_ns},
		      {"step_mean_ns", of->step_mean_ns},
		      {"step_max_ns", of->step_max_ns},
		      {"load_bytes", (int64_t)of->load_bytes},
		      {"load_flops", (int64_t)of->load_flops}};
	json_t *to = json_object();
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		json_object_set_new(to, values[i].key, json_integer(values[i].value));
	return to;
}

// Whose gradients were sums of what: ranks that were live, how many were played, and from what.
static void played_json(json_t *root, const struct gpu_link *link, const struct played *played)
{
	uint32_t live = link->header->rank_count, all = link->header->group_ranks;
	json_t *numbers = json_array(), *files = json_array();
	for (uint32_t i = 0; i < live; i++) {
		json_array_append_new(numbers, json_integer(link->numbers[i]));
		json_array_append_new(files, json_string(played->files[i]));
	}
	json_object_set_new(root, "live_ranks", numbers);
	json_object_set_new(root, "played_ranks", json_integer(all - live));
	json_object_set_new(root, "records", files);
	json_object_set_new(root, "played_late_max_ns", json_integer(played->late_ns));
	json_object_set_new(root, "scale_by", json_integer(played->scale_by));
	json_object_set_new(root, "step_bytes", json_integer((int64_t)played->step_bytes));
}

int show_json(FILE *to, const struct gpu_link *link, const uint32_t *ranks, uint32_t count,
	      const struct played *played)
{
	json_t *root = json_object(), *list = json_array();
	bool is_all = link->header->rank_count == link->header->group_ranks;
	char device[GPU_NAME_BYTES];
	gpu_link_device(link, ranks[0], device);
	json_object_set_new(root, "device", json_string(device));
	json_object_set_new(root, "peers",
			    json_string(is_all		    ? "live"
						: count > 1 ? "live and played back"
							    : "played back"));
	json_object_set_new(root, "dilation_milli",
			    json_integer((int64_t)link->header->dilation_milli));
	json_object_set_new(root, "payload", json_string("host memory"));
	json_object_set_new(root, "has_barrier", json_boolean(link->header->has_barrier != 0));
	if (played != NULL)
		played_json(root, link, played);
	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(list, rank_json(link, ranks[i]));
	json_object_set_new(root, "ranks", list);
	return document_print(to, root, JSON_ENSURE_ASCII);
}
