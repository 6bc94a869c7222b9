// SPDX-License-Identifier: Apache-2.0
// Obeying a pause, and the room that it needs.

#include <weft/fabric/fabric_pause.h>

uint64_t pfc_headroom_bytes(uint64_t rate_bps, ps_t delay_ps, uint32_t mtu_bytes)
{
	const uint64_t bit_ps = 8 * (uint64_t)PS_PER_S;
	unsigned __int128 under_way = (unsigned __int128)rate_bps * (uint64_t)delay_ps;
	uint64_t bytes = (uint64_t)((under_way + bit_ps - 1) / bit_ps);
	return bytes + PAUSE_FRAME_BYTES + 3 * (uint64_t)mtu_bytes;
}

ps_t pause_length_ps(line_t line, uint32_t quanta)
{
	return line_ps(line, (uint64_t)quanta * PAUSE_QUANTUM_BYTES);
}

void pause_take(struct pause *pause, ps_t length_ps, ps_t now)
{
	pause->total_ps += ps_min(now, pause->until) - pause->since;
	pause->since = now;
	pause->until = now + length_ps;
	if (length_ps > 0)
		pause->pauses++;
	else
		pause->resumes++;
}

ps_t pause_total_ps(const struct pause *pause, ps_t now)
{
	return pause->total_ps + ps_max(0, ps_min(now, pause->until) - pause->since);
}
