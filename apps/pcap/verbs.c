// SPDX-License-Identifier: Apache-2.0
// Which verbs there are, and what their command lines share.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/run/outcome.h>

#include "verbs.h"

static const struct verb verbs[] = {
	{"anonymize", anonymize_run}, {"capture", capture_run},
	{"diff", diff_run},	      {"gen", gen_run},
	{"replay", replay_run},	      {"send", send_run},
};

const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

int verb_refused(const struct refusal *refusal, int rc)
{
	return outcome_refused("pcap", refusal, rc);
}
