// SPDX-License-Identifier: Apache-2.0
// A path is an entropy value and the port that it leaves by. Frames carry the value alone: where a
// QP has it on several ports, answers are held against what was sent to know which path they are
// of.
#pragma once

#include "endpoint/endpoint.h"

// The number of the EV with that value on `plane`, PATH_NO_EV when there is none.
uint32_t pair_find(const struct path_set *set, uint32_t ev, uint32_t plane);

// Whether a QP has values that are on several planes.
static inline bool pair_is_asked(const struct qp *qp)
{
	const struct profile *profile = qp->path.shape->profile;
	return __builtin_expect(profile != NULL && profile->has_repeats, 0);
}

// The number of the EV that packet `psn` took, of which an answer tells that came in on `plane`.
// PATH_NO_EV: a value of another QP, or nobody knows which of its planes it was.
uint32_t pair_of(const struct endpoint *endpoint, const struct qp *qp, uint32_t ev, uint32_t psn,
		 uint32_t plane);
