// SPDX-License-Identifier: Apache-2.0
// Numbers of --speed, --drift and --loops.

#include "pace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/run/outcome.h>

#define DRIFT_PPM_MAX 1000

const char **pace_word(struct pace *pace, const char *option)
{
	if (strcmp(option, "--speed") == 0)
		return &pace->speed_text;
	if (strcmp(option, "--drift") == 0)
		return &pace->drift_text;
	return strcmp(option, "--loops") == 0 ? &pace->loops_text : NULL;
}

int pace_read(struct pace *pace, struct refusal *refusal)
{
	char *end = "";
	pace->speed = pace->speed_text != NULL ? strtod(pace->speed_text, &end) : 1;
	if (*end != '\0' || !isfinite(pace->speed) || pace->speed < 1e-6 || pace->speed > 1e6)
		return outcome_bad_word(refusal,
					"--speed is a number from 0.000001 to 1000000, not",
					pace->speed_text);
	long loops = pace->loops_text != NULL ? strtol(pace->loops_text, &end, 10) : 1;
	if (*end != '\0' || loops < 1 || loops > 1000000)
		return outcome_bad_word(refusal, "--loops is a number from 1 to 1000000, not",
					pace->loops_text);
	pace->loops = (uint32_t)loops;
	double drift_ppm = pace->drift_text != NULL ? strtod(pace->drift_text, &end) : 0;
	if (*end != '\0' || end == pace->drift_text || !(fabs(drift_ppm) <= DRIFT_PPM_MAX))
		return outcome_bad_word(refusal,
					"--drift is a number of ppm from -1000 to 1000, not",
					pace->drift_text);
	pace->speed *= 1 + drift_ppm / 1e6;
	return 0;
}
