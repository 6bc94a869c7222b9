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

double ideal_percent(const struct measured *row)
{
	return 100 * ideal_us(row) / row->time_us;
}

const char *redop_of(enum coll_kind kind)
{
	bool is_sum = kind == COLL_ALL_REDUCE || kind == COLL_REDUCE || kind == COLL_REDUCE_SCATTER;
	return is_sum ? "sum" : "none";
}

int root_of(const struct call *call)
{
	return coll_has_root(call->kind) ? (int)call->root : -1;
}

const char *algorithm_of(const struct measured *row)
{
	return row->is_credit_ring ? "credit_ring" : coll_algorithm_name(row->config.algorithm);
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
	fprintf(to, "# sizes are whole elements of every rank, one at least; %s\n",
		call->is_checked
			? "data are checked as unsigned integers of the type's size"
			: "no data are carried (-c 1 carries and checks them), so #wrong is N/A");
	fputs("#\n"
	      "#       size         count      type   redop    root      time   algbw   busbw "
	      "#wrong"
	      "     ideal    %  algorithm\n"
	      "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)       "
	      "      (us)\n",
	      to);
}

// A figure of `width` places, or N/A.
static void put_figure(FILE *to, const struct measured *row, int width, int digits, double value)
{
	if (row->why_not[0] == '\0')
		fprintf(to, "%*.*f  ", width, digits, value);
	else
		fprintf(to, "%*s  ", width, "N/A");
}

// What stands behind the algorithm.
static void put_note(FILE *to, const struct call *call, const struct measured *row)
{
	if (row->why_not[0] != '\0')
		fprintf(to, ", not extrapolated: %s; ", row->why_not);
	if (row->why_not[0] != '\0' && row->ideal.packets > call->packets_max)
		fprintf(to, "--packets %" PRIu64 " runs it whole", row->ideal.packets);
	else if (row->why_not[0] != '\0')
		fputs("the scenario's sample leaves steps out", to);
	else if (row->is_extrapolated)
		fprintf(to, ", extrapolated: time +- %.1f us", row->error_us);
}

void table_row(FILE *to, const struct call *call, const struct measured *row)
{
	char wrong[24] = "N/A";
	if (row->is_checked)
		snprintf(wrong, sizeof(wrong), "%" PRIu64, row->wrong);
	fprintf(to, "%12" PRIu64 "  %12" PRIu64 "  %8s  %6s  %6d  ", row->bytes, row->count,
		call->type->name, redop_of(call->kind), root_of(call));
	put_figure(to, row, 8, 1, row->time_us);
	put_figure(to, row, 6, 2, algbw(row));
	put_figure(to, row, 6, 2, busbw(row));
	fprintf(to, "%5s  %8.1f  ", wrong, ideal_us(row));
	put_figure(to, row, 3, 0, ideal_percent(row));
	fprintf(to, "%s", algorithm_of(row));
	put_note(to, call, row);
	fputc('\n', to);
	fflush(to); // sizes take a while
}

void table_tail(FILE *to, const struct call *call, const struct total *total)
{
	if (call->is_checked)
		fprintf(to, "# Out of bounds values : %" PRIu64 " %s\n", total->wrong,
			total->wrong == 0 ? "OK" : "FAILED");
	fputs("# Avg bus bandwidth    : ", to);
	if (total->timed == 0)
		fputs("N/A", to);
	else
		fprintf(to, "%.4f", total->busbw_sum / total->timed);
	if (total->timed < total->rows)
		fprintf(to, " (%" PRIu32 " of %" PRIu32 " sizes without a time)",
			total->rows - total->timed, total->rows);
	fputc('\n', to);
}
