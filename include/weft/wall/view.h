// SPDX-License-Identifier: Apache-2.0
// A look at a loop while it runs, by another thread: who looks says for what, and the loop writes
// it down in one of its next turns, between which nothing of it may be read. No lock, and no call
// of the system on the loop's side.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/time.h>
#include <weft/host/qps.h>
#include <weft/wall/wall.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VIEW_QPS 48u   // of a page
#define VIEW_EVS 256u  // of a page
#define VIEW_LINES 64u // all there are

enum view_of { VIEW_RUN, VIEW_PLANES, VIEW_QPS_FROM, VIEW_EVS_OF };

struct view_line {	// a port of the host
	uint64_t bytes; // of data that its plane carried
	uint64_t waiting;
	bool is_down;
};

struct view {
	uint32_t of, first, qp; // asked for: enum view_of; a page's first one; VIEW_EVS_OF: of QP
	ps_t at;
	struct wall_work work;
	struct wall_counts counts; // but for its histograms
	uint64_t data_packets, data_resent, data_bytes;
	int64_t turn_ns[3], message_ns[3]; // p50, p99, p99.9; messages: post to completion
	uint64_t messages;
	uint32_t count, total; // rows here, and in all
	union {
		struct view_line lines[VIEW_LINES];
		struct host_qp qps[VIEW_QPS];
		struct host_ev evs[VIEW_EVS];
	};
};

enum viewer_state { VIEWER_IDLE, VIEWER_ASKS, VIEWER_TOLD };

struct viewer {
	uint32_t state; // enum viewer_state
	struct view view;
};

// Asks, and waits for at most `wait_ms`. False: the loop did not look.
bool viewer_ask(struct viewer *viewer, enum view_of of, uint32_t first, uint32_t qp,
		uint32_t wait_ms);

#ifdef __cplusplus
}
#endif
