// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them. The JSON holds the exact ones.

#include <weft/result/number.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *number_grouped(struct text *ret, uint64_t value)
{
	char digits[24];
	size_t count = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, value);
	char *to = ret->at;
	for (size_t i = 0; i < count; i++) {
		if (i > 0 && (count - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return ret->at;
}

const char *number_count(struct text *ret, uint64_t value)
{
	if (value < 10000000)
		return number_grouped(ret, value);
	if (value < 1000000000) {
		snprintf(ret->at, sizeof(ret->at), "%.1f M", (double)value / 1e6);
		return ret->at;
	}
	number_grouped(ret, value / 1000000 + (value % 1000000 >= 500000));
	strcat(ret->at, " M"); // at most 18 of 48 characters are in use
	return ret->at;
}

// One value in the largest unit that leaves it at 1 or more; units[0] is printed whole.
static const char *scaled(struct text *ret, double value, double step, const char *const units[])
{
	int unit = 0;
	while (value >= step && units[unit + 1] != NULL) {
		value /= step;
		unit++;
	}
	int decimals = unit == 0 ? 0 : value < 10 ? 3 : value < 100 ? 2 : value < 1000 ? 1 : 0;
	snprintf(ret->at, sizeof(ret->at), "%.*f %s", decimals, value, units[unit]);
	return ret->at;
}

const char *number_bytes(struct text *ret, uint64_t bytes)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", NULL};
	return scaled(ret, (double)bytes, 1000, units);
}

const char *number_memory(struct text *ret, uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", NULL};
	return scaled(ret, (double)bytes, 1024, units);
}

const char *number_time(struct text *ret, ps_t time_ps)
{
	static const char *const units[] = {"ps", "ns", "us", "ms", "s", NULL};
	return scaled(ret, (double)time_ps, 1000, units);
}

const char *number_rate(struct text *ret, double bits_per_s)
{
	static const char *const units[] = {"b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s", "Pb/s", NULL};
	return scaled(ret, bits_per_s, 1000, units);
}

const char *number_share(struct text *ret, double share)
{
	if (share > 0 && share < 0.00001)
		snprintf(ret->at, sizeof(ret->at), "< 0.001 %%");
	else
		snprintf(ret->at, sizeof(ret->at), "%.3f %%", share * 100);
	return ret->at;
}
