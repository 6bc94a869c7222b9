// SPDX-License-Identifier: Apache-2.0
// One call of weft tune: words.c reads its words, study.c opens what they name, main.c does it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/refusal.h>
#include <weft/engine/ranks.h>
#include <weft/run/command_line.h>
#include <weft/run/tune_pool.h>
#include <weft/tune/tune.h>

#define SETS_MAX 64
#define COMMAND_BYTES 16384
#define SPACE_BYTES 16384

enum verb {
	VERB_RUN,
	VERB_RESUME,
	VERB_SHOW,
	VERB_BEST,
	VERB_PARETO,
	VERB_AB,
	VERB_REPORT,
	VERB_MERGE,
	VERB_EXPORT,
	VERB_IMPORT
};

// What was asked for.
struct words {
	enum verb verb;
	const char *study; // the file; NULL: the first scenario's name and .tune
	uint32_t scenario_count;
	const char *scenarios[TUNE_SCENARIOS_MAX];
	uint32_t holdout_count;
	const char *holdouts[TUNE_SCENARIOS_MAX];
	uint32_t set_count;
	const char *sets[SETS_MAX];
	uint32_t off_count;
	const char *off[TUNE_OFF_MAX]; // "queue.ecn=false"
	char space_text[SPACE_BYTES];  // behind words that come from files
	size_t space_bytes;
	struct tune_space space;
	struct tune_aim aim;
	struct tune_aim front;	 // the figures of pareto
	const char *const *more; // [more_count] studies behind the first
	uint32_t more_count, screen, parts, part;
	const struct search_engine *engine;
	uint64_t budget, seed;
	bool has_seed;
	uint32_t search_seeds, race_seeds, fresh_seeds, jobs;
	bool is_json, is_quiet;
	bool is_round;		     // of export
	uint32_t curves;	     // of report: points of each knob, moved alone; 0: none
	const char *page;	     // of report: the file; NULL: the study's name and .html
	const char *format, *from;   // of export: what it is for, and for which scenario
	bool is_whole;		     // no run ends early
	bool is_read;		     // the words are a study's
	char command[COMMAND_BYTES]; // the words that make the study what it is, a line each
};

struct call {
	struct words options;
	struct tune *tune; // NULL until it has run
	struct refusal refusal;
	struct tune_pool *pool; // NULL where nothing is run
	struct ranks ranks;	// count 0: one process
	struct tune_store *store;
	struct tune_plan plan;
	char study[SCENARIO_PATH_BYTES];
	char *words;   // behind options.command of a study that was there
	char *version; // of a study that is read
	bool has_bar;
};

// Reads the command line. 0, COMMAND_LINE_DONE (which prints nothing where
// `is_silent`), or -EINVAL with the reason.
int words_parse(struct words *ret, int argc, char **argv, bool is_silent, struct refusal *refusal);

// Reads the words of a study, as options.command has them; `words` is cut up and has to stay.
int words_of_study(struct words *options, char *words, struct refusal *refusal);

// Opens the study, and the pool where something is to be run; fills in the plan. -errno with the
// reason. study_close() gives back what was opened.
int study_open(struct call *call);
void study_close(struct call *call);

// The pool of the study whose words are read.
int study_open_pool(struct call *call);

// Several processes (MPI): refuses what they cannot do, and becomes the program that has MPI; then
// lets them meet. -errno.
int ranks_begin(struct call *call, char **argv);
int ranks_meet(struct call *call);

// Of the first one: tells the others the words of the study that is open, and lets them end. -errno
// with what one of them refused. And tune_runs_fn, whose context is the call.
int ranks_open(struct call *call);
void ranks_close(struct call *call);
int ranks_runs(void *context, const struct tune_request *requests, uint32_t count,
	       tune_take_fn *take, void *take_context, struct refusal *refusal);

// Of the others: does what the first one says until that lets it end.
int ranks_serve(struct call *call);

// weft tune merge: joins parts of a study in one file. -errno with the reason.
int study_merge(struct call *call);

// weft tune report: a page of a study that has run, or its document. -errno with the reason.
int study_report(struct call *call);
