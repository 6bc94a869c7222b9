// SPDX-License-Identifier: Apache-2.0
// weft pcap gen: a scenario as weft sim runs it, for its capture.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/run/outcome.h>
#include <weft/run/run.h>

#include "help.h"
#include "pcap.h"
#include "verbs.h"
#include "weft_version.h"

#define WORDS_MAX 1024

struct gen {
	const char *out;
	char *words[WORDS_MAX + 3]; // of weft sim
	int count;
	bool wants_help, wants_version;
	struct refusal refusal;
};

// Words of a command line are weft sim's, but for -o FILE.
static int take_words(struct gen *gen, int argc, char **argv)
{
	gen->words[gen->count++] = argv[0];
	for (int i = 1; i < argc; i++) {
		gen->wants_help |= strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
		gen->wants_version |= strcmp(argv[i], "--version") == 0;
		if (gen->count == WORDS_MAX)
			return outcome_bad_line(&gen->refusal, "too many words");
		if (strncmp(argv[i], "-o", 2) != 0) {
			gen->words[gen->count++] = argv[i];
			continue;
		}
		const char *file = argv[i] + 2;
		if (*file == '\0' && i + 1 < argc)
			file = argv[++i];
		int rc = outcome_once(&gen->refusal, &gen->out, "-o", file);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int run(struct gen *gen)
{
	if (gen->out == NULL)
		return outcome_bad_line(&gen->refusal, "no output file given: -o FILE");
	gen->words[gen->count++] = "--quiet";
	gen->words[gen->count++] = "--pcap";
	gen->words[gen->count++] = (char *)gen->out;
	return run_main("sim", &sim_arguments, gen->count, gen->words);
}

int gen_run(int argc, char **argv)
{
	static struct gen gen; // large: kept off the stack
	int rc = take_words(&gen, argc, argv);
	if (rc == 0 && (gen.wants_help || gen.wants_version)) {
		puts(gen.wants_help ? help_text : WEFT_VERSION_TEXT);
		return EXIT_SUCCESS;
	}
	if (rc == 0)
		rc = run(&gen);
	return rc < 0 ? outcome_refused("pcap", &gen.refusal, rc) : rc;
}
