// SPDX-License-Identifier: Apache-2.0
// Triggers that start flows at other hosts: what was fired here, for them, and there, for this one.
// The loop and the watch of a meeting (meeting_watch()) hand them to each other without a lock: one
// of them writes a list, the other one reads it, and there is room for all of a run.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/machine.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fired_list {
	struct signal *list; // [capacity]
	uint32_t capacity;
	uint32_t count; // by who writes
	uint32_t taken; // by who reads
};

struct fired {
	struct fired_list out, in;	 // written by the loop; by the watch
	uint32_t hosts, triggers, flows; // of the world
	bool is_rung;			 // the watch was called, and has not looked since
	void (*ring)(void *context);	 // calls it; NULL: nobody has to be called
	void *context;
};

// False: there is no room for it.
bool fired_put(struct fired_list *list, const struct signal *signal);

// The next one; false: there is none.
bool fired_take(struct fired_list *list, struct signal *ret);

// Whether host `from` can have said this.
bool fired_fits(const struct fired *fired, const struct signal *signal, uint32_t from);

#ifdef __cplusplus
}
#endif
