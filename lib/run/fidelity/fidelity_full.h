// SPDX-License-Identifier: Apache-2.0
// --fidelity full: every packet of a step, sent and waited for as its schedule says; and --fidelity
// all: the three depths of a step side by side. fidelity_full.c runs, fidelity_full_show.c prints.
#pragma once

#include <weft/run/fidelity_sample.h>

struct fidelity_full {
	struct world_step world;
	struct step_exposed model;	 // the same step with closed forms: --fidelity model
	struct step_exposed own;	 // and with sends as this domain's lines have them
	struct fidelity_bounds bounds;	 // of both
	struct step_exposed times;	 // `with` by packets
	ps_t longer_ps[DIMENSION_COUNT]; // of `own`: what leaves its domain
	uint64_t packets, marks, trims, resent;
	uint64_t operations;
	uint64_t fabric_messages, fabric_bytes, scaleup_messages, scaleup_bytes;
	uint64_t digest;
	double wall_s;
};

struct fidelity_all {
	struct fidelity_full full;
	struct fidelity_sample sample;
};

// Builds the world of a step of a call that has been read, and runs nothing. -errno with a reason;
// what was built stands in call->stage, which the caller frees.
int fidelity_full_build(struct call *call);

// Runs all packets of `fidelity->world`. -errno with a reason.
int fidelity_full_packets(struct call *call, struct fidelity_full *fidelity);

// -EINTR with a reason for a step that did not end: it has no time.
int fidelity_check_end(const struct run *ran, struct refusal *refusal);

// fidelity_text.c: writes the step of a call that has been read as SimAI's text, of any size; where
// its packets can be run, within a percent of them. Returns the exit status.
int fidelity_full_text(struct call *call);

// Both run a call that has been read. Return the exit status.
int fidelity_full_run(struct call *call);
int fidelity_all_run(struct call *call);

void fidelity_full_table(const struct call *call, const struct fidelity_full *fidelity);
void fidelity_full_json(FILE *to, const struct call *call, const struct fidelity_full *fidelity);
void fidelity_all_table(const struct call *call, const struct fidelity_all *fidelity);
void fidelity_all_json(FILE *to, const struct call *call, const struct fidelity_all *fidelity);
