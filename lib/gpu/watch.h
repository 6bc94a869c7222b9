// SPDX-License-Identifier: Apache-2.0
// What a generator does every now and then: it shows that it lives, and looks whether the run does.
#pragma once

#include <weft/gpu/gpu_generator.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gpu_watch {
	struct gpu_link *link;
	const struct gpu_generator_options *options;
	int64_t beat_ns;
	int64_t done_ns; // when the run was first seen to be done; 0: it was not
};

// -EINTR when it is to stop, -ECONNRESET when the run is lost; with a reason. Cheap: most calls
// read a clock.
int gpu_watch_look(struct gpu_watch *watch, struct refusal *refusal);

#ifdef __cplusplus
}
#endif
