// SPDX-License-Identifier: Apache-2.0
// All-to-all with split sizes: what each rank sends to each other one.
#pragma once

#include "expand.h"
#include "set.h"

// Takes the split sizes of the node that was added last: `text` is "[1, 0, 3]", its rows for each
// member in turn, `elements` what all of them have, of so many bytes each; NULL or "[]": all are
// equal. -EINVAL when the list is cut, has other than `count` rows, or does not divide the
// elements; -ENOMEM.
int split_take(struct trace_input *input, const char *text, uint32_t count, uint64_t elements,
	       uint32_t element_bytes);

// The same of what the node receives, which is checked alone: a list that says nothing is left out.
// -ENOMEM.
int split_take_received(struct trace_input *input, const char *text, uint32_t count,
			uint64_t elements, uint32_t element_bytes);

// -EINVAL where a member receives another number of bytes than are sent to it.
int split_check(const struct expand *expand, const struct instance *instance);

// Whether members do not send the same to everyone, themselves included.
bool split_is_uneven(const struct expand *expand, const struct instance *instance);

struct split_place {
	struct program *program; // NULL: count only
	uint32_t *after;	 // [members] as coll_place has it
	uint32_t tag;
	uint16_t stream;
};

// Adds the messages of an uneven all-to-all, cut over channels and chunks as an even one's are, and
// their number to `ops` and `edges`. -EINVAL where one file stands for all ranks.
int split_put(const struct expand *expand, const struct instance *instance,
	      const struct coll_config *config, const struct split_place *place, uint64_t *ops,
	      uint64_t *edges);
