// SPDX-License-Identifier: Apache-2.0
// Reads what the user wants of a sample: "groups=2,steps=16,buckets=3,fill=4", "packets=20M" or
// "off".

#include <errno.h>
#include <string.h>

#include <weft/workload/workload.h>

struct sample_text {
	const char *start, *at;
	struct refusal *refusal;
};

enum sample_key { KEY_GROUPS, KEY_STEPS, KEY_FILL, KEY_BUCKETS, KEY_PACKETS, KEY_COUNT };

static const char *const key_names[KEY_COUNT] = {
	"groups=", "steps=", "fill=", "buckets=", "packets="};

static int wrong(const struct sample_text *text, const char *why, int64_t value)
{
	if (text->refusal != NULL)
		text->refusal->column = (uint32_t)(text->at - text->start) + 1;
	return refuse(text->refusal, -EINVAL, why, value);
}

// K, M and G are thousands, millions and billions.
static uint64_t unit(struct sample_text *text)
{
	static const char letters[] = "KMG";
	uint64_t factor = 1000;
	for (const char *letter = letters; *letter != '\0'; letter++, factor *= 1000) {
		if (*text->at != *letter)
			continue;
		text->at++;
		return factor;
	}
	return 1;
}

static int number(struct sample_text *text, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;
	if (*text->at < '0' || *text->at > '9')
		return wrong(text, "a sample wants a whole number here", 0);
	for (; *text->at >= '0' && *text->at <= '9'; text->at++) {
		value = value * 10 + (uint64_t)(*text->at - '0');
		if (value > max)
			return wrong(text, "a number of the sample is above %", (int64_t)max);
	}
	uint64_t factor = unit(text);
	if (value > max / factor)
		return wrong(text, "a number of the sample is above %", (int64_t)max);
	if (value == 0)
		return wrong(text, "a number of the sample is 0: leave the key out to run all", 0);
	if (*text->at != ',' && *text->at != '\0')
		return wrong(text, "after a number of the sample comes a comma or the end", 0);
	*ret = value * factor;
	return 0;
}

static int key(struct sample_text *text, uint64_t *values)
{
	unsigned index = 0;
	while (index < KEY_COUNT &&
	       strncmp(text->at, key_names[index], strlen(key_names[index])) != 0)
		index++;
	if (index == KEY_COUNT)
		return wrong(
			text,
			"a sample has the keys groups=, steps=, fill=, buckets= and packets=", 0);
	if (values[index] != 0)
		return wrong(text, "this key of the sample appears twice", 0);
	text->at += strlen(key_names[index]);
	uint64_t max = index == KEY_PACKETS ? UINT64_C(1000000000000000) : 1000000000;
	return number(text, max, &values[index]);
}

int sample_parse(struct sample *ret, const char *text, struct refusal *refusal)
{
	struct sample_text reader = {text, text, refusal};
	uint64_t values[KEY_COUNT] = {0};
	if (strcmp(text, "off") == 0) {
		*ret = (struct sample){0};
		return 0;
	}
	if (*text == '\0')
		return wrong(&reader, "a sample is groups=k,steps=s,buckets=b or packets=N", 0);
	for (;;) {
		int rc = key(&reader, values);
		if (rc < 0)
			return rc;
		if (*reader.at == '\0')
			break;
		reader.at++; // the comma; a key must follow
	}
	*ret = (struct sample){.groups = (uint32_t)values[KEY_GROUPS],
			       .steps = (uint32_t)values[KEY_STEPS],
			       .fill = (uint32_t)values[KEY_FILL],
			       .buckets = (uint32_t)values[KEY_BUCKETS],
			       .packets_max = values[KEY_PACKETS],
			       .is_on = true};
	return 0;
}
