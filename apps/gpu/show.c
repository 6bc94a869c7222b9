// SPDX-License-Identifier: Apache-2.0
// What weft gpu prints of its ranks.

#include <inttypes.h>
#include <jansson.h>

#include "gpu.h"

static double us(int64_t ns)
{
	return (double)ns / 1e3;
}

void show_table(FILE *to, const struct gpu_link *link, const uint32_t *ranks, uint32_t count)
{
	fprintf(to, "%u of %u ranks on %s, dilation %.1f; times are of the clock here\n\n", count,
		link->header->rank_count, link->ranks[ranks[0]].device,
		(double)link->header->dilation_milli / 1000);
	fprintf(to, "  %5s %9s %10s %10s %10s %11s %11s %12s %7s\n", "rank", "releases", "late p50",
		"p99", "max", "at gates", "for sums", "elements", "wrong");
	fprintf(to, "  %5s %9s %10s %10s %10s %11s %11s %12s %7s\n", "", "", "us", "us", "us", "us",
		"us", "checked", "");
	for (uint32_t i = 0; i < count; i++) {
		const struct gpu_link_figures *of = &link->ranks[ranks[i]].figures;
		fprintf(to,
			"  %5u %9" PRIu64 " %10.1f %10.1f %10.1f %11.1f %11.1f %12" PRIu64
			" %7" PRIu64 "\n",
			ranks[i], of->releases, us(of->late_p50_ns), us(of->late_p99_ns),
			us(of->late_max_ns), us(of->gates_ns), us(of->update_wait_ns), of->elements,
			of->wrong);
	}
}

static json_t *rank_json(const struct gpu_link *link, uint32_t rank)
{
	const struct gpu_link_figures *of = &link->ranks[rank].figures;
	const struct {
		const char *key;
		int64_t value;
	} values[] = {{"rank", rank},
		      {"releases", (int64_t)of->releases},
		      {"release_late_p50_ns", of->late_p50_ns},
		      {"release_late_p99_ns", of->late_p99_ns},
		      {"release_late_max_ns", of->late_max_ns},
		      {"gates_ns", of->gates_ns},
		      {"update_wait_ns", of->update_wait_ns},
		      {"elements_checked", (int64_t)of->elements},
		      {"elements_wrong", (int64_t)of->wrong},
		      {"clock_error_ns", of->clock_error_ns},
		      {"fill_ns", of->fill_ns},
		      {"fill_bytes", (int64_t)of->fill_bytes},
		      {"reduce_ns", of->reduce_ns},
		      {"reduce_bytes", (int64_t)of->reduce_bytes},
		      {"run_ns", of->run_ns}};
	json_t *to = json_object();
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		json_object_set_new(to, values[i].key, json_integer(values[i].value));
	return to;
}

int show_json(FILE *to, const struct gpu_link *link, const uint32_t *ranks, uint32_t count,
	      bool is_played)
{
	json_t *root = json_object(), *list = json_array();
	json_object_set_new(root, "device", json_string(link->ranks[ranks[0]].device));
	json_object_set_new(root, "peers", json_string(is_played ? "played back" : "live"));
	json_object_set_new(root, "dilation_milli",
			    json_integer((int64_t)link->header->dilation_milli));
	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(list, rank_json(link, ranks[i]));
	json_object_set_new(root, "ranks", list);
	int rc = json_dumpf(root, to, JSON_INDENT(2));
	fputc('\n', to);
	json_decref(root);
	return rc;
}
