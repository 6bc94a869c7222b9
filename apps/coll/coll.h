// SPDX-License-Identifier: Apache-2.0
// weft coll: what its files share.
//
//   main.c      arguments, files, the loop over sizes    types.c   numbers and words of nccl-tests
//   measure.c   one size: run, or extrapolated           table.c   what is printed
//   data.c      the data of a ring with credits          json.c    the same as JSON
//   ideal.c     the least time                           extrapolate.c   long sizes
//   bar.c       the progress bar                         csv.c    and as CSV
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include <weft/engine/engine.h>
#include <weft/files/files.h>
#include <weft/ports/payload_store.h>
#include <weft/run/progress.h>
#include <weft/scenario/scenario.h>
#include <weft/workload/coll.h>
#include <weft/world/world_ideal.h>

#define SETS_MAX 64
#define SET_BYTES 64
#define DEFAULT_SCENARIO "rail-8x4"

struct data_type {
	const char *name;
	uint32_t bytes;
};

// Option -d: types as nccl-tests names them.
int take_type(void *call, const char *word, struct refusal *refusal);

// all_reduce, alltoall, sendrecv, ...: names of nccl-tests and of scenarios. -EINVAL.
int kind_parse(const char *word, enum coll_kind *ret);
int kind_refuse(const char *word, struct refusal *refusal); // with those that there are
struct choice {
	bool is_auto;
	bool is_credit_ring; // traffic.kind ring: NCCL's Simple protocol
	enum coll_algorithm algorithm;
};
// Option --algorithm: its name, or auto, or credit_ring.
int take_algorithm(void *call, const char *word, struct refusal *refusal);

struct call {
	enum coll_kind kind;
	const char *scenario_name;
	struct data_file file; // the scenario
	uint64_t size_min, size_max, step_bytes;
	uint32_t factor; // above 1: sizes are multiplied, else step_bytes is added
	const struct data_type *type;
	const char *op; // NULL: not given
	struct choice choice;
	const char *algorithm_word;
	bool is_root_given;
	uint32_t root;
	uint32_t ranks; // 0: all NICs
	uint32_t gpus;	// of a host; 0: as the scenario says
	uint32_t channels;
	uint64_t chunk_bytes; // 0: as the scenario's default
	uint32_t iterations;
	uint64_t seed;
	bool is_seed_given;
	int is_checked; // -c 1
	uint64_t packets_max;
	bool has_warned; // of the world: it is the same for all sizes
	bool is_json, is_csv;
	uint32_t size_index, size_count; // of the size in hand, from 1 on, and of all
	json_t *json;			 // rows, owned
	const char *sets[SETS_MAX];
	uint32_t set_count;
	struct scenario scenario; // of the size in hand
	struct refusal refusal;
};

// What one size took.
struct measured {
	uint64_t bytes;	    // run: a multiple of ranks * element
	uint64_t bytes_run; // in hand: less than `bytes` where these are extrapolated
	uint64_t count;	    // elements, as nccl-tests counts them
	uint32_t ranks;
	struct coll_config config; // what was run
	bool is_credit_ring;
	struct ideal_time ideal; // no run takes less
	double time_us;		 // mean of the iterations
	double error_us;
	bool is_extrapolated;
	char why_not[128];	 // there is no time; "": there is
	uint32_t fault_left_out; // of a ring with credits: 1 + fault, as an outcome has it
	bool is_checked;
	uint64_t wrong;		  // elements, when checked
	uint64_t digest;	  // of the last run
	enum run_end end;	  // anything but RUN_DONE: nothing else holds
	const char *limit_option; // the key to raise where the run ended as a limit
};

// Reads the scenario for `bytes` into call->scenario. Negative errno with call->refusal.
int call_scenario(struct call *call, uint64_t bytes, bool is_credit_ring, uint64_t seed);

// The least time of what call->scenario says. Negative errno with call->refusal.
int ideal_find(struct call *call, struct ideal_time *ret);

// Runs one size. Negative errno with call->refusal.
int measure_size(struct call *call, uint64_t bytes, struct measured *ret);

// Whether a rank gives or gets all of the bytes, rather than a block for each rank.
bool gives_all(enum coll_kind kind);

// Whole elements, and blocks of whole elements, of so many bytes, at least one.
uint64_t size_whole(const struct measured *row, const struct call *call, uint64_t bytes);

// Runs `bytes` packet by packet; the time is the mean of the iterations.
int run_whole(struct call *call, uint64_t bytes, struct measured *ret);

// Finds the time of ret->bytes from shorter sizes, or says why not. Negative errno with
// call->refusal.
int extrapolate(struct call *call, struct measured *ret);

// Takes the time of a sampled ring with credits away where it must not be trusted. `rc` is what
// running it came to; returns what is left of it.
int judge_ring(struct call *call, struct measured *ret, int rc);

// The data of a ring with credits. Its machine counts slices and has none, so the same slices and
// credits run once more as messages (weft/workload/workload_ring.h), with data: their scenario in
// place of call->scenario. Needs data_free() in any case. Negative errno with call->refusal.
struct data {
	void *memory;
	size_t bytes;
};
int data_scenario(struct call *call, const struct measured *row, struct data *ret);
void data_free(struct data *data);

// The progress bar of a run.
struct bar {
	struct progress progress;
	const struct call *call;
};
bool bar_show(void *context, const struct world *world, const struct run *so_far);

void table_head(FILE *to, const struct call *call, const struct measured *first);
void table_row(FILE *to, const struct call *call, const struct measured *row);
// What all rows came to. Sizes without a time are in no mean.
struct total {
	enum run_end end; // of the last size
	double busbw_sum;
	uint32_t rows, timed;
	uint64_t wrong;
};

void table_tail(FILE *to, const struct call *call, const struct total *total);

// The same as CSV, with the names that JSON has.
void csv_head(FILE *to);
void csv_row(FILE *to, const struct call *call, const struct measured *row);

// The same as JSON: a row is kept, then all are printed.
void json_row(struct call *call, const struct measured *row);
void json_print(FILE *to, const struct call *call, const struct total *total);

// "ring", ..., "credit_ring".
const char *algorithm_of(const struct measured *row);

double ideal_us(const struct measured *row);
// The least time over the time, in percent: what of the ideal bandwidth there is.
double ideal_percent(const struct measured *row);
// "sum", or "none" where nothing is summed; the root, or -1 where there is none.
const char *redop_of(enum coll_kind kind);
int root_of(const struct call *call);
// GB/s, decimal.
double algbw(const struct measured *row);
double busbw(const struct measured *row);
