// SPDX-License-Identifier: Apache-2.0
// Frames that wait for a port. See line.h.

#include "line.h"

#include <errno.h>

int line_init(struct line *ret, struct arena *arena, const struct wall_port *wall_port)
{
	*ret = (struct line){.wall_port = *wall_port};
	ret->frames = arena_draw(arena, ARENA_DRIVE, LINE_FRAMES_MAX, sizeof(*ret->frames));
	return ret->frames == NULL ? -ENOMEM : 0;
}

static struct frame *at(struct line *line, uint32_t index)
{
	return &line->frames[index & (LINE_FRAMES_MAX - 1)];
}

void line_put(struct line *line, struct ports *ports, const struct frame *frame,
	      struct wall_counts *counts)
{
	uint32_t max = line->is_down ? LINE_PROBES : LINE_FRAMES_MAX;
	if (line_count(line) >= max) {
		void *owner = frame->owner;
		ports->ops->give(ports, &owner, 1);
		counts->frames_unsent++;
		return;
	}
	*at(line, line->tail++) = *frame;
	line->bytes += frame->length;
	if (line_count(line) > counts->queued_max)
		counts->queued_max = line_count(line);
}

// Hands over those that lie in a row of the ring. Returns how many the port took.
static uint32_t send_row(struct line *line, struct ports *ports)
{
	uint32_t first = line->head & (LINE_FRAMES_MAX - 1), count = line_count(line);
	if (count > LINE_FRAMES_MAX - first)
		count = LINE_FRAMES_MAX - first;
	if (count > PORT_BURST)
		count = PORT_BURST;
	uint32_t sent = ports->ops->send(ports, line->wall_port.tx_queue, at(line, line->head),
					 count);
	for (uint32_t i = 0; i < sent; i++)
		line->bytes -= at(line, line->head + i)->length;
	line->head += sent;
	return sent;
}

// Gives back what came last, but for `left` frames.
static void cut(struct line *line, uint32_t left, struct ports *ports, struct wall_counts *counts)
{
	for (; line_count(line) > left; counts->frames_unsent++) {
		const struct frame *last = at(line, --line->tail);
		line->bytes -= last->length;
		ports->ops->give(ports, &at(line, line->tail)->owner, 1);
	}
}

void line_flush(struct line *line, struct ports *ports, ps_t now, ps_t dead_ps,
		struct wall_counts *counts)
{
	uint32_t moved = 0;
	while (line_count(line) > 0) {
		uint32_t sent = send_row(line, ports);
		moved += sent;
		if (sent == 0)
			break;
	}
	counts->frames_sent += moved;
	if (moved > 0 || line_count(line) == 0) {
		line->moved_at = now;
		line->is_down = line->is_down && moved == 0;
	}
	if (line_count(line) == 0)
		return;
	counts->frames_refused++;
	if (!line->is_down && now - line->moved_at > dead_ps) {
		line->is_down = true;
		cut(line, LINE_PROBES, ports, counts);
	}
}

void line_clear(struct line *line, struct ports *ports, struct wall_counts *counts)
{
	cut(line, 0, ports, counts);
}
