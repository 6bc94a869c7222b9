// SPDX-License-Identifier: Apache-2.0
// The file that a scenario's traffic stands in: a trace, a traffic matrix of htsim, GOAL text.
#pragma once

#include <weft/trace/trace_run.h>
#include <weft/world/world.h>

struct workload {
	char *text; // NULL: none was read, or it is a trace of nodes
	size_t bytes;
	bool has_sample; // text of SimAI: there are data-parallel collectives to take a sample of
	uint64_t packets_max;	   // the same: data packets that the whole sends, at most
	bool skips_damaged;	   // the caller asks for it before workload_read(): see trace_set
	uint64_t memory_bytes_max; // the same: what operations may take; 0: no limit
	bool has_set; // a trace of nodes, which becomes a program when the scenario is known
	struct trace_set set;
	struct trace_program program;
	struct trace_program placed; // copies of it: traffic.copies
};

// The file that traffic stands in, as the scenario names it, "" where it leaves that open; NULL:
// this kind of traffic stands in none.
const char *workload_file(const struct traffic_config *traffic);

// Reads the file at `path` and makes sure that it is what `kind` says; the number of NICs that it
// is for goes to `ret_nics` (0: it does not tell). -errno with the file, the line and the reason in
// `refusal`.
int workload_read(struct workload *ret, enum traffic_kind kind, const char *path,
		  uint32_t *ret_nics, struct refusal *refusal);

// Bytes of memory that parsing so many bytes of text takes at most.
size_t workload_room(enum traffic_kind kind, size_t bytes);

// Expands a trace of nodes, and a text of SimAI that is not run as a sample, for the fabric and the
// collectives of this scenario, in place of what another one made of it, and gives the scenario the
// program. Nothing for other files. -errno with a reason.
int workload_expand(struct workload *workload, struct scenario *scenario, struct refusal *refusal);

// Makes the text of SimAI that was read a trace of nodes, too. -errno with a reason.
int workload_read_nodes(struct workload *workload, const char *path, struct refusal *refusal);

void workload_free(struct workload *workload);

// The file of one of several jobs (traffic.kind jobs).
struct job_set_file {
	struct workload workload;
	void *memory; // of what was parsed of it
	size_t memory_bytes;
};

// job_set.c: reads the files of jobs that have one into files[SCENARIO_JOBS_MAX], in place of what
// is there, and gives the jobs their programs. Nothing for other traffic. -errno with file, line
// and reason, or the job's line.
int job_set_read(struct job_set_file *files, struct scenario *scenario, struct refusal *refusal);

// Gives back what was read.
void job_set_free(struct job_set_file *files);
