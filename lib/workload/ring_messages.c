// SPDX-License-Identifier: Apache-2.0
// A ring collective of a whole group as messages. See weft/workload_ring.h.

#include <weft/workload_ring.h>

#include <errno.h>

#include "ring.h"
#include "step_emit.h"

_Static_assert(RING_TAGS == 2 * 64, "a tag for the slices and one for the credits of a channel");

static struct step_ring ring_of(const struct ring_messages *of, uint32_t at)
{
	return (struct step_ring){.group = of->group,
				  .at = at,
				  .kind = of->kind,
				  .bytes = of->bytes,
				  .slice_tag = of->tag,
				  .credit_tag = of->tag + RING_TAGS / 2,
				  .stream = of->stream};
}

uint64_t ring_messages_bytes(const struct ring_messages *of)
{
	struct step_ring ring = ring_of(of, 0);
	return 3 * (emit_ring_slices(of->config, &ring) * sizeof(uint32_t) + 64);
}

int ring_check(const struct ring_config *config, uint64_t bytes, struct refusal *refusal)
{
	int rc = ring_config_check(config, refusal);
	return rc < 0 ? rc : ring_bytes_check(config, bytes, refusal);
}

int ring_messages_put(struct program *program, struct arena *scratch,
		      const struct ring_messages *of, uint32_t *after, uint64_t *ret_ops,
		      uint64_t *ret_edges, struct refusal *refusal)
{
	struct step_ring ring = ring_of(of, 0);
	struct step_emit emit = {.ring = of->config, .program = program};
	struct ring_config config = *of->config;
	config.ranks = of->group->ranks;
	int rc = ring_check(&config, of->bytes, refusal);
	if (rc < 0)
		return rc;
	uint64_t slices = emit_ring_slices(of->config, &ring);
	emit.slices_max = slices > UINT32_MAX / 2 ? 0 : (uint32_t)slices;
	emit.sends = arena_draw(scratch, ARENA_WORKLOAD, slices, sizeof(uint32_t));
	emit.receives = arena_draw(scratch, ARENA_WORKLOAD, slices, sizeof(uint32_t));
	emit.credits = arena_draw(scratch, ARENA_WORKLOAD, slices, sizeof(uint32_t));
	if (emit.slices_max == 0 || emit.sends == NULL || emit.receives == NULL ||
	    emit.credits == NULL)
		return refuse(refusal, -ENOMEM, "no memory for a ring of % slices", (int64_t)slices,
			      0, 0);
	for (ring.at = 0; ring.at < of->group->ranks; ring.at++) {
		emit.rank = of->group->gpus[ring.at];
		after[ring.at] = emit_ring(&emit, &ring, after[ring.at]);
	}
	*ret_ops = emit.size.ops;
	*ret_edges = emit.size.edges;
	return 0;
}
