// SPDX-License-Identifier: Apache-2.0
// Runs with several values of a key: --sweep.

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <weft/run/options.h>

static int refuse_words(struct refusal *refusal, const char *option, const char *reason,
			const char *word)
{
	refusal_name(refusal, option);
	snprintf(refusal->text, sizeof(refusal->text), "%s '%.100s'", reason, word);
	return -EINVAL;
}

bool options_has_study(const struct options *options)
{
	return options->seed_count > 0 || options->sweep_count > 0;
}

// One value less would be no sweep; the same twice would be the same run twice.
static int check_sweep(const struct options *options, const struct study_sweep *sweep,
		       const char *word, struct refusal *refusal)
{
	if (sweep->count < 2)
		return refuse_words(refusal, "--sweep",
				    "KEY=VALUE,VALUE,... with two values or more "
				    "is needed, not",
				    word);
	for (uint32_t i = 0; i < options->sweep_count; i++)
		if (strcmp(options->sweeps[i].key, sweep->key) == 0)
			return refuse_words(refusal, "--sweep",
					    "this key is swept twice:", sweep->key);
	for (uint32_t i = 0; i < sweep->count; i++) {
		if (sweep->values[i][0] == '\0')
			return refuse_words(refusal, "--sweep", "a value is empty in", word);
		for (uint32_t other = 0; other < i; other++)
			if (strcmp(sweep->values[i], sweep->values[other]) == 0)
				return refuse_words(refusal, "--sweep",
						    "this value is given twice:", sweep->values[i]);
	}
	return 0;
}

int options_take_sweep(void *context, const char *word, struct refusal *refusal)
{
	struct options *options = context;
	size_t bytes = strlen(word) + 1;
	if (options->sweep_count == STUDY_SWEEPS_MAX ||
	    bytes > sizeof(options->sweep_text) - options->sweep_bytes)
		return refuse_words(refusal, "--sweep", "too many at", word);
	char *text = options->sweep_text + options->sweep_bytes;
	memcpy(text, word, bytes);
	struct study_sweep *sweep = &options->sweeps[options->sweep_count];
	*sweep = (struct study_sweep){.key = text};
	char *at = strchr(text, '=');
	while (at != NULL) { // at `=` or `,`: a value follows
		*at++ = '\0';
		if (sweep->count == STUDY_VALUES_MAX)
			return refuse_words(refusal, "--sweep", "too many values in", word);
		sweep->values[sweep->count++] = at;
		at = strchr(at, ',');
	}
	int rc = check_sweep(options, sweep, word, refusal);
	if (rc < 0)
		return rc;
	options->sweep_bytes += (uint32_t)bytes;
	options->sweep_count++;
	return 0;
}
