// SPDX-License-Identifier: Apache-2.0
// Frames that wait for a port, in order: what a full port leaves goes first the next time.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/time.h>
#include <weft/ports/port.h>
#include <weft/wall/wall.h>

#define LINE_FRAMES_MAX 4096u // that wait for one port
#define LINE_PROBES 32u	      // that wait for one that is down, to see when it is not

struct line {
	struct wall_port wall_port;
	struct frame *frames; // [LINE_FRAMES_MAX] a ring
	uint32_t head, tail;
	uint64_t bytes; // of those that wait
	ps_t moved_at;	// when the port last took one, or nothing waited
	bool is_down;	// it has taken nothing for too long
};

// Draws the ring. -ENOMEM.
int line_init(struct line *ret, struct arena *arena, const struct wall_port *wall_port);

static inline uint32_t line_count(const struct line *line)
{
	return line->tail - line->head;
}

// Puts a frame behind those that wait; or gives it back, and counts it, where too many do.
void line_put(struct line *line, struct ports *ports, const struct frame *frame,
	      struct wall_counts *counts);

// Lets the port take what it takes at `now`; one that takes nothing for `dead_ps` is down.
void line_flush(struct line *line, struct ports *ports, ps_t now, ps_t dead_ps,
		struct wall_counts *counts);

// Gives back all that waits.
void line_clear(struct line *line, struct ports *ports, struct wall_counts *counts);
