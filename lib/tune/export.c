// SPDX-License-Identifier: Apache-2.0
// One table: a key of a scenario, the line that sets it elsewhere, and what that counts in.
//
//   mrc      the controller profile of OCP MRC 1.0 (mrc_ctl.h), and the count of an EV profile
//   dcqcn    ConnectX: "DCQCN CC Parameters" of NVIDIA's DOCA SDK documentation
//   sonic    SONiC's ecnconfig, and its HLD "Packet Trimming"
//   cumulus  NVUE of Cumulus Linux: "Quality of Service", congestion control
//   nccl     NCCL's environment

#include <weft/tune/export.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/scenario/scenario_key.h>

#include "inside.h"

#define G_PARTS 1024	      // a fixed point of ten bits
#define IB_TIMEOUT_PS 4.096e6 // times 2^n
#define SAME 1e-6

enum kind {
	WHOLE,	 // a count of `factor` of the scenario's units
	FLOAT,	 // a share as a float
	INVERSE, // 1 where the flag is false
	KEPT,	 // what alpha keeps: 1 - g, in parts of 1024
	POWER,	 // 4.096 us times 2^n
};

static const struct row {
	const char *format, *key;
	const char *before; // the value, on its line
	enum kind kind;
	double factor, max;
} rows[] = {
	{"mrc", "cc.quick_adapt", "disable_qa = ", INVERSE, 1, 1},
	{"mrc", "cc.adjust_bytes", "adjust_bytes_threshold = ", WHOLE, 1, UINT32_MAX},
	{"mrc", "cc.adjust_period", "adjust_period_threshold = ", WHOLE, 1e3, UINT32_MAX},
	{"mrc", "cc.base_rtt", "base_rtt = ", WHOLE, 1e3, UINT32_MAX},
	{"mrc", "cc.eta", "eta = ", FLOAT, 1, 1e9},
	{"mrc", "cc.fi", "fi = ", FLOAT, 1, 1e9},
	{"mrc", "cc.fi_scale", "fi_scale = ", FLOAT, 1e9, 1e9},
	{"mrc", "cc.gamma", "gamma = ", FLOAT, 1e9, 1},
	{"mrc", "cc.max_md_jump", "max_md_jump = ", FLOAT, 1e9, 1},
	{"mrc", "cc.max_window", "max_cwnd = ", WHOLE, 1, UINT32_MAX},
	{"mrc", "cc.qa_gate", "qa_gate = ", WHOLE, 1, 255},
	{"mrc", "cc.qa_threshold", "qa_threshold = ", WHOLE, 1e3, UINT32_MAX},
	{"mrc", "cc.target_delay", "target_delay = ", WHOLE, 1e3, UINT32_MAX},
	{"mrc", "transport.evs", "ev_count = ", WHOLE, 1, UINT32_MAX},
	{"dcqcn", "cc.gain", "dce_tcp_g=", KEPT, 1e9, G_PARTS - 1},
	{"dcqcn", "cc.alpha_timer", "dce_tcp_rtt=", WHOLE, 1e6, 131071},
	{"dcqcn", "cc.rate_timer", "rpg_time_reset=", WHOLE, 1e6, 131071},
	{"dcqcn", "cc.rate_bytes", "rpg_byte_reset=", WHOLE, 1, 32767},
	{"dcqcn", "cc.recovery_rounds", "rpg_threshold=", WHOLE, 1, 31},
	{"dcqcn", "cc.rate_ai", "rpg_ai_rate=", WHOLE, 1e6, UINT32_MAX},
	{"dcqcn", "cc.rate_hai", "rpg_hai_rate=", WHOLE, 1e6, UINT32_MAX},
	{"dcqcn", "cc.rate_min", "rpg_min_rate=", WHOLE, 1e6, UINT32_MAX},
	{"sonic", "queue.ecn_low", "sudo ecnconfig -p \"$PROFILE\" -gmin ", WHOLE, 1, 1e10},
	{"sonic", "queue.ecn_high", "sudo ecnconfig -p \"$PROFILE\" -gmax ", WHOLE, 1, 1e10},
	{"sonic", "queue.ecn_share", "sudo ecnconfig -p \"$PROFILE\" -gdrop ", WHOLE, 1e7, 100},
	{"sonic", "queue.trim_bytes", "sudo config switch-trimming global --size ", WHOLE, 1, 1e10},
	{"cumulus", "queue.ecn_low",
	 "nv set qos congestion-control default-global traffic-class $TC min-threshold ", WHOLE, 1,
	 1e10},
	{"cumulus", "queue.ecn_high",
	 "nv set qos congestion-control default-global traffic-class $TC max-threshold ", WHOLE, 1,
	 1e10},
	{"cumulus", "queue.ecn_share",
	 "nv set qos congestion-control default-global traffic-class $TC probability ", WHOLE, 1e7,
	 100},
	{"nccl", "transport.qps_per_connection", "export NCCL_IB_QPS_PER_CONNECTION=", WHOLE, 1,
	 128},
	{"nccl", "transport.rto", "export NCCL_IB_TIMEOUT=", POWER, 1, 31},
	{"nccl", "transport.rto_linear", "export NCCL_IB_RETRY_CNT=", WHOLE, 1, 7},
};
#define ROW_COUNT (sizeof(rows) / sizeof(*rows))

static bool is_format(const char *format)
{
	size_t i = 0;
	while (i < ROW_COUNT && strcmp(rows[i].format, format) != 0)
		i++;
	return i < ROW_COUNT;
}

static int refuse_format(const char *format, struct refusal *refusal)
{
	snprintf(refusal->text, sizeof(refusal->text),
		 "there is no format `%.60s`; there are: "
		 "mrc, dcqcn, sonic, cumulus, nccl",
		 format);
	return -EINVAL;
}

static const struct row *row_of(const char *format, const char *set)
{
	size_t key = strcspn(set, "=");
	for (size_t i = 0; i < ROW_COUNT; i++)
		if (strcmp(rows[i].format, format) == 0 && strlen(rows[i].key) == key &&
		    strncmp(rows[i].key, set, key) == 0)
			return &rows[i];
	return NULL;
}

// ---------------------------------------------------------------- values

// Of the scenario, as the line has it.
static double value_there(const struct row *row, double value)
{
	switch (row->kind) {
	case FLOAT:
		return value / row->factor;
	case INVERSE:
		return value == 0;
	case KEPT:
		return round(G_PARTS * (1 - value / row->factor));
	case POWER:
		return round(log2(value / IB_TIMEOUT_PS));
	default:
		return round(value / row->factor);
	}
}

// And back.
static double value_here(const struct row *row, double value)
{
	switch (row->kind) {
	case INVERSE:
		return value == 0;
	case KEPT:
		return (1 - value / G_PARTS) * row->factor;
	case POWER:
		return IB_TIMEOUT_PS * exp2(value);
	default:
		return value * row->factor;
	}
}

// In the scenario's words: "cc.target_delay=7426ns".
static void write_set(const struct row *row, double value, char *ret, size_t bytes)
{
	struct refusal none;
	const struct scenario_key *key = scenario_key_of(row->key, &none);
	char text[TUNE_VALUE_BYTES - TUNE_KEY_BYTES];
	if (key->words != NULL)
		snprintf(text, sizeof(text), "%s", value != 0 ? "true" : "false");
	else
		tune_plain_text(key->unit, value, text, sizeof(text));
	snprintf(ret, bytes, "%.*s=%s", TUNE_KEY_BYTES - 2, row->key, text);
}

// The value of a set word in the scenario's units.
static double read_set(const struct row *row, const char *set)
{
	struct refusal none;
	const struct scenario_key *key = scenario_key_of(row->key, &none);
	const char *text = strchr(set, '=') + 1;
	uint64_t value;
	if (key->words != NULL)
		return strcmp(text, "true") == 0;
	return scenario_value_of(&value, key, text, &none) < 0 ? NAN : (double)value;
}

// ---------------------------------------------------------------- out

static void evidence(FILE *to, const struct tune_plan *plan, const struct tune_result *result,
		     uint32_t scenario, const char *version)
{
	const struct tune_standing *best = &result->standings[0];
	fprintf(to, "# %s: for %s\n# %s\n#", version, plan->scenarios[scenario],
		result->recommended->name);
	for (uint32_t i = 0; i < plan->aim.goal_count; i++)
		fprintf(to, " %s", report_study_figure_name(plan->aim.goals[i].figure));
	if (isnan(best->ratio)) // the default came to its end on none
		fputs(": not known as a ratio to the default", to);
	else
		fprintf(to, ": %.4f of the default", best->ratio);
	if (!isnan(best->low))
		fprintf(to, " (95 %%: %.4f to %.4f)", best->low, best->high);
	fprintf(to, " on %u fresh seeds of", best->count - best->unpaired);
	for (uint32_t i = 0; i < plan->scenario_count; i++)
		fprintf(to, "%s %s", i > 0 ? "," : "", plan->scenarios[i]);
	fprintf(to, "\n# held: completion%s", plan->aim.may_time_out ? "" : ", no timeouts");
	for (uint32_t i = 0; i < plan->aim.limit_count; i++)
		fprintf(to, ", %s", plan->aim.limits[i].text);
	fputc('\n', to);
	tune_round_line(to, "# ", plan, result);
	tune_holdout_lines(to, "# ", plan, result);
	if (plan->holdout_count == 0)
		fputs("# nothing but the suite was tried\n", to);
}

// One setting; false when there is no key for it, or none that holds it.
static bool write_row(FILE *to, const char *format, const char *set)
{
	const struct row *row = row_of(format, set);
	char back[TUNE_VALUE_BYTES];
	if (row == NULL) {
		fprintf(to, "# no key here: %s\n", set);
		return false;
	}
	double asked = read_set(row, set), there = value_there(row, asked);
	if (!(there >= 0 && there <= row->max)) {
		fprintf(to, "# %s holds at most %.0f: no %s\n", row->before, row->max, set);
		return false;
	}
	double got = value_here(row, there);
	write_set(row, got, back, sizeof(back));
	fprintf(to, "%s%.*g", row->before, row->kind == FLOAT ? 9 : 12, there);
	if (fabs(got - asked) > SAME * fabs(asked))
		fprintf(to, " # rounded: %s, asked %s", back, set);
	fputc('\n', to);
	return true;
}

int tune_export(FILE *to, const struct tune_plan *plan, const struct tune_result *result,
		const char *format, uint32_t scenario, bool is_round, const char *version,
		struct refusal *refusal)
{
	char *text = NULL, set[TUNE_VALUE_BYTES];
	size_t bytes = 0;
	uint32_t written = 0;
	if (!is_format(format))
		return refuse_format(format, refusal);
	if (result->verdict != TUNE_BETTER) {
		snprintf(refusal->text, sizeof(refusal->text), "nothing is recommended: %s",
			 result->verdict == TUNE_INFEASIBLE ? "no setting meets the constraints"
							    : "the default stays");
		return -EINVAL;
	}
	FILE *lines = open_memstream(&text, &bytes);
	if (lines == NULL)
		return refuse(refusal, -ENODEV, "not enough memory for lines");
	for (uint32_t i = 0; i < plan->space.count; i++)
		if (tune_space_set_to(&plan->space, result->recommended->at, i,
				      &plan->fabrics[scenario],
				      is_round ? result->digits : TUNE_AS_FOUND, set))
			written += write_row(lines, format, set);
	if (fclose(lines) != 0) {
		free(text);
		return refuse(refusal, -ENODEV, "not enough memory for lines");
	}
	if (written > 0) {
		evidence(to, plan, result, scenario, version);
		fputs(text, to);
	}
	free(text);
	if (written > 0)
		return 0;
	snprintf(refusal->text, sizeof(refusal->text), "no knob of this study has a key in %s",
		 format);
	return -EINVAL;
}

// ---------------------------------------------------------------- back in

static bool read_row(FILE *to, const char *format, const char *line)
{
	char set[TUNE_VALUE_BYTES], *end;
	for (size_t i = 0; i < ROW_COUNT; i++) {
		size_t bytes = strlen(rows[i].before);
		if (strcmp(rows[i].format, format) != 0 ||
		    strncmp(line, rows[i].before, bytes) != 0)
			continue;
		double value = strtod(line + bytes, &end);
		bool is_number = end > line + bytes;
		end += strspn(end, " ");
		if (!is_number || (*end != '\0' && *end != '#') ||
		    !(value >= 0 && value <= rows[i].max))
			return false;
		write_set(&rows[i], value_here(&rows[i], value), set, sizeof(set));
		fprintf(to, "%s\n", set);
		return true;
	}
	return false;
}

int tune_export_read(FILE *to, const char *format, const char *path, char *text,
		     struct refusal *refusal)
{
	uint32_t number = 0;
	char *rest = text;
	if (!is_format(format))
		return refuse_format(format, refusal);
	for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
		number++;
		if (line[0] == '\0' || line[0] == '#' || read_row(to, format, line))
			continue;
		refusal_name(refusal, path);
		snprintf(refusal->text, sizeof(refusal->text), "this is not a line of %s: %.100s",
			 format, line);
		refusal->line = number;
		return -EINVAL;
	}
	return 0;
}
