// SPDX-License-Identifier: Apache-2.0

#include <weft/tune/space.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/scenario/scenario.h>
#include <weft/scenario/scenario_key.h>

#include "inside.h"

// ---------------------------------------------------------------- units

// What a number may count in beside its key's unit.
static const struct {
	const char *suffix, *unit; // unit of the keys that it goes with
} bases[] = {
	[TUNE_PLAIN] = {"", ""},	  [TUNE_RTT] = {"rtt", "time"},
	[TUNE_BDP] = {"bdp", "bytes"},	  [TUNE_MTU] = {"mtu", "bytes"},
	[TUNE_LINE] = {"line", "rate"},	  [TUNE_A] = {"a", "share"},
	[TUNE_MTU_A] = {"mtua", "bytes"}, [TUNE_PORT_BDP] = {"portbdp", "bytes"},
};
#define BASE_COUNT (sizeof(bases) / sizeof(*bases))

// Units that absolute values are written in, the largest first.
static const struct {
	const char *unit, *name;
	double factor;
} units[] = {
	{"time", "ms", 1e9},   {"time", "us", 1e6},   {"time", "ns", 1e3}, {"time", "ps", 1},
	{"bytes", "MB", 1e6},  {"bytes", "kB", 1e3},  {"bytes", "B", 1},   {"rate", "Gb/s", 1e9},
	{"rate", "Mb/s", 1e6}, {"rate", "kb/s", 1e3}, {"rate", "b/s", 1},
};

static double base_of(enum tune_base base, const struct tune_fabric *fabric)
{
	double a = fabric->bdp_bytes / 150e3;
	switch (base) {
	case TUNE_RTT:
		return fabric->rtt_ps;
	case TUNE_BDP:
		return fabric->bdp_bytes;
	case TUNE_MTU:
		return fabric->mtu_bytes;
	case TUNE_LINE:
		return fabric->line_bps;
	case TUNE_A:
		return a * 1e9;
	case TUNE_MTU_A:
		return a * fabric->mtu_bytes;
	case TUNE_PORT_BDP:
		return fabric->port_bdp_bytes;
	default:
		return 1;
	}
}

// To so many significant digits.
static double rounded(double value, int digits)
{
	if (value == 0 || !isfinite(value))
		return value;
	double scale = pow(10, digits - 1 - floor(log10(fabs(value))));
	return scale >= 1 ? round(value * scale) / scale
			  : round(value / pow(10, -log10(scale))) * pow(10, -log10(scale));
}

// A value in ps, bytes, bits per second, parts per 10^9 or things, as a scenario has it.
void tune_plain_text(const char *unit, double value, char *ret, size_t bytes)
{
	value = round(value);
	if (strcmp(unit, "share") == 0) {
		snprintf(ret, bytes, "%.9g", value / 1e9);
		return;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(units[i].unit, unit) != 0)
			continue;
		if (fmod(value, units[i].factor) != 0 && units[i].factor > 1)
			continue;
		snprintf(ret, bytes, "%.0f%s", value / units[i].factor, units[i].name);
		return;
	}
	snprintf(ret, bytes, "%.0f", value);
}

static const char *unit_of(const char *key)
{
	struct refusal none;
	const struct scenario_key *found = scenario_key_of(key, &none);
	check(found != NULL); // the space has keys that are there
	return found->unit;
}

const char *tune_base_suffix(enum tune_base base)
{
	return bases[base].suffix;
}

enum tune_base tune_base_named(const char *suffix, const char *unit)
{
	size_t i = BASE_COUNT - 1;
	while (i > 0 && (strcmp(suffix, bases[i].suffix) != 0 || strcmp(unit, bases[i].unit) != 0))
		i--;
	return (enum tune_base)i;
}

void tune_bases_of(const char *unit, char *ret, size_t bytes)
{
	size_t used = 0;
	ret[0] = '\0';
	for (size_t i = 1; i < BASE_COUNT; i++)
		if (strcmp(unit, bases[i].unit) == 0 && used < bytes)
			used += (size_t)snprintf(ret + used, bytes - used, "%s%s",
						 used > 0 ? ", " : "", bases[i].suffix);
}

// ---------------------------------------------------------------- values

static bool is_open(const struct tune_space *space, const double *at, uint32_t index)
{
	const struct tune_knob *knob = &space->knobs[index];
	return knob->gate < 0 ||
		tune_space_value(space, at, (uint32_t)knob->gate) == (double)knob->gate_word;
}

double tune_space_value(const struct tune_space *space, const double *at, uint32_t index)
{
	const struct tune_knob *knob = &space->knobs[index];
	double u = fmin(fmax(at[index], 0), 1), low = knob->low, value;
	if (isnan(at[index]) || !is_open(space, at, index))
		return NAN;
	if (knob->scale == TUNE_WORDS)
		return fmin(floor(u * knob->word_count), knob->word_count - 1);
	if (knob->above >= 0) { // a hundredth above, so that rounding keeps them apart
		double other = tune_space_value(space, at, (uint32_t)knob->above);
		low = isnan(other) ? low : fmin(fmax(low, other * 1.01), knob->high);
	}
	if (knob->is_whole && knob->scale == TUNE_LINEAR)
		return fmin(low + floor(u * (knob->high - low + 1)), knob->high);
	if (knob->scale == TUNE_LOG)
		value = exp(log(low) + u * (log(knob->high) - log(low)));
	else
		value = low + u * (knob->high - low);
	value = knob->is_whole ? round(value) : rounded(value, 3);
	return fmin(fmax(value, low), knob->high);
}

void tune_value_text(const struct tune_space *space, uint32_t index, double value, char *ret,
		     size_t bytes)
{
	const struct tune_knob *knob = &space->knobs[index];
	if (knob->scale == TUNE_WORDS)
		snprintf(ret, bytes, "%s", knob->words[(uint32_t)value]);
	else if (knob->base != TUNE_PLAIN)
		snprintf(ret, bytes, "%.4g%s", value, bases[knob->base].suffix);
	else
		tune_plain_text(unit_of(knob->key), value, ret, bytes);
}

void tune_space_name(const struct tune_space *space, const double *at, char ret[TUNE_NAME_BYTES])
{
	size_t used = 0;
	ret[0] = '\0';
	for (uint32_t i = 0; i < space->count; i++) {
		char text[TUNE_VALUE_BYTES];
		double value = tune_space_value(space, at, i);
		if (isnan(value))
			continue;
		tune_value_text(space, i, value, text, sizeof(text));
		used += (size_t)snprintf(ret + used, TUNE_NAME_BYTES - used, "%s%s=%.40s",
					 used > 0 ? " " : "", space->knobs[i].key, text);
		check(used < TUNE_NAME_BYTES);
	}
}

// The nearest round number from low to high, by ratio; the value itself where there is none.
static double round_of(double value, double low, double high)
{
	static const double steps[] = {1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10};
	double best = value, least = INFINITY, decade = pow(10, floor(log10(value)));
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		double step = steps[i] * decade, apart = fabs(log(step / value));
		if (step < low || step > high || apart >= least)
			continue;
		least = apart;
		best = step;
	}
	return best;
}

// A number as a scenario has it, NAN where the knob is not set. It stays above the knob that it is
// to be above of, whose digits may have taken it further up.
static double plain_value(const struct tune_space *space, const double *at, uint32_t index,
			  const struct tune_fabric *fabric, enum tune_digits digits)
{
	const struct tune_knob *knob = &space->knobs[index];
	double value = tune_space_value(space, at, index);
	double base = knob->base == TUNE_PLAIN ? 1 : base_of(knob->base, fabric);
	double low = knob->low * base, high = knob->high * base, other = NAN;
	bool is_number = knob->scale != TUNE_WORDS && value > 0;
	if (knob->base != TUNE_PLAIN)
		value = rounded(value * base, 4);
	if (!is_number || digits == TUNE_AS_FOUND || (knob->is_whole && value <= 10))
		return value;
	if (knob->above >= 0)
		other = plain_value(space, at, (uint32_t)knob->above, fabric, digits);
	if (!isnan(other))
		low = fmax(low, nextafter(other, INFINITY));
	if (digits == TUNE_ROUND)
		value = round_of(value, low, high);
	else if (rounded(value, 2) >= low && rounded(value, 2) <= high)
		value = rounded(value, 2);
	return value <= other ? fmin(rounded(other * 1.01, 4), high) : value;
}

bool tune_space_set_to(const struct tune_space *space, const double *at, uint32_t index,
		       const struct tune_fabric *fabric, enum tune_digits digits,
		       char ret[TUNE_VALUE_BYTES])
{
	const struct tune_knob *knob = &space->knobs[index];
	double value = plain_value(space, at, index, fabric, digits);
	char text[TUNE_VALUE_BYTES - TUNE_KEY_BYTES];
	if (isnan(value))
		return false;
	if (knob->scale == TUNE_WORDS)
		snprintf(text, sizeof(text), "%s", knob->words[(uint32_t)value]);
	else
		tune_plain_text(unit_of(knob->key), value, text, sizeof(text));
	snprintf(ret, TUNE_VALUE_BYTES, "%s=%s", knob->key, text);
	return true;
}

bool tune_space_set(const struct tune_space *space, const double *at, uint32_t index,
		    const struct tune_fabric *fabric, char ret[TUNE_VALUE_BYTES])
{
	return tune_space_set_to(space, at, index, fabric, TUNE_AS_FOUND, ret);
}

double tune_space_place(const struct tune_space *space, const double *at, uint32_t index)
{
	const struct tune_knob *knob = &space->knobs[index];
	double value = tune_space_value(space, at, index);
	if (knob->scale == TUNE_WORDS)
		return knob->word_count > 1 ? value / (knob->word_count - 1) : 0;
	if (knob->scale == TUNE_LOG)
		return (log(value) - log(knob->low)) / (log(knob->high) - log(knob->low));
	return (value - knob->low) / (knob->high - knob->low);
}

int tune_space_end(const struct tune_space *space, const double *at, uint32_t index)
{
	double place = tune_space_place(space, at, index);
	if (space->knobs[index].scale == TUNE_WORDS || isnan(place))
		return 0;
	return place <= 0.01 ? -1 : place >= 0.99 ? 1 : 0;
}

uint64_t tune_space_settings(const struct tune_space *space)
{
	uint64_t settings = 1;
	for (uint32_t i = 0; i < space->count; i++) {
		const struct tune_knob *knob = &space->knobs[i];
		if (knob->scale != TUNE_WORDS && !knob->is_whole)
			return UINT64_MAX;
		uint64_t here = knob->scale == TUNE_WORDS ? knob->word_count
							  : (uint64_t)(knob->high - knob->low) + 1;
		if (settings > UINT64_MAX / here)
			return UINT64_MAX;
		settings *= here;
	}
	return settings;
}

void tune_knob_text(const struct tune_knob *knob, char *ret, size_t bytes)
{
	static const char *const scales[] = {[TUNE_LINEAR] = "linear", [TUNE_LOG] = "log"};
	struct tune_space one = {.count = 1, .knobs = {*knob}};
	char low[TUNE_VALUE_BYTES], high[TUNE_VALUE_BYTES];
	size_t used = 0;
	if (knob->scale == TUNE_WORDS) {
		ret[0] = '\0';
		for (uint32_t i = 0; i < knob->word_count && used < bytes; i++)
			used += (size_t)snprintf(ret + used, bytes - used, "%s%s",
						 i > 0 ? ", " : "", knob->words[i]);
		return;
	}
	tune_value_text(&one, 0, knob->low, low, sizeof(low));
	tune_value_text(&one, 0, knob->high, high, sizeof(high));
	snprintf(ret, bytes, "%s to %s, %s", low, high, scales[knob->scale]);
}
