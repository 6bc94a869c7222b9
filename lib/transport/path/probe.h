// SPDX-License-Identifier: Apache-2.0
// Probes: packets without data that ask whether an EV still leads to the peer. They go over EVs
// that are held bad, and over any EV of a QP that only receives. What an answer means for an EV is
// in path.c.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/machine.h>
#include <weft/core/time.h>

#define PROBES_OUT 8u // of a QP, at once; a power of two

struct endpoint;
struct packet;
struct qp;

struct probe {
	ps_t sent_at;
	uint16_t id;	  // 0 = not out
	uint16_t lost_id; // the last that was out here and was given up, 0 = none
	uint16_t ev_index;
	bool is_idle; // nothing was known against the EV
};

struct probe_set {
	struct probe out[PROBES_OUT];
	uint64_t rcvd_bytes; // of the QP, when the timer was set
	uint32_t psn_next;   // the same
	uint32_t from;	     // EV that path_due() looks at next
	uint16_t sequence;
	uint8_t out_count;
	bool has_repeat; // a packet came again since the timer rang
};

// Makes sure that the timer runs of a QP that has EVs to be probed, now that it has work.
void probe_wake(struct endpoint *endpoint, struct qp *qp, ps_t now);

// The same for a QP that has received data and has none of its own to send.
void probe_wake_idle(struct endpoint *endpoint, struct qp *qp, ps_t now);

// A QP failed: it waits for no answer and probes no more.
void probe_end(struct endpoint *endpoint, struct qp *qp);

// The QP's probe timer rang.
void probe_on_time(struct endpoint *endpoint, struct qp *qp, ps_t now, struct outbox *out);

// Sends a probe over any EV that is not known to be bad. Its number, or 0 when none could leave.
uint16_t probe_ask(struct endpoint *endpoint, struct qp *qp, ps_t now, struct outbox *out);

// A packet over EV number `index` was lost, or is to be avoided for good: counts, and has it
// probed.
void probe_lose(struct endpoint *endpoint, struct qp *qp, uint32_t index, ps_t now);
void probe_retire(struct endpoint *endpoint, struct qp *qp, uint32_t index, ps_t now);

// A SACK that says to answer a probe: false when no such probe is out, or was before it was given
// up. `ret_rtt` is the round trip, -1 when the answer is late or its time stamp too old to tell.
// The EV of one that is not late is judged.
bool probe_answered(struct endpoint *endpoint, struct qp *qp, const struct packet *sack, ps_t now,
		    ps_t *ret_rtt);
