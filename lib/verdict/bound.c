// SPDX-License-Identifier: Apache-2.0
// The bound of a check: words, a number with its unit, and what it is a share of.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/verdict/report_verdict.h>

static const struct {
	const char *name;
	double factor;
	enum dimension dimension;
} units[] = {
	{"ps", 1e-12, DIMENSION_TIME},
	{"ns", 1e-9, DIMENSION_TIME},
	{"us", 1e-6, DIMENSION_TIME},
	{"ms", 1e-3, DIMENSION_TIME},
	{"s", 1, DIMENSION_TIME},
	{"b/s", 1, DIMENSION_RATE},
	{"Mb/s", 1e6, DIMENSION_RATE},
	{"Gb/s", 1e9, DIMENSION_RATE},
	{"Tb/s", 1e12, DIMENSION_RATE},
	{"B/s", 8, DIMENSION_RATE},
	{"MB/s", 8e6, DIMENSION_RATE},
	{"GB/s", 8e9, DIMENSION_RATE},
	{"B", 1, DIMENSION_BYTES},
	{"kB", 1e3, DIMENSION_BYTES},
	{"MB", 1e6, DIMENSION_BYTES},
	{"GB", 1e9, DIMENSION_BYTES},
	{"KiB", 1024, DIMENSION_BYTES},
	{"MiB", 1048576, DIMENSION_BYTES},
	{"GiB", 1073741824, DIMENSION_BYTES},
};

static const struct {
	const char *words;
	enum bound_kind kind;
} kinds[] = {{"at least ", BOUND_AT_LEAST}, {"at most ", BOUND_AT_MOST}, {"is ", BOUND_IS}};

static int refuse_bound(struct refusal *refusal, const char *text)
{
	snprintf(refusal->text, sizeof(refusal->text),
		 "`%.80s` is not a bound; bounds are as `at least 90 %% of network.nic_rate_bps`, "
		 "`at most 50us`, `is 0`, `is done`",
		 text);
	return -EINVAL;
}

// What is behind the number: a unit or %, then "of" and a field.
static int read_unit(struct bound *ret, const char *at)
{
	at += strspn(at, " ");
	size_t length = strcspn(at, " ");
	ret->is_percent = length == 1 && *at == '%';
	bool is_known = length == 0 || ret->is_percent;
	if (ret->is_percent)
		ret->value /= 100;
	if (length == 3 && strncmp(at, "ppm", 3) == 0) {
		ret->value /= 1e6;
		is_known = true;
	}
	for (size_t i = 0; !is_known && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strlen(units[i].name) != length || strncmp(at, units[i].name, length) != 0)
			continue;
		ret->value *= units[i].factor;
		ret->dimension = units[i].dimension;
		is_known = true;
	}
	if (!is_known)
		return -EINVAL;
	at += length + strspn(at + length, " ");
	if (*at == '\0')
		return 0;
	if (!ret->is_percent || strncmp(at, "of ", 3) != 0 || strlen(at + 3) >= sizeof(ret->of) ||
	    strcspn(at + 3, " ") != strlen(at + 3) || at[3] == '\0')
		return -EINVAL;
	strcpy(ret->of, at + 3);
	return 0;
}

int bound_parse(struct bound *ret, const char *text, struct refusal *refusal)
{
	const char *at = NULL;
	*ret = (struct bound){0};
	for (size_t i = 0; at == NULL && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strncmp(text, kinds[i].words, strlen(kinds[i].words)) != 0)
			continue;
		at = text + strlen(kinds[i].words);
		ret->kind = kinds[i].kind;
	}
	if (at == NULL)
		return refuse_bound(refusal, text);
	size_t digits = strspn(at, "0123456789.");
	if (digits > 0 && digits < 20) {
		char number[20], *end;
		memcpy(number, at, digits);
		number[digits] = '\0';
		ret->value = strtod(number, &end);
		return *end != '\0' || read_unit(ret, at + digits) < 0 ? refuse_bound(refusal, text)
								       : 0;
	}
	size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz_ ");
	if (ret->kind != BOUND_IS || length == 0 || at[length] != '\0' ||
	    length >= sizeof(ret->word))
		return refuse_bound(refusal, text);
	ret->is_word = true;
	strcpy(ret->word, at);
	return 0;
}
