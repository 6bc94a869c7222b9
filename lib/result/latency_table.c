// SPDX-License-Identifier: Apache-2.0
// See latency_table.h.

#include <weft/result/latency_table.h>

#include <math.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/result/number.h>
#include <weft/result/put.h>

#define OUTCOME (it->world->outcome)
#define FIGURE(...)
#define FIGURE_OF(...)

// ---------------------------------------------------------------- the rows

#define LATENCIES(...)
#define LATENCY(key_, kind_, field, meaning_, ...) \
	{.key = (key_), \
	 .kind = LATENCY_##kind_, \
	 .at = offsetof(struct latency, field), \
	 .meaning = (meaning_), \
	 __VA_ARGS__},
static const struct latency_row rows[] = {
#include "figures.def"
};
#undef LATENCIES
#undef LATENCY

const struct latency_row *latency_row_at(uint32_t index)
{
	return index < sizeof(rows) / sizeof(*rows) ? &rows[index] : NULL;
}

const struct figure *latency_figure(const struct latency *latency, const struct latency_row *row)
{
	check(row->kind != LATENCY_COUNT);
	return (const struct figure *)((const char *)latency + row->at);
}

void latency_json(json_t *to, const struct latency *latency, bool has_errors)
{
	const struct latency_row *row;
	for (uint32_t i = 0; (row = latency_row_at(i)) != NULL; i++) {
		if (row->kind == LATENCY_COUNT)
			put_count(to, row->key,
				  *(const uint64_t *)((const char *)latency + row->at));
		else if (row->kind == LATENCY_VALUE || has_errors)
			put_figure(to, row->key, latency_figure(latency, row));
	}
}

// ---------------------------------------------------------------- the distributions

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define LATENCY(...)
#define LATENCIES(section, of, values, none, meaning) \
	static const struct hist *JOIN(hist_, __LINE__)(const struct report_input *it) \
	{ \
		return (void)it, (values); \
	}
#include "figures.def"
#undef LATENCIES

enum {
	WHOLE,
	MAY_BE_SAMPLE,
};

static const struct {
	const char *section;
	int of;
	const struct hist *(*hist)(const struct report_input *it);
	const char *none;
} distributions[] = {
#define LATENCIES(section_, of_, values, none_, meaning) \
	{.section = (section_), .of = (of_), .hist = JOIN(hist_, __LINE__), .none = (none_)},
#include "figures.def"
};

void latencies_json(json_t *root, const char *section, const struct report_input *input)
{
	const char *dot = strrchr(section, '.'), *key = dot != NULL ? dot + 1 : section;
	size_t i = 0;
	while (strcmp(distributions[i].section, section) != 0)
		check(++i < sizeof(distributions) / sizeof(*distributions));
	char name[32] = "";
	if (dot != NULL)
		snprintf(name, sizeof(name), "%.*s", (int)(dot - section), section);
	json_t *to = dot != NULL ? json_object_get(root, name) : root;
	const struct hist *hist = distributions[i].hist(input);
	struct latency latency;
	if (hist == NULL || hist->total == 0)
		return put_reason(to, key, distributions[i].none);
	latency_of(&latency, hist, distributions[i].of == MAY_BE_SAMPLE && is_sampled(input));
	latency_json(object_in(to, key), &latency, false);
}

// ---------------------------------------------------------------- the terminal table

void latency_heads(FILE *to, int width)
{
	const struct latency_row *row;
	for (uint32_t i = 0; (row = latency_row_at(i)) != NULL; i++)
		if (row->label != NULL)
			fprintf(to, " %*s", width, row->label);
	fputc('\n', to);
}

void latency_times(FILE *to, int width, const json_t *of)
{
	const struct latency_row *row;
	struct text text;
	for (uint32_t i = 0; (row = latency_row_at(i)) != NULL; i++) {
		if (row->label == NULL)
			continue;
		double value_ns = document_number(of, row->key);
		fprintf(to, " %*s", width,
			isnan(value_ns) ? "-" : number_time(&text, (ps_t)value_ns * PS_PER_NS));
	}
	fputc('\n', to);
}
