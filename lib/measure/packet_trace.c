// SPDX-License-Identifier: Apache-2.0
// See measure_packet_trace.h.

#include <weft/measure/measure_packet_trace.h>

#include <errno.h>

int packet_trace_init(struct packet_trace *packet_trace, struct arena *arena, uint32_t max)
{
	*packet_trace = (struct packet_trace){.max = max};
	packet_trace->steps = arena_draw(arena, ARENA_MEASURE, max, sizeof(*packet_trace->steps));
	return packet_trace->steps == NULL ? -ENOMEM : 0;
}

void packet_trace_add(struct packet_trace *packet_trace, const struct packet_trace_step *step)
{
	if (packet_trace->count == packet_trace->max)
		packet_trace->missed++;
	else
		packet_trace->steps[packet_trace->count++] = *step;
}
