// SPDX-License-Identifier: Apache-2.0
// The columns of nccl-tests. Out of place and in place are the same to a fabric: there is one set.

#include <inttypes.h>

#include "coll.h"
#include "weft_version.h"

double algbw(const struct measured *row)
{
	return (double)row->bytes / (row->time_us * 1e3);
}

double busbw(const struct measured *row)
{
	return algbw(row) * coll_bus_factor(row->config.kind, row->ranks);
}

double ideal_us(const struct measured *row)
{
	return (double)row->ideal.ps / PS_PER_US;
}

const char *algorithm_of(const struct measured *row)
{
	return row->is_credit_ring ? "credit_ring" : coll_algorithm_name(row->config.algorithm);
}

static bool has_sum(enum coll_kind kind)
{
	return kind == COLL_ALL_REDUCE || kind == COLL_REDUCE || kind == COLL_REDUCE_SCATTER;
}

void table_head(FILE *to, const struct call *call, const struct measured *first)
{
	const struct fabric_config *fabric = &call->scenario.fabric;
	fprintf(to, "# weft coll %s, %s, seed %" PRIu64, coll_kind_name(call->kind),
		WEFT_VERSION_TEXT, call->seed);
	if (call->iterations > 1)
		fprintf(to, " and the next %" PRIu32 ", mean", call->iterations - 1);
	fprintf(to,
		"\n# scenario %s: %" PRIu32 " ranks, %" PRIu32 " a host, %" PRIu32
		" x %.1f Gb/s each\n",
		call->scenario.name, first->ranks, first->config.domain, fabric->planes,
		(double)fabric->link_rate_bps / 1e9);
	fprintf(to, "# sizes are cut to whole elements of every rank; %s\n",
		call->is_checked
			? "data are checked as unsigned integers of the type's size"
			: "no data are carried (-c 1 carries and checks them), so #wrong is N/A");
	fputs("#\n"
	      "#       size         count      type   redop    root      time     ideal   algbw   "
	      "busbw #wrong  algorithm\n"
	      "#        (B)    (elements)                               (us)      (us)  (GB/s)  "
	      "(GB/s)\n",
	      to);
}

void table_row(FILE *to, const struct call *call, const struct measured *row)
{
	char wrong[24] = "N/A";
	if (row->is_checked)
		snprintf(wrong, sizeof(wrong), "%" PRIu64, row->wrong);
	fprintf(to,
		"%12" PRIu64 "  %12" PRIu64 "  %8s  %6s  %6d  %8.1f  %8.1f  %6.2f  %6.2f  %6s  %s",
		row->bytes, row->count, call->type->name, has_sum(call->kind) ? "sum" : "none",
		coll_has_root(call->kind) ? (int)call->root : -1, row->time_us, ideal_us(row),
		algbw(row), busbw(row), wrong, algorithm_of(row));
	if (row->is_extrapolated)
		fprintf(to, ", extrapolated: time +- %.1f us", row->error_us);
	fputc('\n', to);
	fflush(to); // sizes take a while
}

void table_tail(FILE *to, const struct call *call, double busbw_sum, uint32_t rows, uint64_t wrong)
{
	if (call->is_checked)
		fprintf(to, "# Out of bounds values : %" PRIu64 " %s\n", wrong,
			wrong == 0 ? "OK" : "FAILED");
	fprintf(to, "# Avg bus bandwidth    : %.4f\n", busbw_sum / rows);
}
