// SPDX-License-Identifier: Apache-2.0
// NCCL's ring as messages, for those who have no machine for it (GOAL): its slices, and the credits
// of 64 bytes that let them go, as sends and receives that wait for each other. What workload.h's
// ring does event by event is written down before: run over one channel between two NICs, both end
// at the same time. Several channels between two NICs share their connection here.
#pragma once

#include <weft/workload/program.h>
#include <weft/workload/workload.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RING_TAGS 128u // slices of up to 64 channels, then their credits

struct ring_messages {
	const struct ring_config *config; // its `ranks` is not looked at: the group says
	const struct group *group;	  // gpus: ranks of the program
	enum collective_kind kind;
	uint64_t bytes;
	uint32_t tag;	 // takes [tag, tag + RING_TAGS)
	uint16_t stream; // of the operations of no time
	// Messages say where their bytes lie, as weft/workload/coll.h's do: block r of rank r,
	// blocks of equal size, ranks counted within the group; credits lie behind the last.
	bool has_data;
};

// Whether blocks, and channels' parts of them, are whole elements, so that sums are right.
bool ring_has_whole_elements(const struct ring_config *config, uint64_t bytes,
			     uint32_t element_bytes);

// -EINVAL with a reason when a ring of `config` cannot carry a collective of `bytes`.
int ring_check(const struct ring_config *config, uint64_t bytes, struct refusal *refusal);

// Bytes of scratch that ring_messages_put() draws.
uint64_t ring_messages_bytes(const struct ring_messages *of);

// Adds the messages of all members to a program that has the room; NULL: counts them. The counts
// are in *ret_ops and *ret_edges. after[] is, of each member, an operation that its part waits for;
// and then one that ends with its part. -EINVAL with a reason: what ring_create() or a bucket's
// size refuses; -ENOMEM.
int ring_messages_put(struct program *program, struct arena *scratch,
		      const struct ring_messages *of, uint32_t *after, uint64_t *ret_ops,
		      uint64_t *ret_edges, struct refusal *refusal);

// A sealed program of the ring of one group over ranks 0 to N - 1, with data. -EINVAL with a
// reason, -ENOMEM.
int ring_program(struct program **ret, struct arena *arena, const struct ring_messages *of,
		 struct refusal *refusal);

// Bytes that ring_program() draws, roughly from above.
uint64_t ring_program_bytes(const struct ring_messages *of);

#ifdef __cplusplus
}
#endif
