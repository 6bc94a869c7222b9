// SPDX-License-Identifier: Apache-2.0

#include "metric.h"

#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 48

// ---------------------------------------------------------------- numbers

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), tail = strlen(end);
	return length >= tail && strcmp(name + length - tail, end) == 0;
}

enum dimension metric_dimension(const char *name, double *ret_factor)
{
	static const struct {
		const char *end;
		double factor;
		enum dimension dimension;
	} ends[] = {
		{"_bytes_per_s", 8, DIMENSION_RATE}, {"_bps", 1, DIMENSION_RATE},
		{"_ps", 1e-12, DIMENSION_TIME},	     {"_ns", 1e-9, DIMENSION_TIME},
		{"_s", 1, DIMENSION_TIME},	     {"bytes", 1, DIMENSION_BYTES},
		{"bytes_max", 1, DIMENSION_BYTES},
	};
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (!ends_with(name, ends[i].end) || ends_with(name, "_per_s") != (i == 0))
			continue;
		*ret_factor = ends[i].factor;
		return ends[i].dimension;
	}
	*ret_factor = 1;
	return DIMENSION_NONE;
}

void metric_lacks(struct finding *finding, const char *what, const char *word)
{
	size_t room = sizeof(finding->reason) - 1, used = strlen(what);
	if (finding->reason[0] != '\0')
		return;
	memmove(finding->reason, what, used);
	size_t more = strlen(word) < room - used ? strlen(word) : room - used;
	memmove(finding->reason + used, word, more);
	finding->reason[used + more] = '\0';
}

// ---------------------------------------------------------------- the way to a figure

// Whether an element of a list is in the scope. A word of the scope speaks of the lists whose
// elements have its key; `used` gets a bit for each word that did.
static bool is_in_scope(const json_t *element, const char *scope, uint32_t *used)
{
	char word[PROFILE_PATH_BYTES], text[32];
	bool is_in = true;
	uint32_t bit = 1;
	for (const char *at = scope; *at != '\0'; bit <<= 1) {
		size_t length = strcspn(at, " ");
		snprintf(word, sizeof(word), "%.*s", (int)length, at);
		at += length + strspn(at + length, " ");
		char *equals = strchr(word, '=');
		if (equals != NULL)
			*equals = '\0';
		const json_t *value = json_object_get(element, word);
		if (equals == NULL || value == NULL)
			continue;
		*used |= bit;
		snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(value));
		const char *is = json_is_string(value) ? json_string_value(value) : text;
		is_in &= (json_is_string(value) || json_is_integer(value)) &&
			strcmp(is, equals + 1) == 0;
	}
	return is_in;
}

// A bit for each word of a scope.
static uint32_t scope_bits(const char *scope)
{
	uint32_t bits = 0;
	for (const char *at = scope; *at != '\0'; bits = bits << 1 | 1) {
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	return bits;
}

// What an element of a list is called: its first text field, or its place.
static void label_element(char ret[PROFILE_PATH_BYTES], const json_t *element, size_t index)
{
	static const char *const names[] = {"name", "pair",  "reason", "label",
					    "kind", "plane", "group"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const json_t *value = json_object_get(element, names[i]);
		if (json_is_string(value)) {
			snprintf(ret, PROFILE_PATH_BYTES, "%s=%.80s", names[i],
				 json_string_value(value));
			return;
		}
		if (json_is_integer(value)) {
			snprintf(ret, PROFILE_PATH_BYTES, "%s=%lld", names[i],
				 (long long)json_integer_value(value));
			return;
		}
	}
	snprintf(ret, PROFILE_PATH_BYTES, "element %zu", index);
}

static void take_word(struct metric *metric, const char *word)
{
	struct finding *finding = metric->finding;
	bool differs = strcmp(word, metric->check->bound.word) != 0;
	if (!metric->has_word || (differs && !metric->word_differs))
		snprintf(finding->word, sizeof(finding->word), "%s", word);
	metric->has_word = true;
	metric->word_differs |= differs;
	finding->values++;
}

static void take_number(struct metric *metric, double value, const char *where)
{
	if (metric->finding->values == 0 || value < metric->least) {
		metric->least = value;
		strcpy(metric->where_least, where);
	}
	if (metric->finding->values == 0 || value > metric->most) {
		metric->most = value;
		strcpy(metric->where_most, where);
	}
	metric->sum += value;
	metric->finding->values++;
}

// Statistics over the figures that a metric leads to; the others are fields of an object.
static bool is_over_values(const char *statistic)
{
	static const char *const names[] = {"", "each", "min", "max", "mean", "sum", "count"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(statistic, names[i]) == 0)
			return true;
	return false;
}

// The end of the way: `name` is the field, `parent` what it is in, for the reason of a null.
static void take_value(struct metric *metric, const json_t *value, const json_t *parent,
		       const char *name, const char *where)
{
	double factor;
	char reason[NAME_BYTES + 8];
	if (json_is_null(value)) {
		snprintf(reason, sizeof(reason), "%.47s_reason", name);
		const char *why = json_string_value(json_object_get(parent, reason));
		metric_lacks(metric->finding, "", why != NULL ? why : "the run has no such figure");
		return;
	}
	if (json_is_string(value) || json_is_boolean(value)) {
		take_word(metric,
			  json_is_string(value)		? json_string_value(value)
				  : json_is_true(value) ? "true"
							: "false");
		return;
	}
	if (!json_is_number(value)) {
		metric_lacks(metric->finding,
			     "a figure is needed; this is a list or object: ", name);
		return;
	}
	metric->finding->dimension = metric_dimension(name, &factor);
	if (metric->finding->dimension == DIMENSION_NONE)
		metric->finding->dimension = metric->unit;
	take_number(metric, json_number_value(value) * factor, where);
}

// The field of an object that holds a quantile: "p99" finds p99_ns.
static const char *quantile_field(const json_t *object, const char *statistic)
{
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)object, key, value)
	{
		size_t length = strlen(statistic);
		if (strncmp(key, statistic, length) == 0 && !ends_with(key, "_reason") &&
		    (key[length] == '\0' || key[length] == '_'))
			return key;
	}
	return NULL;
}

static void take_object(struct metric *metric, const json_t *object, const char *where)
{
	const char *statistic = metric->check->statistic;
	const char *field = *statistic == '\0' ? NULL : quantile_field(object, statistic);
	if (field == NULL) {
		metric_lacks(metric->finding, "no such statistic here: ",
			     *statistic == '\0' ? "(none given)" : statistic);
		return;
	}
	take_value(metric, json_object_get(object, field), object, field, where);
}

// study.json says beside a figure what it counts in.
static void take_unit(struct metric *metric, const json_t *object)
{
	static const struct {
		const char *name;
		enum dimension dimension;
	} units[] = {{"bits per second", DIMENSION_RATE},
		     {"seconds", DIMENSION_TIME},
		     {"bytes", DIMENSION_BYTES}};
	const char *unit = json_string_value(json_object_get(object, "unit"));
	for (size_t i = 0; unit != NULL && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(unit, units[i].name) == 0)
			metric->unit = units[i].dimension;
}

// One list or field further. `at` is what is left of the way, `name` the field that led here.
static void walk(struct metric *metric, const json_t *value, const json_t *parent, const char *at,
		 const char *name, const char *where)
{
	char element_name[PROFILE_PATH_BYTES], field[NAME_BYTES];
	if (json_is_array(value)) {
		for (size_t i = 0; i < json_array_size(value); i++) {
			const json_t *element = json_array_get(value, i);
			if (!is_in_scope(element, metric->check->scope, &metric->scope_used))
				continue;
			label_element(element_name, element, i);
			walk(metric, element, value, at, name, element_name);
		}
		return;
	}
	if (*at == '\0') {
		if (json_is_object(value))
			take_object(metric, value, where);
		else if (!is_over_values(metric->check->statistic))
			metric_lacks(metric->finding,
				     "no such statistic here: ", metric->check->statistic);
		else
			take_value(metric, value, parent, name, where);
		return;
	}
	if (json_is_null(value)) { // it says itself why there is nothing further
		take_value(metric, value, parent, name, where);
		return;
	}
	size_t length = strcspn(at, ".");
	take_unit(metric, value);
	snprintf(field, sizeof(field), "%.*s", (int)length, at);
	const json_t *next = json_object_get(value, field);
	if (next == NULL)
		metric_lacks(metric->finding, "the result has no ", field);
	else
		walk(metric, next, value, at + length + (at[length] == '.'), field, where);
}

void metric_take(struct metric *metric, const json_t *result, const char *way)
{
	walk(metric, result, NULL, way, "", "");
}

bool metric_has_scope(const struct metric *metric)
{
	return metric->scope_used == scope_bits(metric->check->scope);
}
