// SPDX-License-Identifier: Apache-2.0
// A result held against a profile.

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include <weft/result/result.h>
#include <weft/verdict/report_verdict.h>

// From the name of a metric to the figures of a result: a way through its JSON, on which a list
// opens to all of its elements that are in the scope.

// The figures that one metric leads to, as they are found: the worst is kept, and what the other
// statistics need.
struct metric {
	const struct profile_check *check;
	struct finding *finding;
	double limit;
	double least, most, sum;
	char where_least[PROFILE_PATH_BYTES], where_most[PROFILE_PATH_BYTES];
	uint32_t scope_used; // a bit for each word of the scope that some list has
	enum dimension unit; // of the figure on the way, where its field does not say
	bool has_word, word_differs;
};

#define NAME_BYTES 48

// ---------------------------------------------------------------- numbers

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), tail = strlen(end);
	return length >= tail && strcmp(name + length - tail, end) == 0;
}

// What a field counts in, by its name. The factor leads to seconds, bits per second, bytes.
static enum dimension metric_dimension(const char *name, double *ret_factor)
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

// Why there is no figure: the first reason is kept.
static void metric_lacks(struct finding *finding, const char *what, const char *word)
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

// Takes all figures at the end of `way`, fields with points between.
static void metric_take(struct metric *metric, const json_t *result, const char *way)
{
	walk(metric, result, NULL, way, "", "");
}

// Whether each word of the scope spoke of some list.
static bool metric_has_scope(const struct metric *metric)
{
	return metric->scope_used == scope_bits(metric->check->scope);
}

#define BASELINE "baseline"

static bool holds(const struct bound *bound, double value, double limit)
{
	double slack = fabs(limit) * 1e-11; // result.json has 12 digits
	switch (bound->kind) {
	case BOUND_AT_LEAST:
		return value >= limit - slack;
	case BOUND_AT_MOST:
		return value <= limit + slack;
	default:
		return fabs(value - limit) <= slack;
	}
}

// The worst of the figures: for "is" the one that is farthest off.
static void choose_worst(struct metric *metric)
{
	bool is_low = metric->check->bound.kind == BOUND_AT_LEAST ||
		(metric->check->bound.kind == BOUND_IS &&
		 metric->limit - metric->least > metric->most - metric->limit);
	metric->finding->measured = is_low ? metric->least : metric->most;
	strcpy(metric->finding->where, is_low ? metric->where_least : metric->where_most);
}

static void choose(struct metric *metric)
{
	struct finding *finding = metric->finding;
	const char *statistic = metric->check->statistic;
	if (strcmp(statistic, "min") == 0) {
		finding->measured = metric->least;
		strcpy(finding->where, metric->where_least);
	} else if (strcmp(statistic, "max") == 0) {
		finding->measured = metric->most;
		strcpy(finding->where, metric->where_most);
	} else if (strcmp(statistic, "mean") == 0) {
		finding->measured = metric->sum / finding->values;
	} else if (strcmp(statistic, "sum") == 0) {
		finding->measured = metric->sum;
	} else if (strcmp(statistic, "count") == 0) {
		finding->measured = finding->values;
		finding->dimension = DIMENSION_NONE;
	} else {
		choose_worst(metric);
	}
}

// The same figure of another result, times the bound's share. NAN with the reason when it has none.
static double limit_beside(const json_t *baseline, const struct profile_check *check,
			   struct finding *finding)
{
	struct finding other = {0};
	struct metric metric = {.check = check, .finding = &other};
	if (baseline == NULL) {
		metric_lacks(finding, "no baseline was given: ", "--baseline");
		return NAN;
	}
	metric_take(&metric, baseline, check->metric);
	if (other.values == 0 || metric.has_word || other.reason[0] != '\0') {
		metric_lacks(finding, "the baseline has no such figure: ",
			     other.reason[0] != '\0' ? other.reason : check->metric);
		return NAN;
	}
	choose(&metric);
	return check->bound.value * other.measured;
}

// The field that a share is of. NAN with the reason when it has no number.
static double limit_of(const json_t *result, const struct bound *bound, struct finding *finding)
{
	struct finding other = {0};
	struct profile_check check = {0};
	struct metric metric = {.check = &check, .finding = &other};
	if (bound->of[0] == '\0')
		return bound->value;
	metric_take(&metric, result, bound->of);
	if (other.values != 1 || metric.has_word) {
		metric_lacks(finding, "no one number to be a share of: ", bound->of);
		return NAN;
	}
	return bound->value * metric.least;
}

static bool is_beside(const struct bound *bound)
{
	return strcmp(bound->of, BASELINE) == 0;
}

static enum dimension limit_dimension(const struct bound *bound, enum dimension own)
{
	double factor;
	if (bound->of[0] == '\0')
		return bound->dimension;
	if (is_beside(bound))
		return own;
	const char *last = strrchr(bound->of, '.');
	return metric_dimension(last == NULL ? bound->of : last + 1, &factor);
}

static bool judge_number(struct metric *metric, const json_t *result, const json_t *baseline)
{
	const struct bound *bound = &metric->check->bound;
	struct finding *finding = metric->finding;
	if (bound->is_word) {
		metric_lacks(finding, "the figure is a number, not ", bound->word);
		return false;
	}
	metric->limit = is_beside(bound) ? limit_beside(baseline, metric->check, finding)
					 : limit_of(result, bound, finding);
	finding->limit = metric->limit;
	if (isnan(metric->limit))
		return false;
	choose(metric);
	if (finding->dimension == limit_dimension(bound, finding->dimension))
		return true;
	metric_lacks(finding,
		     "the figure and its bound are not of one kind: ", metric->check->bound_text);
	return false;
}

// Whether there is something to hold against the bound.
static bool judge(struct metric *metric, const json_t *result, const json_t *baseline)
{
	struct finding *finding = metric->finding;
	const struct profile_check *check = metric->check;
	bool is_counted = strcmp(check->statistic, "count") == 0;
	metric_take(metric, result, check->metric);
	if (finding->reason[0] != '\0' && finding->values > 0 && !is_counted)
		return false; // of some there is no figure: the worst is not known
	if (!metric_has_scope(metric) || (finding->values == 0 && check->scope[0] != '\0'))
		metric_lacks(finding, "nothing is in the scope ", check->scope);
	else if (finding->values == 0 && !is_counted)
		metric_lacks(finding, "this run has none: ", check->metric);
	if (!metric_has_scope(metric))
		return false;
	if (finding->values == 0 && !(is_counted && finding->reason[0] == '\0'))
		return false;
	if (!metric->has_word)
		return judge_number(metric, result, baseline);
	if (check->bound.is_word)
		return true;
	metric_lacks(finding, "the figure is a word: ", finding->word);
	return false;
}

static void find(struct finding *finding, const struct profile_check *check, const json_t *result,
		 const json_t *baseline)
{
	struct metric metric = {.check = check, .finding = finding};
	if (judge(&metric, result, baseline)) {
		finding->is_inside = metric.has_word
			? !metric.word_differs
			: holds(&check->bound, finding->measured, finding->limit);
		finding->state = finding->is_inside ? FINDING_MET : FINDING_MISSED;
		if (check->is_indicative)
			finding->state = FINDING_INDICATIVE;
		finding->reason[0] = '\0';
		return;
	}
	finding->state = check->is_required && !check->is_indicative ? FINDING_UNAVAILABLE
								     : FINDING_SKIPPED;
}

// ---------------------------------------------------------------- the whole

static void copy_text(char *to, size_t bytes, const json_t *value)
{
	snprintf(to, bytes, "%s", json_is_string(value) ? json_string_value(value) : "");
}

// Whether a capture or a log of the run is not whole: it is evidence for what the figures say.
static bool is_cut(const json_t *result)
{
	const json_t *capture = json_object_get(result, "capture");
	return json_is_string(json_object_get(capture, "pcap_cut")) ||
		json_is_string(json_object_get(capture, "log_cut"));
}

static void describe(struct verdict *ret, const struct result *of)
{
	const json_t *result = of->fields;
	const json_t *scenario = json_object_get(result, "scenario");
	const json_t *run = json_object_get(result, "run");
	copy_text(ret->scenario, sizeof(ret->scenario),
		  json_is_object(scenario) ? json_object_get(scenario, "name") : scenario);
	copy_text(ret->weft, sizeof(ret->weft), json_object_get(result, "weft"));
	copy_text(ret->digest, sizeof(ret->digest), json_object_get(run, "digest"));
	ret->is_partial = of->is_partial;
	ret->is_cut = is_cut(result);
}

static void judge_all(struct verdict *ret, const struct profile *profile, const json_t *result,
		      const json_t *baseline)
{
	uint32_t *const counts[] = {&ret->met, &ret->missed, &ret->unavailable, &ret->skipped,
				    &ret->indicative};
	for (uint32_t i = 0; i < profile->check_count; i++) {
		find(&ret->findings[i], &profile->checks[i], result, baseline);
		(*counts[ret->findings[i].state])++;
	}
	bool is_whole = !ret->is_partial && !ret->is_cut;
	ret->end = !is_whole || ret->unavailable > 0 || ret->met + ret->missed == 0
		? VERDICT_NOT_VALID
		: VERDICT_PASS;
	if (ret->missed > 0 && !ret->is_partial)
		ret->end = VERDICT_FAIL;
}

// Whether the result has the field that the metric of a check begins at, and something in it.
static bool is_of(const json_t *result, const struct profile_check *check)
{
	size_t length = strcspn(check->metric, ".");
	char field[sizeof(check->metric)];
	snprintf(field, sizeof(field), "%.*s", (int)length, check->metric);
	const json_t *of = json_object_get(result, field);
	return of != NULL && !(json_is_array(of) && json_array_size(of) == 0);
}

// Whether no check found a figure, and none that is required is of a field of this result: then it
// is of another kind than the profile is for.
static bool is_of_another_kind(const struct verdict *verdict, const struct profile *profile,
			       const json_t *result)
{
	if (verdict->met + verdict->missed + verdict->indicative > 0 || verdict->unavailable == 0)
		return false;
	for (uint32_t i = 0; i < profile->check_count; i++)
		if (verdict->findings[i].state == FINDING_UNAVAILABLE &&
		    is_of(result, &profile->checks[i]))
			return false;
	return true;
}

int verdict_of(struct verdict *ret, const struct profile *profile, const struct result *result,
	       const struct result *baseline, struct refusal *refusal)
{
	const struct result *const both[] = {result, baseline};
	memset(ret, 0, sizeof(*ret));
	for (int i = 0; i < 2; i++)
		if (both[i] != NULL && both[i]->kind == RESULT_ACCEPTANCE)
			return refuse_file(
				refusal, -EINVAL, both[i]->path,
				"this is a book: its verdict is in it, and each case has a run");
	if (baseline != NULL && baseline->is_partial)
		return refuse_file(
			refusal, -EINVAL, baseline->path,
			"a partial result is not a baseline: its figures are of a part of "
			"the traffic");
	describe(ret, result);
	judge_all(ret, profile, result->fields, baseline != NULL ? baseline->fields : NULL);
	if (result->kind == RESULT_STUDY && is_of_another_kind(ret, profile, result->fields))
		return refuse_file(refusal, -EINVAL, result->path,
				   "this is a study of many runs, and the profile speaks of one: "
				   "its checks want fields of a study, as figures.points.min");
	return 0;
}
