// SPDX-License-Identifier: Apache-2.0
// What is printed.

#include <inttypes.h>

#include "expect.h"
#include "weft_version.h"

enum verdict row_verdict(const struct row *row)
{
	if (!row->is_held || !row->has_expected)
		return VERDICT_NOT_HELD;
	if (row->measured < row->least)
		return VERDICT_BELOW;
	return row->measured > row->most * 1.005 ? VERDICT_ABOVE
						 : VERDICT_INSIDE; // two digits are printed
}

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[] = {"not held", "inside", "below", "above"};
	return names[verdict];
}

static void put_row(FILE *to, const struct call *call, const struct row *row)
{
	fprintf(to, "%12" PRIu64 " ", row->bytes);
	if (row->ranks > 0)
		fprintf(to, "%6" PRIu32 " ", row->ranks);
	if (row->has_expected)
		fprintf(to, "%9.2f %9.2f %9.2f", row->least, row->expected, row->most);
	else
		fprintf(to, "%9s %9s %9s", "N/A", "N/A", "N/A");
	if (row->ranks > 0 && row->has_expected)
		fprintf(to, " %10.1f", row->time_us);
	else if (row->ranks > 0)
		fprintf(to, " %10s", "N/A");
	if (call->against != NULL)
		fprintf(to, " %9.2f  %s", row->measured, verdict_name(row_verdict(row)));
	if (!row->has_expected)
		fprintf(to, "  no figure: %s", row->why_not);
	else if (row->ranks > 0)
		fprintf(to, "  %s", row->algorithm);
	fputc('\n', to);
}

static void head_nccl(FILE *to, const struct call *call)
{
	fprintf(to,
		"# nccl-tests, %s_perf: busbw in GB/s; least: %.0f %% below expected, and %.1f us "
		"for GPUs to begin\n",
		call->collective, call->within, (double)call->launch_ns / 1e3);
	fprintf(to, "# %10s %6s %9s %9s %9s %10s%s\n", "size", "ranks", "least", "expected", "most",
		"time (us)", call->against != NULL ? "  measured  verdict" : "");
}

static void head_wire(FILE *to, const struct call *call)
{
	fprintf(to,
		"# ib_write_bw between NICs of the first and the last host: BW average in Gb/s\n");
	fprintf(to, "# %10s %9s %9s %9s%s\n", "#bytes", "least", "expected", "most",
		call->against != NULL ? "  measured  verdict" : "");
}

void table_print(FILE *to, const struct call *call)
{
	const struct fabric_config *fabric = &call->scenario.fabric;
	uint32_t inside = 0, held = 0;
	fprintf(to,
		"# weft expect, %s\n# %s: %" PRIu32 " NICs, %" PRIu32 " a host, %" PRIu32
		" x %.1f Gb/s each\n",
		WEFT_VERSION_TEXT, call->scenario.name, fabric->nics, fabric->nics_per_host,
		fabric->planes, (double)fabric->link_rate_bps / 1e9);
	for (uint32_t i = 0; i < call->row_count; i++) {
		const struct row *row = &call->rows[i];
		bool is_first = i == 0 || (row->ranks > 0) != (row[-1].ranks > 0);
		if (is_first && row->ranks > 0)
			head_nccl(to, call);
		else if (is_first)
			head_wire(to, call);
		put_row(to, call, row);
		held += row_verdict(row) != VERDICT_NOT_HELD;
		inside += row_verdict(row) == VERDICT_INSIDE;
	}
	if (call->against != NULL)
		fprintf(to, "# %" PRIu32 " of %" PRIu32 " inside, %" PRIu32 " not held\n", inside,
			held, call->row_count - held);
	if (call->is_over_rc && inside < held)
		fputs("# it was measured over RC, and FABRIC has MRC, whose headers are longer: "
		      "--set "
		      "preset=roce-dcqcn\n",
		      to);
}
