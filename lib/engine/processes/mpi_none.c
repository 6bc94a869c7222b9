// SPDX-License-Identifier: Apache-2.0
// Ranks in a program that is not linked with MPI: says so.

#include <errno.h>

#include <weft/engine/ranks.h>

bool ranks_are_built(void)
{
	return false;
}

int ranks_start(struct ranks *ret, struct refusal *refusal)
{
	*ret = (struct ranks){0};
	return refuse(refusal, -ENOTSUP,
		      "% processes were started, but this weft was built without MPI",
		      ranks_launched());
}

void ranks_end(struct ranks *ranks)
{
	(void)ranks;
}
