// SPDX-License-Identifier: Apache-2.0
// The progress bar: the run in hand with its time left, and which size it is of how many. On a
// terminal only.

#include <weft/run/outcome.h>

#include "coll.h"

bool bar_show(void *context, const struct world *world, const struct run *so_far)
{
	const struct bar *bar = context;
	progress_show((void *)&bar->progress, world, so_far);
	if (bar->progress.is_on)
		outcome_bar("size %u of %u\033[K", bar->call->size_index, bar->call->size_count);
	return true;
}
