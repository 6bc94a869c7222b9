// SPDX-License-Identifier: Apache-2.0
// A ladder diagram as SVG inside a page: sender on the left, receiver on the right, the capture
// point between. Time goes down, a rung for each packet, not to scale.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum html_rung_look { HTML_RUNG_PLAIN, HTML_RUNG_ASKS, HTML_RUNG_AGAIN };

// Where a packet was lost: between an end and the capture point.
enum html_rung_lost { HTML_RUNG_ARRIVES, HTML_RUNG_LOST_BEFORE, HTML_RUNG_LOST_BEHIND };

struct html_rung {
	char what[64];	   // above the arrow
	char when[24];	   // beside it, or empty
	uint64_t number;   // of the packet; 0: none was seen
	uint64_t left_out; // packets before it that are not shown
	enum html_rung_look look;
	enum html_rung_lost lost;
	bool is_back; // from the receiver to the sender
};

// For a wide screen, or a narrow one: words have the same size on both.
void html_ladder(FILE *to, const struct html_rung *rungs, uint32_t count, bool is_wide);

#ifdef __cplusplus
}
#endif
