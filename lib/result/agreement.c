// SPDX-License-Identifier: Apache-2.0
// Figures of a result that must agree, as a table of equations. A side of one that is null, or not
// there, says nothing.

#include "agreement.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_MAX 0x1p53
#define SLACK 1e-9 // results have 12 digits

// `each`: the object, or the elements of a list ("a.b[]"), whose fields the equation is of. Sums
// have " + ", products "*", a list's length "#", a field of all elements ("a[].b") is added up.
// `flag`: the field that says whether it holds, where it may be otherwise.
static const struct agreement {
	enum result_kind kind;
	const char *each, *flag, *text;
} agreements[] = {
	{RESULT_RUN, "run", NULL, "last_completion_ps <= virtual_time_ps"},
	{RESULT_RUN, "network", NULL, "trunks_kept <= trunks_of"},
	{RESULT_RUN, "network", NULL, "link_rate_bps <= nic_rate_bps"},
	{RESULT_RUN, "network", NULL, "ecn_low_bytes <= ecn_high_bytes"},
	{RESULT_RUN, "faults[]", NULL, "from_ps <= until_ps"},
	{RESULT_RUN, "goodput", NULL, "total_bps*traffic_ps = 8e12*payload_bytes"},
	{RESULT_RUN, "goodput", NULL, "per_nic_bps*nics_receiving = total_bps"},
	{RESULT_RUN, "collectives[]", NULL, "release_ps <= start_ps <= end_ps"},
	{RESULT_RUN, "collectives[]", NULL, "steps_run <= steps_all"},
	{RESULT_RUN, "jobs[]", NULL, "interference_factor*alone_ps = time_ps"},
	{RESULT_RUN, "jobs[]", NULL, "ideal_ps <= alone_ps"},
	{RESULT_RUN, "", NULL,
	 "congestion.marked_share*transport.data_packets = congestion.marked"},
	{RESULT_RUN, "", NULL,
	 "congestion.trimmed_share*transport.data_packets = congestion.trimmed_core + "
	 "congestion.trimmed_last_hop"},
	{RESULT_RUN, "", NULL,
	 "congestion.retransmitted_share*transport.data_packets = congestion.retransmitted"},
	{RESULT_RUN, "congestion", NULL,
	 "retransmitted_by.nack + retransmitted_by.timeout + retransmitted_by.hole + "
	 "retransmitted_by.sleek + retransmitted_by.ack = retransmitted"},
	{RESULT_RUN, "", NULL, "congestion.marked = switches.marked"},
	{RESULT_RUN, "", NULL, "congestion.trimmed_last_hop = switches.trimmed_last_hop"},
	{RESULT_RUN, "", NULL,
	 "congestion.trimmed_core + congestion.trimmed_last_hop = switches.trimmed"},
	{RESULT_RUN, "", NULL, "drops[].switches + drops[].cables = conservation.dropped"},
	{RESULT_RUN, "conservation", "holds",
	 "sent + doubled + pauses_sent = delivered + pauses_taken + dropped + held"},
	{RESULT_RUN, "planes", NULL, "jain <= 1"},
	{RESULT_RUN, "", NULL, "#planes.each = network.planes"},
	{RESULT_RUN, "transport", NULL, "duplicates <= data_received"},
	{RESULT_RUN, "transport", NULL, "trims_last_hop <= trims_received"},
	{RESULT_RUN, "transport", NULL, "qps_failed_remote <= qps_failed"},
	{RESULT_RUN, "transport", NULL, "paths_replaced <= paths_retired"},
	{RESULT_RUN, "transport", NULL, "probes_late <= probes_lost <= probes_sent"},
	{RESULT_RUN, "transport", NULL,
	 "refused.key + refused.bounds + refused.length + refused.immediate + refused.opcode + "
	 "refused.sack + refused.nack + refused.probe + refused.ack + refused.request + "
	 "refused.response = bad_packets"},
	{RESULT_RUN, "delays.order", NULL, "overtaken <= count"},
	{RESULT_RUN, "delays.paths", NULL, "used <= evs"},
	{RESULT_RUN, "series", NULL, "#payload_bytes = bins"},
	{RESULT_RUN, "series", NULL, "#data_packets = bins"},
	{RESULT_RUN, "series", NULL, "#lost_packets = bins"},
	{RESULT_RUN, "speed", NULL, "data_hops <= hops"},
	{RESULT_RUN, "ports", NULL, "frames_received <= frames_sent"},
	{RESULT_RUN, "gpu", NULL,
	 "release_late_p50_ns <= release_late_p99_ns <= release_late_max_ns"},
	{RESULT_RUN, "gpu", NULL, "heard_p50_ps <= heard_p99_ps <= heard_max_ps"},
	{RESULT_STUDY, "", NULL, "confidence <= 1"},
	{RESULT_STUDY, "", NULL, "#runs <= seeds*#points"},
	{RESULT_STUDY, "figures[].points[]", NULL, "min <= mean <= max"},
	{RESULT_STUDY, "figures[].points[]", NULL, "low <= mean <= high"},
	{RESULT_STUDY, "expect[]", NULL, "inside <= runs"},
	{RESULT_ACCEPTANCE, "settings", NULL, "ecn_low_bytes <= ecn_high_bytes"},
};

// ---------------------------------------------------------------- terms

// A number with whether it is exact; NAN: there is none.
struct term {
	double value;
	bool is_exact;
};

static const struct term none = {NAN, true};

// The field at `path` below `at`; of a list's elements all together: added up, or their number.
static struct term term_at(const json_t *at, const char *path, bool is_count)
{
	char name[64];
	size_t i, length = strcspn(path, ".[");
	snprintf(name, sizeof(name), "%.*s", (int)length, path);
	const json_t *each, *field = json_object_get(at, name);
	const char *rest = path + length;
	if (*rest == '.')
		return term_at(field, rest + 1, is_count);
	if (*rest == '\0' && is_count)
		return json_is_array(field) ? (struct term){(double)json_array_size(field), true}
					    : none;
	if (*rest == '\0')
		return json_is_number(field)
			? (struct term){json_number_value(field), json_is_integer(field)}
			: none;
	struct term sum = {json_is_array(field) ? 0 : NAN, true};
	json_array_foreach(field, i, each)
	{
		struct term one = term_at(each, rest + 3, is_count); // behind "[]."
		sum = (struct term){sum.value + one.value, sum.is_exact && one.is_exact};
	}
	return sum;
}

// "a*b", each a number or a field.
static struct term product_of(const json_t *at, char *text)
{
	struct term product = {1, true};
	char *rest;
	for (char *word = strtok_r(text, "*", &rest); word != NULL;
	     word = strtok_r(NULL, "*", &rest)) {
		struct term one = {strtod(word, NULL), true};
		if (*word < '0' || *word > '9')
			one = term_at(at, word + (*word == '#'), *word == '#');
		product.value *= one.value;
		product.is_exact &= one.is_exact;
	}
	return product;
}

static bool pair_holds(char sign, struct term a, struct term b)
{
	bool is_exact = a.is_exact && b.is_exact && fabs(a.value) < EXACT_MAX &&
		fabs(b.value) < EXACT_MAX;
	double slack = is_exact ? 0 : SLACK * fmax(fabs(a.value), fabs(b.value));
	return sign == '=' ? fabs(a.value - b.value) <= slack : a.value <= b.value + slack;
}

// Whether the equation holds; *ret_said: whether there was anything to hold.
static bool equation_holds(const char *text, const json_t *at, bool *ret_said)
{
	char words[512], *rest, sign = '\0';
	struct term before = none, side = {0, true};
	bool is_good = true;
	*ret_said = false;
	snprintf(words, sizeof(words), "%s =", text);
	for (char *word = strtok_r(words, " ", &rest); word != NULL;
	     word = strtok_r(NULL, " ", &rest)) {
		if (*word == '+')
			continue;
		if (*word != '=' && *word != '<') {
			struct term one = product_of(at, word);
			side.value += one.value;
			side.is_exact &= one.is_exact;
			continue;
		}
		if (!isnan(before.value) && !isnan(side.value)) {
			is_good &= pair_holds(sign, before, side);
			*ret_said = true;
		}
		before = isnan(side.value) ? before : side;
		side = (struct term){0, true};
		sign = *word;
	}
	return is_good;
}

static bool one_holds(struct schema_fault *fault, const struct agreement *row, const json_t *at)
{
	bool is_said, should = true, is_good = equation_holds(row->text, at, &is_said);
	if (row->flag != NULL)
		should = json_is_true(json_object_get(at, row->flag));
	if (!is_said || is_good == should)
		return true;
	snprintf(fault->path, sizeof(fault->path), "%s", row->each);
	snprintf(fault->text, sizeof(fault->text), "contradicts itself: %s%.140s",
		 row->flag != NULL ? "its flag is not whether " : "", row->text);
	return false;
}

static bool each_holds(struct schema_fault *fault, const struct agreement *row, const json_t *at,
		       const char *path)
{
	char name[64];
	size_t i, length = strcspn(path, ".[");
	const json_t *each;
	if (*path == '\0')
		return !json_is_object(at) || one_holds(fault, row, at);
	snprintf(name, sizeof(name), "%.*s", (int)length, path);
	at = json_object_get(at, name);
	const char *rest = path + length;
	if (*rest != '[')
		return each_holds(fault, row, at, rest + (*rest == '.'));
	json_array_foreach(at, i, each) if (!each_holds(fault, row, each,
							rest + 2 + (rest[2] == '.'))) return false;
	return true;
}

// ---------------------------------------------------------------- quantiles

// Any object with p50_SOMETHING: its quantiles rise, and its mean is between its extremes.
static bool quantiles_hold(struct schema_fault *fault, const json_t *at, const char *key)
{
	char texts[2][256];
	bool is_said;
	const char *of = key + strlen("p50_");
	snprintf(texts[0], sizeof(texts[0]),
		 "min_%.24s <= p50_%.24s <= p90_%.24s <= p95_%.24s <= p99_%.24s <= p999_%.24s <= "
		 "max_%.24s",
		 of, of, of, of, of, of, of);
	snprintf(texts[1], sizeof(texts[1]), "min_%.24s <= mean_%.24s <= max_%.24s", of, of, of);
	for (int i = 0; i < 2; i++) {
		if (equation_holds(texts[i], at, &is_said))
			continue;
		snprintf(fault->text, sizeof(fault->text), "contradicts itself: %.150s", texts[i]);
		return false;
	}
	return true;
}

static bool all_quantiles_hold(struct schema_fault *fault, const json_t *at, const char *path)
{
	char longer[sizeof(fault->path)];
	const char *key;
	json_t *value;
	size_t i;
	json_array_foreach(at, i, value)
	{
		snprintf(longer, sizeof(longer), "%.130s[%zu]", path, i);
		if (!all_quantiles_hold(fault, value, longer))
			return false;
	}
	json_object_foreach((json_t *)at, key, value)
	{
		snprintf(fault->path, sizeof(fault->path), "%s", path);
		bool is_error = strstr(key, "_error_") != NULL || strstr(key, "_reason") != NULL;
		if (strncmp(key, "p50_", 4) == 0 && !is_error && !quantiles_hold(fault, at, key))
			return false;
		snprintf(longer, sizeof(longer), "%.90s%s%.60s", path, *path == '\0' ? "" : ".",
			 key);
		if (!all_quantiles_hold(fault, value, longer))
			return false;
	}
	return true;
}

// ---------------------------------------------------------------- the whole

bool agreement_is_partial(enum result_kind kind, const json_t *fields)
{
	const json_t *run = json_object_get(fields, "run"), *each;
	size_t i, done = 0;
	if (kind == RESULT_RUN)
		return strcmp(json_string_value(json_object_get(run, "end")), "done") != 0;
	if (kind == RESULT_ACCEPTANCE)
		return json_is_true(json_object_get(fields, "partial"));
	json_array_foreach(json_object_get(fields, "runs"), i, each)
	{
		done += strcmp(json_string_value(json_object_get(each, "end")), "done") == 0;
	}
	return (double)done < json_number_value(json_object_get(fields, "seeds")) *
		(double)json_array_size(json_object_get(fields, "points"));
}

static bool flag_holds(struct schema_fault *fault, enum result_kind kind, const json_t *fields)
{
	const json_t *at = kind == RESULT_RUN ? json_object_get(fields, "run") : fields;
	if (json_is_true(json_object_get(at, "partial")) == agreement_is_partial(kind, fields))
		return true;
	snprintf(fault->path, sizeof(fault->path), "%spartial", kind == RESULT_RUN ? "run." : "");
	snprintf(fault->text, sizeof(fault->text), "contradicts %s",
		 kind == RESULT_RUN ? "run.end" : "runs[].end");
	return false;
}

// "inside" is what the figures beside it say.
static bool expectations_hold(struct schema_fault *fault, const json_t *fields)
{
	const json_t *each;
	size_t i;
	json_array_foreach(json_object_get(fields, "expect"), i, each)
	{
		const char *bound = json_string_value(json_object_get(each, "bound"));
		double expected = json_number_value(json_object_get(each, "expected"));
		double off = json_number_value(json_object_get(each, "measured")) - expected;
		double most = json_number_value(json_object_get(each, "tolerance")) * expected;
		double slack = SLACK * fmax(fabs(expected), fabs(off));
		bool is_near = json_is_number(json_object_get(each, "measured")) &&
			(strcmp(bound, "at_most") == 0 || off >= -most - slack) &&
			(strcmp(bound, "at_least") == 0 || off <= most + slack);
		if (is_near || !json_is_true(json_object_get(each, "inside")))
			continue;
		snprintf(fault->path, sizeof(fault->path), "expect[%zu].inside", i);
		snprintf(fault->text, sizeof(fault->text), "is true, and the figure is outside");
		return false;
	}
	return true;
}

bool agreement_holds(struct schema_fault *ret, enum result_kind kind, const json_t *fields)
{
	*ret = (struct schema_fault){0};
	for (size_t i = 0; i < sizeof(agreements) / sizeof(agreements[0]); i++)
		if (agreements[i].kind == kind &&
		    !each_holds(ret, &agreements[i], fields, agreements[i].each))
			return false;
	if (!flag_holds(ret, kind, fields) || !all_quantiles_hold(ret, fields, ""))
		return false;
	if (kind == RESULT_RUN)
		return expectations_hold(ret, fields);
	if (kind == RESULT_STUDY)
		return agreement_study(ret, fields);
	return agreement_acceptance(ret, fields);
}
