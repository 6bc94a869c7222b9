// SPDX-License-Identifier: Apache-2.0
// The command line: every word is understood or refused.

#include <weft/run/options.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <weft/run/outcome.h>

static int add_set(struct options *options, const char *set, struct refusal *refusal)
{
	if (options->set_count == OPTION_SETS_MAX)
		return outcome_bad_word(refusal, "too many --set, at", set);
	options->sets[options->set_count++] = set;
	return 0;
}

int options_take_seed(void *context, const char *word, struct refusal *refusal)
{
	struct options *options = context;
	if (word[0] == '\0' || word[strspn(word, "0123456789")] != '\0')
		return outcome_bad_word(refusal, "--seed is a whole number, not", word);
	snprintf(options->seed_set, sizeof(options->seed_set), "seed=%s", word);
	return add_set(options, options->seed_set, refusal);
}

int options_take_pcap_max(void *context, const char *word, struct refusal *refusal)
{
	struct options *options = context;
	snprintf(options->pcap_max_set, sizeof(options->pcap_max_set), "capture.file_bytes=%s",
		 word);
	return add_set(options, options->pcap_max_set, refusal);
}

int options_take_fast_forward(void *context, const char *word, struct refusal *refusal)
{
	if (strcmp(word, "steady") != 0)
		return outcome_bad_word(refusal, "--fast-forward is steady, not", word);
	return add_set(context, "fast_forward.steady=true", refusal);
}

int options_parse(struct options *ret, const char *program, const struct command_line *line,
		  int argc, char **argv, struct refusal *refusal)
{
	*ret = (struct options){.program = program,
				.slow_stage = UINT32_MAX,
				.slow_gpu = UINT32_MAX,
				.step_count = 1,
				.job_count = 1,
				.lane_count = 1,
				.gpu_timeout_s = GPU_TIMEOUT_S};
	int rc = command_line_read(line, ret, argc, argv, refusal);
	if (rc != 0)
		return rc;
	ret->scenario = argv[optind];
	if (ret->wants_list || ret->wants_keys)
		return 0;
	bool is_emu = strcmp(program, "emu") == 0;
	if (ret->scenario == NULL && ret->trace == NULL)
		return outcome_bad_line(refusal,
					is_emu ? "no scenario; try `weft emu two-racks`"
					       : "no scenario; try `weft sim incast`");
	return is_emu ? options_emu(ret, refusal) : 0;
}
