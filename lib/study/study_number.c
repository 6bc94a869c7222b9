// SPDX-License-Identifier: Apache-2.0
// A figure of a study as its tables print it.

#include "study.h"

#include <math.h>

const char *study_number(struct text *ret, enum study_unit unit, double value)
{
	if (isnan(value)) {
		snprintf(ret->at, sizeof(ret->at), "-");
		return ret->at;
	}
	bool is_negative = value < 0;
	double size = fabs(value);
	struct text text;
	switch (unit) {
	case STUDY_RATE:
		number_rate(&text, size);
		break;
	case STUDY_TIME:
		number_time(&text, (ps_t)llround(size * PS_PER_S));
		break;
	case STUDY_BYTES:
		number_bytes(&text, (uint64_t)llround(size));
		break;
	case STUDY_SHARE:
		number_share(&text, size);
		break;
	case STUDY_COUNT:
		snprintf(text.at, sizeof(text.at), size == floor(size) ? "%.0f" : "%.1f", size);
		break;
	default:
		snprintf(text.at, sizeof(text.at), "%.4f", size);
	}
	snprintf(ret->at, sizeof(ret->at), "%s%.46s", is_negative ? "-" : "", text.at);
	return ret->at;
}
