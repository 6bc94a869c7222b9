// SPDX-License-Identifier: Apache-2.0
// Units and numbers of a scenario. A number is digits, at most one point, and a unit that its key
// asks for; it must come out whole in the unit that the program counts in (ps, bytes, bits per
// second, parts per 10^9). What looks like something else (octal, exponents, separators) is refused
// and the message says what would be right.

#include "scenario_keys.h"
#include "scenario_reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/core/near_word.h>

#define DIGITS_MAX 18 // of the whole part and of the fraction: each fits 64 bits

struct unit {
	const char *name;
	uint64_t factor; // in the unit that the program counts in
};

// What people write when they mean something else.
struct spelling {
	const char *wrong, *right;
};

// A kind of number: its units, and words for messages.
struct measure {
	const char *name;      // as scenario_key.unit has it
	const char *noun;      // "a time"
	const char *unit_list; // in words
	const char *grain;     // what the program counts in
	const struct unit *units;
	const struct spelling *spellings;
};

static const struct unit count_units[] = {{"", 1}, {NULL, 0}};
static const struct unit time_units[] = {
	{"ps", 1},	   {"ns", PS_PER_NS}, {"us", PS_PER_US},
	{"ms", PS_PER_MS}, {"s", PS_PER_S},   {NULL, 0},
};
static const struct unit byte_units[] = {
	{"B", 1},
	{"kB", 1000},
	{"MB", 1000000},
	{"GB", 1000000000},
	{"TB", 1000000000000},
	{"KiB", UINT64_C(1) << 10},
	{"MiB", UINT64_C(1) << 20},
	{"GiB", UINT64_C(1) << 30},
	{"TiB", UINT64_C(1) << 40},
	{NULL, 0},
};
static const struct unit rate_units[] = {
	{"b/s", 1},
	{"kb/s", 1000},
	{"Mb/s", 1000000},
	{"Gb/s", 1000000000},
	{"Tb/s", 1000000000000},
	{"B/s", 8},
	{"kB/s", 8000},
	{"MB/s", 8000000},
	{"GB/s", 8000000000},
	{"TB/s", 8000000000000},
	{NULL, 0},
};
static const struct unit ratio_units[] = {{"", 1}, {":1", 1}, {NULL, 0}};
static const struct unit share_units[] = {{"", 1000000000}, {"%", 10000000}, {NULL, 0}};

static const struct spelling no_spellings[] = {{NULL, NULL}};
static const struct spelling time_spellings[] = {
	{"µs", "us"}, {"μs", "us"},	{"usec", "us"}, {"nsec", "ns"}, {"msec", "ms"},
	{"sec", "s"}, {"seconds", "s"}, {"S", "s"},	{"US", "us"},	{"NS", "ns"},
	{"MS", "ms"}, {"min", "s"},	{NULL, NULL},
};
static const struct spelling byte_spellings[] = {
	{"KB", "kB (1000) or KiB (1024)"},
	{"K", "kB (1000) or KiB (1024)"},
	{"k", "kB (1000) or KiB (1024)"},
	{"M", "MB (1000^2) or MiB (1024^2)"},
	{"G", "GB (1000^3) or GiB (1024^3)"},
	{"Kb", "kB; a small b is a bit"},
	{"kb", "kB; a small b is a bit"},
	{"Mb", "MB; a small b is a bit"},
	{"Gb", "GB; a small b is a bit"},
	{"b", "B; a small b is a bit"},
	{"bytes", "B"},
	{NULL, NULL},
};
static const struct spelling rate_spellings[] = {
	{"bps", "b/s"},	  {"kbps", "kb/s"}, {"Mbps", "Mb/s"}, {"Gbps", "Gb/s"},	  {"gbps", "Gb/s"},
	{"Tbps", "Tb/s"}, {"Gb", "Gb/s"},   {"Mb", "Mb/s"},   {"Tb", "Tb/s"},	  {"G", "Gb/s"},
	{"g", "Gb/s"},	  {"M", "Mb/s"},    {"T", "Tb/s"},    {"Gbit/s", "Gb/s"}, {"Gbit", "Gb/s"},
	{"GBps", "GB/s"}, {"MBps", "MB/s"}, {"GB", "GB/s"},   {"MB", "MB/s"},	  {"KB/s", "kB/s"},
	{"gb/s", "Gb/s"}, {NULL, NULL},
};

static const struct measure measures[] = {
	{"count", "a count", "a count has no unit", "things", count_units, no_spellings},
	{"time", "a time", "ps, ns, us, ms, s", "picoseconds", time_units, time_spellings},
	{"bytes", "a size", "B, kB, MB, GB, TB, KiB, MiB, GiB, TiB", "bytes", byte_units,
	 byte_spellings},
	{"rate", "a rate", "b/s, kb/s, Mb/s, Gb/s, Tb/s, B/s, kB/s, MB/s, GB/s, TB/s",
	 "bits per second", rate_units, rate_spellings},
	{"ratio", "a ratio", ":1 or none", "times", ratio_units, no_spellings},
	{"share", "a share", "% or none", "parts in 10^9", share_units, no_spellings},
};

// A number taken apart.
struct number {
	uint64_t whole, fraction; // fraction / scale
	uint64_t scale;
	const char *unit;
	size_t unit_length;
};

__attribute__((format(printf, 2, 3))) static int refuse_value(struct refusal *refusal,
							      const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(refusal->text, sizeof(refusal->text), format, arguments);
	va_end(arguments);
	return -EINVAL;
}

void scalar_quote(char ret[SCALAR_QUOTE_BYTES], const struct scalar *scalar)
{
	size_t length = scalar->length;
	if (length > SCALAR_QUOTE_BYTES - 4) {
		length = SCALAR_QUOTE_BYTES - 4;
		while (length > 0 && ((uint8_t)scalar->text[length] & 0xc0) == 0x80)
			length--; // not inside a character
	}
	for (size_t i = 0; i < length; i++) {
		uint8_t c = (uint8_t)scalar->text[i];
		ret[i] = c < 0x20 || c == 0x7f ? '?' : (char)c;
	}
	strcpy(ret + length, length < scalar->length ? "..." : "");
}

static bool scalar_is(const struct scalar *scalar, const char *word)
{
	return strlen(word) == scalar->length && memcmp(scalar->text, word, scalar->length) == 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

// Reads digits from `*at`; false when there are none or too many.
static bool take_digits(const struct scalar *scalar, size_t *at, uint64_t *ret, uint32_t *ret_count)
{
	uint64_t value = 0;
	uint32_t count = 0;
	for (; *at < scalar->length && is_digit(scalar->text[*at]); (*at)++, count++) {
		if (count == DIGITS_MAX)
			return false;
		value = value * 10 + (uint64_t)(scalar->text[*at] - '0');
	}
	*ret = value;
	*ret_count = count;
	return count > 0;
}

// What a number of that type takes; NULL: it is no type.
static const char *bytes_of_type(const struct scalar *scalar)
{
	static const char *const types[][2] = {
		{"fp32", "4B"}, {"float32", "4B"}, {"bf16", "2B"}, {"bfloat16", "2B"},
		{"fp16", "2B"}, {"float16", "2B"}, {"fp8", "1B"},
	};
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (scalar_is(scalar, types[i][0]))
			return types[i][1];
	return NULL;
}

// Why `scalar`, which does not begin as a number does, is not one.
static int refuse_start(const struct measure *measure, const struct scalar *scalar,
			struct refusal *refusal)
{
	static const char *const words[] = {"true", "false", "yes", "no", "on",
					    "off",  "null",  "~",   "",	  NULL};
	char quoted[SCALAR_QUOTE_BYTES];
	scalar_quote(quoted, scalar);
	if (scalar->length == 0)
		return refuse_value(refusal, "%s is expected, but there is no value",
				    measure->noun);
	for (uint32_t i = 0; words[i] != NULL; i++)
		if (scalar_is(scalar, words[i]))
			return refuse_value(refusal, "`%s` is a word, but %s is expected", quoted,
					    measure->noun);
	if (scalar->text[0] == '-')
		return refuse_value(refusal, "`%s` is negative; %s is never below zero", quoted,
				    measure->noun);
	if (scalar->text[0] == '+')
		return refuse_value(refusal, "`%s`: write the number without a sign", quoted);
	if (scalar->text[0] == '.')
		return refuse_value(refusal, "`%s`: write a digit before the point, as in 0.5",
				    quoted);
	const char *bytes = measure->units == byte_units ? bytes_of_type(scalar) : NULL;
	return refuse_value(refusal, "`%s` is not %s%s%s", quoted, measure->noun,
			    bytes != NULL ? "; write " : "", bytes != NULL ? bytes : "");
}

// Refuses digits that other programs read in another base.
static int check_base(const struct scalar *scalar, struct refusal *refusal)
{
	char quoted[SCALAR_QUOTE_BYTES];
	if (scalar->length < 2 || scalar->text[0] != '0')
		return 0;
	scalar_quote(quoted, scalar);
	char next = scalar->text[1];
	if (next == 'x' || next == 'X' || next == 'o' || next == 'b')
		return refuse_value(refusal, "`%s`: write the number in decimal digits", quoted);
	if (is_digit(next))
		return refuse_value(refusal,
				    "`%s` begins with 0, which some programs read as octal; write "
				    "it without the leading 0",
				    quoted);
	return 0;
}

static int number_split(struct number *ret, const struct measure *measure,
			const struct scalar *scalar, struct refusal *refusal)
{
	char quoted[SCALAR_QUOTE_BYTES];
	size_t at = 0;
	uint32_t count;
	struct number number = {.scale = 1};
	scalar_quote(quoted, scalar);
	if (scalar->length == 0 || !is_digit(scalar->text[0]))
		return refuse_start(measure, scalar, refusal);
	int rc = check_base(scalar, refusal);
	if (rc != 0)
		return rc;
	if (!take_digits(scalar, &at, &number.whole, &count))
		return refuse_value(refusal, "`%s` has too many digits; at most %d are read",
				    quoted, DIGITS_MAX);
	if (at < scalar->length && scalar->text[at] == '.') {
		at++;
		if (!take_digits(scalar, &at, &number.fraction, &count))
			return refuse_value(refusal,
					    "`%s`: one to %d digits are expected after the point",
					    quoted, DIGITS_MAX);
		while (count-- > 0)
			number.scale *= 10;
	}
	number.unit = scalar->text + at;
	number.unit_length = scalar->length - at;
	*ret = number;
	return 0;
}

// What follows the digits is no unit of this measure: says what it may have been meant to be.
static int refuse_unit(const struct measure *measure, const struct scalar *scalar,
		       const struct number *number, struct refusal *refusal)
{
	char quoted[SCALAR_QUOTE_BYTES], unit[SCALAR_QUOTE_BYTES];
	const struct scalar rest = {number->unit, number->unit_length, true};
	scalar_quote(quoted, scalar);
	scalar_quote(unit, &rest);
	if (rest.length == 0)
		return refuse_value(refusal, "`%s` has no unit; %s needs one of %s", quoted,
				    measure->noun, measure->unit_list);
	char first = rest.text[0];
	if (first == '_' || first == ',' || first == '\'')
		return refuse_value(refusal, "`%s`: write the digits without separators", quoted);
	if (first == ' ' || first == '\t')
		return refuse_value(refusal, "`%s`: write no space between a number and its unit",
				    quoted);
	if ((first == 'e' || first == 'E') && rest.length > 1)
		return refuse_value(refusal, "`%s`: write the number out, without an exponent",
				    quoted);
	for (const struct spelling *s = measure->spellings; s->wrong != NULL; s++)
		if (scalar_is(&rest, s->wrong))
			return refuse_value(refusal, "`%s`: `%s` is not a unit here; write %s",
					    quoted, unit, s->right);
	if (strcmp(measure->name, "count") == 0)
		return refuse_value(refusal, "`%s`: a count has no unit; write digits only",
				    quoted);
	return refuse_value(refusal, "`%s`: `%s` is not a unit of %s; these are: %s", quoted, unit,
			    measure->noun, measure->unit_list);
}

static const struct unit *unit_find(const struct measure *measure, const struct number *number)
{
	const struct scalar name = {number->unit, number->unit_length, true};
	for (const struct unit *unit = measure->units; unit->name != NULL; unit++)
		if (scalar_is(&name, unit->name))
			return unit;
	return NULL;
}

static int value_number(uint64_t *ret, const struct measure *measure, const struct scalar *scalar,
			struct refusal *refusal)
{
	char quoted[SCALAR_QUOTE_BYTES];
	struct number number = {.scale = 1};
	scalar_quote(quoted, scalar);
	if (!scalar->is_plain && measure->units == count_units) // JSON has no other way for units
		return refuse_value(refusal, "\"%s\" is a text in quotes; write %s without quotes",
				    quoted, measure->noun);
	int rc = number_split(&number, measure, scalar, refusal);
	if (rc != 0)
		return rc;
	const struct unit *unit = unit_find(measure, &number);
	if (unit == NULL)
		return refuse_unit(measure, scalar, &number, refusal);
	if (number.scale > 1 && measure->units == count_units)
		return refuse_value(refusal, "`%s`: a count is whole; write it without a point",
				    quoted);
	unsigned __int128 part = (unsigned __int128)number.fraction * unit->factor;
	if (part % number.scale != 0)
		return refuse_value(refusal, "`%s` is not a whole number of %s", quoted,
				    measure->grain);
	unsigned __int128 value = (unsigned __int128)number.whole * unit->factor +
		part / number.scale;
	if (value > INT64_MAX)
		return refuse_value(refusal, "`%s` is too large", quoted);
	*ret = (uint64_t)value;
	return 0;
}

// The value with the largest unit in which it is whole.
static void value_write(char *ret, size_t size, const struct measure *measure, uint64_t value)
{
	const struct unit *best = NULL;
	for (const struct unit *unit = measure->units; unit->name != NULL; unit++)
		if (value % unit->factor == 0 && (best == NULL || unit->factor > best->factor))
			best = unit;
	if (best == NULL || value == 0) // parts of 10^9 may be smaller than a percent's
		best = &measure->units[0];
	if (value % best->factor != 0) {
		snprintf(ret, size, "0.%09llu", (unsigned long long)value);
		for (char *end = ret + strlen(ret); end[-1] == '0';)
			*--end = '\0';
	} else
		snprintf(ret, size, "%llu%s", (unsigned long long)(value / best->factor),
			 best->name);
}

static int check_range(uint64_t value, const struct measure *measure,
		       const struct scenario_key *key, const struct scalar *scalar,
		       struct refusal *refusal)
{
	char quoted[SCALAR_QUOTE_BYTES], min[40], max[40];
	if (value >= key->min && value <= key->max)
		return 0;
	scalar_quote(quoted, scalar);
	value_write(min, sizeof(min), measure, key->min);
	value_write(max, sizeof(max), measure, key->max);
	if (value == 0 && key->zero != NULL)
		return refuse_value(refusal, "`%s` is too small; write %s, or %s to %s", quoted,
				    key->zero, min, max);
	bool is_percent = measure->units == share_units && value > key->max &&
		scalar->text[scalar->length - 1] != '%';
	return refuse_value(refusal, "`%s` is too %s; it may be %s to %s%s", quoted,
			    value < key->min ? "small" : "large", min, max,
			    is_percent ? "; parts of 100 end in %" : "");
}

// Words that others use, and what to write in their place, or why there is nothing.
static const char *word_advice(const char *path, const struct scalar *scalar)
{
	static const char *const advice[][3] = {
		{"cut.schedule", "dualpipe",
		 "DualPipe is not: micro-batches enter at both ends, and a rank holds two stages"},
		{"cut.schedule", "zb-h2", "ZB-H2 is not: it holds twice the micro-batches"},
		{"cut.schedule", "zb-v", "ZB-V is not: it has two chunks a stage, laid as a V"},
		{"cut.schedule", "gpipe", "GPipe is not: all its forwards come first"},
		{"cut.schedule", "interleaved", "1f1b with cut.vpp above 1 is interleaved"},
		{"transport.kind", "roce", "RoCEv2 is rc"},
		{"transport.kind", "rocev2", "RoCEv2 is rc"},
		{"reduce.kind", "hsdp", "HSDP is fsdp with reduce.within"},
		{"reduce.kind", "fsdp2", "FSDP2 is fsdp"},
		{"step.recompute", "selective", "selective recomputation counts as none"},
		{"reduce.kind", "diloco", "DiLoCo is local with reduce.every"},
		{"faults[].at", NULL, "a place is a map, as {nic: 3}"},
		{"taps[].at", NULL, "a place is a map, as {nic: 3}"},
	};
	for (size_t i = 0; i < sizeof(advice) / sizeof(*advice); i++)
		if (strcmp(path, advice[i][0]) == 0 &&
		    (advice[i][1] == NULL || scalar_is(scalar, advice[i][1])))
			return advice[i][2];
	return NULL;
}

static struct near_word word_near(const struct scenario_key *key, const char *word)
{
	struct near_word ret = near_word_of(word);
	for (uint32_t i = 0; key->words[i] != NULL; i++)
		near_word_see(&ret, key->words[i]);
	return ret;
}

// "; did you mean all_reduce?", or of a kind of traffic the two keys that make that collective.
static void word_meant(char *ret, size_t bytes, const struct scenario_key *key,
		       const struct scalar *scalar)
{
	char word[NEAR_WORD_BYTES + 1];
	snprintf(word, sizeof(word), "%.*s", (int)scalar->length, scalar->text);
	struct near_word near_word = word_near(key, word);
	int collective = scenario_key_find("traffic.collective");
	ret[0] = '\0';
	if (near_word_append(&near_word, ret, bytes) || strcmp(key->path, "traffic.kind") != 0 ||
	    collective < 0)
		return;
	near_word = word_near(&scenario_keys()[collective], word);
	if (near_word.found[0] != '\0')
		snprintf(ret, bytes, "; did you mean collective, with traffic.collective %s?",
			 near_word.found);
}

static int value_word(uint64_t *ret, const struct scenario_key *key, const struct scalar *scalar,
		      struct refusal *refusal)
{
	char quoted[SCALAR_QUOTE_BYTES], list[160] = "";
	bool is_flag = strcmp(key->unit, "flag") == 0;
	for (uint32_t i = 0; key->words[i] != NULL; i++) {
		if ((scalar->is_plain || !is_flag) && scalar_is(scalar, key->words[i])) {
			*ret = i;
			return 0;
		}
		size_t used = strlen(list);
		snprintf(list + used, sizeof(list) - used, "%s%s", i == 0 ? "" : ", ",
			 key->words[i]);
	}
	scalar_quote(quoted, scalar);
	if (is_flag)
		return refuse_value(refusal, "`%s` is not a flag; write true or false%s", quoted,
				    scalar->is_plain ? "" : " without quotes");
	const char *advice = word_advice(key->path, scalar);
	char meant[128];
	word_meant(meant, sizeof(meant), key, scalar);
	return refuse_value(refusal, "`%s` is not known here; it may be: %s%s%s", quoted, list,
			    advice != NULL ? "; " : meant, advice != NULL ? advice : "");
}

int value_parse(uint64_t *ret, const struct scenario_key *key, const struct scalar *scalar,
		struct refusal *refusal)
{
	uint64_t value = 0;
	if (key->words != NULL)
		return value_word(ret, key, scalar, refusal);
	if (key->zero != NULL && scalar_is(scalar, key->zero)) {
		*ret = 0;
		return 0;
	}
	// A key whose default is `auto` while 0 means something else takes -1 for it.
	if (key->value != NULL && strcmp(key->value, "auto") == 0 && scalar_is(scalar, "auto")) {
		*ret = UINT64_MAX;
		return 0;
	}
	for (uint32_t i = 0; i < sizeof(measures) / sizeof(measures[0]); i++) {
		const struct measure *measure = &measures[i];
		if (strcmp(measure->name, key->unit) != 0)
			continue;
		int rc = value_number(&value, measure, scalar, refusal);
		if (rc == 0)
			rc = check_range(value, measure, key, scalar, refusal);
		if (rc == 0)
			*ret = value;
		return rc;
	}
	check(false); // the table names a unit that does not exist
	return -EINVAL;
}

int scenario_value_of(uint64_t *ret, const struct scenario_key *key, const char *text,
		      struct refusal *refusal)
{
	const struct scalar scalar = {text, strlen(text), true};
	return value_parse(ret, key, &scalar, refusal);
}

static int value_text(char *ret, const struct scenario_key *key, const struct scalar *scalar,
		      struct refusal *refusal)
{
	size_t length = scalar->length;
	while (length > 0 && scalar->text[length - 1] == '\n')
		length--; // what YAML's folded texts end with
	if (length == 0)
		return refuse_value(refusal, "a text is expected, but there is none");
	if (scalar->is_plain && (scalar_is(scalar, "~") || scalar_is(scalar, "null")))
		return refuse_value(refusal, "a text is expected; put the word in quotes");
	if (length >= key->size)
		return refuse_value(refusal, "the text is %llu bytes long; at most %u fit",
				    (unsigned long long)length, key->size - 1);
	for (size_t i = 0; i < length; i++)
		if ((uint8_t)scalar->text[i] < 0x20 || scalar->text[i] == 0x7f)
			return refuse_value(refusal,
					    "the text must be one line without control characters");
	memcpy(ret, scalar->text, length);
	ret[length] = '\0';
	return 0;
}

int value_store(void *base, const struct scenario_key *key, const struct scalar *scalar,
		struct refusal *refusal)
{
	uint8_t *field = (uint8_t *)base + key->offset;
	uint64_t value = 0;
	if (strcmp(key->unit, "text") == 0)
		return value_text((char *)field, key, scalar, refusal);
	int rc = value_parse(&value, key, scalar, refusal);
	if (rc != 0)
		return rc;
	uint32_t value32 = (uint32_t)value;
	uint16_t value16 = (uint16_t)value;
	if (key->words != NULL && key->size == sizeof(const char *)) {
		memcpy(field, &key->words[value], key->size); // the field holds the word itself
	} else if (key->size == 8) {
		memcpy(field, &value, 8);
	} else if (key->size == 4) {
		check(value == value32 ||
		      value == UINT64_MAX); // the table's maximum fits the field
		memcpy(field, &value32, 4);
	} else if (key->size == 2) {
		check(value == value16);
		memcpy(field, &value16, 2);
	} else {
		check(key->size == 1 && value <= (key->words != NULL ? 1 : UINT8_MAX));
		*field = (uint8_t)value;
	}
	return 0;
}
