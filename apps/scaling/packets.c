// SPDX-License-Identifier: Apache-2.0
// Calls what weft sim calls, with the command line that would say so.

#include "packets.h"

#include <string.h>

#include <weft/run/call.h>
#include <weft/run/fidelity_sample.h>

#include "weft-sim_options.h"

#define WORDS_MAX (2 * OPTION_SETS_MAX + 8)

static int command(char *ret[WORDS_MAX], const char *name, const char *sample,
		   const char *const *sets, uint32_t set_count)
{
	int count = 0;
	ret[count++] = "sim";
	ret[count++] = (char *)name;
	ret[count++] = "--fidelity";
	ret[count++] = "sample";
	if (sample != NULL) {
		ret[count++] = "--sample";
		ret[count++] = (char *)sample;
	}
	for (uint32_t i = 0; i < set_count; i++) {
		ret[count++] = "--set";
		ret[count++] = (char *)sets[i];
	}
	ret[count] = NULL;
	return count;
}

static const struct option_row sim_rows[] = {SIM_OPTIONS(struct options), {NULL}};
static const struct command_line sim_arguments = {
	.help = "", .rows = sim_rows, .noun = "scenario", .most = 1};

int packets_run(struct packets_step *ret, const char *name, const char *sample,
		const char *const *sets, uint32_t set_count, struct refusal *refusal)
{
	static struct call call; // large, both: kept off the stack
	static struct fidelity_sample depth;
	char *words[WORDS_MAX];
	int count = command(words, name, sample, sets, set_count);
	call = (struct call){0};
	depth = (struct fidelity_sample){0};
	int rc = options_parse(&call.options, "sim", &sim_arguments, count, words, &call.refusal);
	if (rc == 0)
		rc = call_read(&call);
	if (rc == 0)
		rc = fidelity_sample_work(&call, &depth);
	workload_free(&call.workload);
	*refusal = call.refusal;
	*ret = (struct packets_step){depth.run.times, depth.run.steps_ps, depth.run.packets,
				     depth.run.groups, depth.run.groups_all};
	return rc;
}
