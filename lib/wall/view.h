// SPDX-License-Identifier: Apache-2.0
// The loop's side of a look: see <weft/wall/view.h>.
#pragma once

#include <weft/wall/view.h>

struct wall;

// Writes down what is asked for.
void view_fill(struct wall *wall, ps_t now, struct view *view);

// Answers at the end of a turn, if anybody asks.
static inline void view_serve(struct wall *wall, ps_t now, struct viewer *viewer)
{
	if (viewer == NULL || __atomic_load_n(&viewer->state, __ATOMIC_ACQUIRE) != VIEWER_ASKS)
		return;
	view_fill(wall, now, &viewer->view);
	__atomic_store_n(&viewer->state, VIEWER_TOLD, __ATOMIC_RELEASE);
}
