// SPDX-License-Identifier: Apache-2.0
// weft validate-fabric: what its files share. A book is a list of cases in sections; a case is a
// scenario of its own over the fabric under test, and a profile that its result is held against.
//
//   main.c   arguments, the loop over cases      cases*.c  what is asked, section by section
//   fabric_file.c  the fabric's part of a scenario     child.c   a case as a process of its own
//   case.c   files of a case, and its verdict    page*.c   the report, after every case
//   why.c    what stands against a case that     coverage.c  what of the book has a verdict
//            fails                               fabric_facts.c, tiers.c  what is known of the
//            fabric
//   budget.c, cost.c  what a book takes          carry.c   what the fabric carries between NICs
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <weft/core/refusal.h>
#include <weft/files/files.h>
#include <weft/result/report_manifest.h>
#include <weft/scenario/scenario.h>
#include <weft/verdict/report_verdict.h>

#include "fabric_facts.h"
#include "measures.h"

#define ACCEPTANCE_MARK "book.json" // a folder of ours has it
#define ACCEPTANCE_CASES_MAX 64
#define ACCEPTANCE_PATH_BYTES 4096
#define ACCEPTANCE_WORDS_MAX 64
#define ACCEPTANCE_REASON_BYTES 256

// What the draft wants beside a collective, or a job: its condition.
struct asked {
	const char *kind, *algorithm; // NULL: no collective
	uint64_t bytes;
	double roofline_s, compute_s; // of a job: computation and then communication; 0: none
};

// Where a case is written to: `scene`, what it adds to the fabric's part of a scenario, and
// `checks`, those of a profile of its own in place of a shipped one.
struct case_text {
	FILE *fabric_file, *checks, *goal;
	double bus_bytes; // of a collective, that pass a rank's NIC; 0: no collective
	ps_t limit_ps;	  // its run ends there at the latest; 0: where any run does
	struct asked asked;
	struct cost cost;
	double carried;	  // of a NIC's rate, by all of its pairs at once; 0: not worked out
	bool is_left_out; // the fabric could be asked that, but the book has no room for it
	char reason[ACCEPTANCE_REASON_BYTES];
};

struct acceptance_case;
// Writes a case. Returns NULL, or why this fabric cannot be asked that.
typedef const char *case_write_fn(const struct acceptance_case *of,
				  const struct fabric_facts *fabric_facts, struct case_text *to);

struct acceptance_case {
	enum section section;
	const char *name;    // of its folder, too
	const char *asks;    // the question, one line
	const char *profile; // a shipped one; NULL: its own checks
	case_write_fn *write;
	uint32_t number;    // what it is about: senders, ranks, a seed
	bool is_whole;	    // left out of --quick
	unsigned relies;    // on what of the fabric (RELIES_...)
	const char *run_of; // a case before it with the same traffic, whose run is held against
			    // this one's profile where the book has it; NULL: its own
};

enum {
	RELIES_ON_SPREAD = 1,  // load is even over links, and senders feel which are full
	RELIES_ON_DETOUR = 2,  // what is dead or slow is left
	RELIES_ON_CONTROL = 4, // senders share a receiver
};

extern const struct acceptance_case acceptance_cases[]; // ends with a name that is NULL
uint32_t acceptance_case_count(void);

case_write_fn ask_one_packet, ask_pair_near, ask_pair_far, ask_permutation, ask_twins, ask_spray,
	ask_trims, ask_retire, ask_port_status, ask_no_pause, ask_incast, ask_marks, ask_pauses,
	ask_tail, ask_slow_trunk, ask_collective, ask_small_collective, ask_all_to_all, ask_step,
	ask_scale, ask_trunk_down, ask_t1_down, ask_t0_down, ask_port_down, ask_plane_down,
	ask_flaps, ask_soak, ask_size;

// ---------------------------------------------------------------- scene

// The scenario of a case into *ret_text, which the caller frees: fabric, queues, transport,
// congestion control, wire format, faults and inputs of `scene`, and all of `own`, whose faults
// come behind.
int fabric_file_merge(const struct data_file *fabric_file, const char *own, char **ret_text,
		      struct refusal *refusal);

// ---------------------------------------------------------------- cases

enum case_state {
	CASE_OPEN,
	CASE_PASS,
	CASE_FAIL,
	CASE_NOT_VALID,
	CASE_NOT_ASKED, // this fabric cannot be asked that
	CASE_LEFT_OUT,	// it could, but a book has no room for it
	CASE_STATE_COUNT
};

// Figures of a result that the report shows; NAN: there is none.
struct case_figures {
	double goodput_bps, nic_rate_bps, fct_p50_s, fct_p99_s, busbw_bps, job_s, marked, trimmed,
		resent, queue_bytes, answers_dropped, wall_s, hops;
	double more[MEASURE_COUNT];	// as measures[] has them
	struct measure_samples samples; // count 0: none
	char digest[24];
	char windows[256]; // of goodput, that are outside of what is expected
	char culprit[256]; // who stands out most, where the case breaks nothing itself; or empty
};

struct case_run {
	const struct acceptance_case *of;
	enum case_state state;
	bool is_kept;			      // from an earlier call
	char reason[ACCEPTANCE_REASON_BYTES]; // not asked, left out, or not valid
	bool is_in_budget; // neither not asked nor left out, as far as is known before
	struct cost cost;
	double carried;		       // as case_text has it
	double estimate_s;	       // of processor time; 0: it takes none
	const struct case_run *shares; // the case whose run it is; NULL: its own
	struct profile profile;
	struct verdict verdict;
	struct case_figures figures;
	double bus_bytes; // of a collective that pass a rank's NIC
	ps_t limit_ps;	  // as case_text has it
	struct asked asked;
	pid_t child; // 0: none
	double start_s;
};

// A call of the program.
struct acceptance {
	const char *name, *out, *junit, *only;
	const char *with; // "sim" or "emu"
	const char
		*ports; // emu: as it has --ports; NULL: memory, or none where pauses have no bytes
	const char *sets[ACCEPTANCE_WORDS_MAX], *faults[ACCEPTANCE_WORDS_MAX];
	uint32_t set_count, fault_count, at_once;
	const char *required[ACCEPTANCE_WORDS_MAX]; // --require, word by word
	uint32_t required_count;
	bool is_quick, wants_list, is_done;
	struct data_file fabric_file;
	struct scenario scenario;
	struct fabric_facts fabric_facts;
	uint32_t case_count;
	double start_s;
	struct case_run cases[ACCEPTANCE_CASES_MAX];
	struct manifest_rows inputs; // what the fabric was read from
	struct refusal refusal;
};

// The case that `run` waits for, as its run is that one's, too; NULL: none.
const struct case_run *case_awaited(const struct acceptance *acceptance,
				    const struct case_run *run);

// Where the run of a case lies: a folder below `cases`.
const char *case_home(const struct case_run *run);

// Writes the files of a case into its folder, unless those that are there are the same. Sets its
// state: CASE_NOT_ASKED, or CASE_OPEN, or what an earlier call came to.
int case_prepare(struct acceptance *acceptance, struct case_run *run);

// Begins it as a process of its own.
int case_start(struct acceptance *acceptance, struct case_run *run);

// Starts weft-`with`, the program beside this one, with `words` (the first is set here, the last is
// NULL) as a process of its own that dies with this one; what it says goes into the file `log`. 0
// with its id in *ret, or -EIO with the reason and 0 in *ret.
int child_start(pid_t *ret, const char *with, const char *words[], const char *log,
		struct refusal *refusal);

// It has ended with `status`, as waitpid() has it.
int case_end(struct acceptance *acceptance, struct case_run *run, int status);

// Settings of the fabric that stand against what a case relies on, a sentence each with "; "
// before it. Nothing where there are none: then its figures speak for themselves.
void why_say(FILE *to, const struct acceptance *acceptance, const struct case_run *run);

// What a book has room for, and what it takes: known before its first case runs.

// Why the book has no room for a case: more hops or memory than there is; NULL: it has. Sets
// to->is_left_out.
const char *budget_reason(const struct fabric_facts *fabric_facts, struct case_text *to);

// Counts what each case will cost. -ENOMEM.
int budget_count(struct acceptance *acceptance);

// What the whole book takes, one line.
void budget_say(FILE *to, const struct acceptance *acceptance);

// What a folder holds already of an earlier call.

// -EINVAL where the folder holds the book of another call (earlier.c) and there is no --force.
int earlier_check(struct acceptance *acceptance);

// Holds the run in the folder of case `home` against the case, by what the run's manifest says that
// it read: whoever moves folders may mix them up. -EINVAL where it is of another.
int earlier_check_run(struct acceptance *acceptance, const char *home,
		      const struct manifest *manifest);

// How much of a book has a verdict, and what --require asks of that.

// Cases of the book that have a verdict, pass or fail.
uint32_t coverage_count(const struct acceptance *acceptance);

// Checks the words of --require against the book. -EINVAL.
int coverage_check(struct acceptance *acceptance);

// Whether the word, one of --require, is met by cases that have a verdict.
bool coverage_holds(const struct acceptance *acceptance, const char *word);
bool coverage_holds_all(const struct acceptance *acceptance);
