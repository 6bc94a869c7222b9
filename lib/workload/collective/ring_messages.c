// SPDX-License-Identifier: Apache-2.0
// A ring collective of a whole group as messages. See weft/workload/workload_ring.h.

#include <weft/workload/workload_ring.h>

#include <errno.h>

#include "ring.h"
#include "schedule/step_emit.h"

_Static_assert(RING_TAGS == 2 * 64, "a tag for the slices and one for the credits of a channel");

static struct step_ring ring_of(const struct ring_messages *of, uint32_t at)
{
	return (struct step_ring){.group = of->group,
				  .at = at,
				  .kind = of->kind,
				  .bytes = of->bytes,
				  .slice_tag = of->tag,
				  .credit_tag = of->tag + RING_TAGS / 2,
				  .stream = of->stream,
				  .has_data = of->has_data};
}

bool ring_has_whole_elements(const struct ring_config *config, uint64_t bytes,
			     uint32_t element_bytes)
{
	return bytes % ((uint64_t)config->ranks * config->channels * element_bytes) == 0 &&
		config->chunk_bytes_max % element_bytes == 0;
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
	if (arena_has_failed(scratch) || emit.slices_max == 0)
		return refuse(refusal, -ENOMEM, "no memory for a ring of % slices",
			      (int64_t)slices);
	for (ring.at = 0; ring.at < of->group->ranks; ring.at++) {
		emit.rank = of->group->gpus[ring.at];
		after[ring.at] = emit_ring(&emit, &ring, after[ring.at]);
	}
	*ret_ops = emit.size.ops;
	*ret_edges = emit.size.edges;
	return 0;
}

// ---------------------------------------------------------------- alone

// Two operations and up to four dependencies for a slice, and as many for its credit.
static uint64_t ops_max(const struct ring_messages *of)
{
	struct step_ring ring = ring_of(of, 0);
	uint64_t slices = emit_ring_slices(of->config, &ring) * of->config->channels;
	return of->group->ranks * (4 * slices + 1);
}

uint64_t ring_program_bytes(const struct ring_messages *of)
{
	uint64_t ops = ops_max(of) < UINT32_MAX / 4 ? ops_max(of) : UINT32_MAX / 4;
	return program_bytes(of->group->ranks, (uint32_t)ops, 3 * (uint32_t)ops) +
		2 * ring_messages_bytes(of) + of->group->ranks * sizeof(uint32_t) + 4096;
}

int ring_program(struct program **ret, struct arena *arena, const struct ring_messages *of,
		 struct refusal *refusal)
{
	uint32_t ranks = of->group->ranks;
	uint64_t ops, edges;
	uint32_t *after = arena_draw(arena, ARENA_WORKLOAD, ranks, sizeof(*after));
	if (after == NULL)
		return refuse(refusal, -ENOMEM, "no memory for a ring of % ranks", ranks);
	for (uint32_t at = 0; at < ranks; at++)
		after[at] = OP_NONE;
	int rc = ring_messages_put(NULL, arena, of, after, &ops, &edges, refusal);
	if (rc < 0)
		return rc;
	if (ops > INT32_MAX || edges > INT32_MAX)
		return refuse(refusal, -EINVAL, "this ring is % operations: too many",
			      (int64_t)ops);
	for (uint32_t at = 0; at < ranks; at++)
		after[at] = OP_NONE;
	rc = program_create(ret, arena, ranks, (uint32_t)ops, (uint32_t)edges, refusal);
	if (rc == 0)
		rc = ring_messages_put(*ret, arena, of, after, &ops, &edges, refusal);
	return rc < 0 ? rc : program_seal(*ret, arena, refusal);
}
