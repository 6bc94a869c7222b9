// SPDX-License-Identifier: Apache-2.0
// What the table has, as CSV with the names of the JSON: nccl-tests' ones first.

#include <inttypes.h>

#include <weft/result/report_escape.h>

#include "coll.h"

void csv_head(FILE *to)
{
	fputs("size,count,type,redop,root,time,alg_bw,bus_bw,nwrong,ranks,algorithm,ideal,"
	      "ideal_percent,time_error,why_not\n",
	      to);
}

// A cell that is empty where the size has no time.
static void put_figure(FILE *to, const struct measured *row, double value)
{
	if (row->why_not[0] == '\0')
		fprintf(to, "%.9g", value);
	fputc(',', to);
}

void csv_row(FILE *to, const struct call *call, const struct measured *row)
{
	fprintf(to, "%" PRIu64 ",%" PRIu64 ",%s,%s,%d,", row->bytes, row->count, call->type->name,
		redop_of(call->kind), root_of(call));
	put_figure(to, row, row->time_us);
	put_figure(to, row, algbw(row));
	put_figure(to, row, busbw(row));
	if (row->is_checked)
		fprintf(to, "%" PRIu64, row->wrong);
	fprintf(to, ",%" PRIu32 ",%s,%.9g,", row->ranks, algorithm_of(row), ideal_us(row));
	put_figure(to, row, ideal_percent(row));
	put_figure(to, row, row->is_extrapolated ? row->error_us : 0);
	escape_cell(to, row->why_not);
	fputc('\n', to);
}
