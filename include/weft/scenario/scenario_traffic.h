// SPDX-License-Identifier: Apache-2.0
// What a scenario says about its traffic.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/workload/coll.h>
#include <weft/workload/gradients.h>
#include <weft/workload/mix.h>
#include <weft/workload/workload.h>

struct plan;

#define SCENARIO_NAME_BYTES 64
#define SCENARIO_PATH_BYTES 256

enum traffic_kind {
	TRAFFIC_FLOWS,
	TRAFFIC_PERMUTATION,
	TRAFFIC_INCAST,
	TRAFFIC_RING,
	TRAFFIC_MODEL,
	TRAFFIC_TRACE,
	TRAFFIC_MATRIX,
	TRAFFIC_ALL_TO_ALL,
	TRAFFIC_OUTCAST,
	TRAFFIC_TORNADO,
	TRAFFIC_BUTTERFLY,
	TRAFFIC_GOAL,
	TRAFFIC_COLLECTIVE,
	TRAFFIC_JOBS,
	TRAFFIC_GRADIENTS,
};

#define SCENARIO_JOBS_MAX MIX_PARTS_MAX
#define SCENARIO_JOB_NICS_BYTES 512

enum job_kind { JOB_RING, JOB_COLLECTIVE, JOB_MODEL, JOB_GOAL, JOB_TRACE };

// One of several jobs on a fabric.
struct scenario_job {
	char name[SCENARIO_NAME_BYTES];
	enum job_kind kind;
	struct mix_placement placement; // but .nics
	char nics[SCENARIO_JOB_NICS_BYTES];
	ps_t start_ps;
	uint32_t repeats;
	enum coll_kind collective;	 // ring (the first three), collective
	enum coll_algorithm algorithm;	 // collective; TRAFFIC_ALGORITHM_AUTO: coll_choose()
	uint64_t bytes;			 // ring, collective
	char model[SCENARIO_PATH_BYTES]; // model: a job's file or name
	const struct plan *plan;	 // model: what it says; given
	char file[SCENARIO_PATH_BYTES];	 // goal, trace
	ps_t unit_ps;			 // goal: of a computation
	const struct program *program;	 // goal, trace: given, sealed
	uint32_t line;			 // of the file, for errors
};

// Behind the algorithms: what NCCL would take.
#define TRAFFIC_ALGORITHM_AUTO COLL_ALGORITHM_COUNT

struct traffic_config {
	enum traffic_kind kind;
	uint64_t bytes;		       // of each flow, or of the ring's buffer
	uint64_t beside_bytes;	       // of a message that each NIC sends beside them; 0: none
	uint32_t senders;	       // incast
	uint32_t receivers;	       // outcast
	uint32_t flow_count;	       // flows
	struct flow *flows;	       // flows: [flow_count], owned by the scenario
	enum coll_kind collective;     // ring (the first three), collective
	enum coll_algorithm algorithm; // collective; TRAFFIC_ALGORITHM_AUTO: coll_choose()
	enum coll_algorithm fastest;   // of what auto may take, where has_fastest; given
	bool has_fastest;
	uint32_t root;		  // collective, where it has one
	uint32_t element_bytes;	  // collective
	uint32_t peers;		  // collective: others that a rank sends to at once; 0 = all
	uint8_t is_coll_stream;	  // collective: messages are made as it goes, else all are stored
	uint32_t jobs;		  // ring: so many rings
	enum placement placement; // of these
	uint32_t axes;		  // ring: a bit for each axis of a torus; 0 = one ring
	struct ring_config ring;  // ring, model, trace; of a collective: ranks (of a ring, too),
				  // channels, chunk_bytes_max
	char model[SCENARIO_PATH_BYTES];   // model: a job's file or name
	const struct plan *plan;	   // model: what it says; given; or NULL
	uint32_t model_line, model_column; // of `model`
	bool is_model_set;		   // by the command line: model_line is its number
	char trace[SCENARIO_PATH_BYTES];   // trace: file
	bool cuts_circles;		   // trace of nodes: a wait of each circle is left out
	uint32_t step_channels;		   // trace, goal: of a step that was exported; 0 = none
	uint32_t copies;		   // trace of nodes: side by side; 0 = as many as fit
	char matrix[SCENARIO_PATH_BYTES];  // matrix: file
	ps_t start_unit_ps;		   // matrix: of a start
	ps_t signal_delay_ps;		   // matrix: of a trigger between hosts; 0 = auto
	char file[SCENARIO_PATH_BYTES];	   // goal: file
	ps_t unit_ps;			   // goal: of a computation
	const struct program *program; // goal, trace: given, sealed, in place of a file; or NULL
	bool has_auto_channels;	       // ring.channels was not given
	uint32_t buckets, steps;       // gradients
	ps_t forward_ps, backward_ps, update_ps; // gradients: gradients.h
	bool is_external_compute; // gradients: computations end when a device says so, not after
				  // their time
};
struct scenario;

// Channels that use `members` NICs of a host alike, 4 at least.
uint32_t scenario_channels_over(uint32_t members);

// What an algorithm is chosen by for domains of so many NICs.
struct coll_lines scenario_lines(const struct scenario *scenario, uint32_t domain);
