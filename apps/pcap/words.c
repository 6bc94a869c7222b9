// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them.

#include <arpa/inet.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "pcap.h"

const char *count_words(char ret[WORDS_BYTES], uint64_t count)
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, count), at = 0;
	for (int i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			ret[at++] = ',';
		ret[at++] = digits[i];
	}
	ret[at] = '\0';
	return ret;
}

const char *bytes_words(char ret[WORDS_BYTES], uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double value = (double)bytes;
	int unit = 0;
	for (; value >= 1024 && unit < 4; unit++)
		value /= 1024;
	bool is_whole = value == floor(value);
	snprintf(ret, WORDS_BYTES, is_whole ? "%.0f %s" : "%.1f %s", value, units[unit]);
	return ret;
}

// The unit that leaves one to three digits before the point, and how many stand behind it.
static const char *unit_of(int64_t ns, double *ret_scale)
{
	static const struct unit {
		double ns;
		const char *name;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
	for (int i = 0; i < 4; i++)
		if (fabs((double)ns) >= units[i].ns) {
			*ret_scale = units[i].ns;
			return units[i].name;
		}
	*ret_scale = 1;
	return "ns";
}

static int digits_of(double value)
{
	return value == floor(value) || fabs(value) >= 30 ? 0 : fabs(value) >= 0.1 ? 1 : 2;
}

const char *time_words(char ret[WORDS_BYTES], int64_t ns)
{
	double scale;
	const char *unit = unit_of(ns, &scale);
	double value = (double)ns / scale;
	snprintf(ret, WORDS_BYTES, "%.*f %s", digits_of(value), value, unit);
	return ret;
}

// Both ends in the unit of the larger one.
const char *range_words(char ret[WORDS_BYTES], int64_t from_ns, int64_t to_ns)
{
	double scale;
	const char *unit = unit_of(to_ns, &scale);
	double from = (double)from_ns / scale, to = (double)to_ns / scale;
	if (from_ns == to_ns)
		return time_words(ret, to_ns);
	if (from < 0.095) { // too short for that unit
		char first[WORDS_BYTES], second[WORDS_BYTES];
		snprintf(ret, WORDS_BYTES, "%.28s to %.28s", time_words(first, from_ns),
			 time_words(second, to_ns));
		return ret;
	}
	char first[WORDS_BYTES / 2], second[WORDS_BYTES / 2];
	snprintf(first, sizeof(first), "%.*f", digits_of(from), from);
	snprintf(second, sizeof(second), "%.*f", digits_of(to), to);
	if (strcmp(first, second) == 0) // as far as they are shown
		return time_words(ret, to_ns);
	snprintf(ret, WORDS_BYTES, "%.27s to %.27s %s", first, second, unit);
	return ret;
}

const char *address_words(char ret[WORDS_BYTES], const uint8_t address[16])
{
	static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	static const uint8_t none[16];
	if (memcmp(address, none, sizeof(none)) == 0)
		snprintf(ret, WORDS_BYTES, "-");
	else if (memcmp(address, mapped, sizeof(mapped)) == 0)
		inet_ntop(AF_INET, address + 12, ret, WORDS_BYTES);
	else
		inet_ntop(AF_INET6, address, ret, WORDS_BYTES);
	return ret;
}
