// SPDX-License-Identifier: Apache-2.0
// The scale-up domain (NVLink) at the level of whole transfers. Each GPU has one outgoing and one
// incoming line; a transfer starts when both are free and occupies both until its last byte has
// left. Lines serve transfers in the order of the calls: a later call never fills a gap that an
// earlier one left. There are no packets, no switch chip and no loss.

#include <errno.h>

#include <weft/fabric/fabric.h>

int scaleup_init(struct scaleup *scaleup, struct arena *arena, const struct scaleup_config *config,
		 uint32_t gpus)
{
	if (config->rate_bps == 0) {
		*scaleup = (struct scaleup){0};
		return 0;
	}
	if (gpus == 0 || config->delay_ps < 0)
		return -EINVAL;
	ps_t *out_free_at = arena_draw(arena, ARENA_FABRIC, gpus, sizeof *out_free_at);
	ps_t *in_free_at = arena_draw(arena, ARENA_FABRIC, gpus, sizeof *in_free_at);
	if (arena_has_failed(arena))
		return -ENOMEM;
	*scaleup = (struct scaleup){
		.line = line_of(config->rate_bps),
		.delay_ps = config->delay_ps,
		.out_free_at = out_free_at,
		.in_free_at = in_free_at,
	};
	return 0;
}

ps_t scaleup_send(struct scaleup *scaleup, uint32_t from, uint32_t to, uint64_t bytes, ps_t now,
		  ps_t *ret_sent)
{
	check(scaleup->line != 0);
	ps_t free_at = ps_max(scaleup->out_free_at[from], scaleup->in_free_at[to]);
	// Slices may be gigabytes: line_ps() would overflow on a slow line.
	ps_t duration = (ps_t)(((unsigned __int128)bytes * scaleup->line) >> 20);
	ps_t end = ps_max(now, free_at) + duration;
	scaleup->out_free_at[from] = end;
	scaleup->in_free_at[to] = end;
	*ret_sent = end;
	return end + scaleup->delay_ps;
}
