// SPDX-License-Identifier: Apache-2.0
// See watch.h.

#include "watch.h"

#include <errno.h>
#include <stdio.h>

#define BEAT_NS INT64_C(50000000)

static int refuse_lost(const struct gpu_link *link, enum gpu_peer peer, struct refusal *refusal)
{
	snprintf(refusal->file, sizeof(refusal->file), "%.*s", (int)sizeof(refusal->file) - 1,
		 link->path);
	const char *why = peer == GPU_PEER_GONE ? "the run is gone: its process has ended"
		: peer == GPU_PEER_SILENT	? "the run is silent: it lives, but does not move"
						: "the run has failed";
	return refuse(refusal, -ECONNRESET, why, 0, 0, 0);
}

// The run may have ended well, and gone, before this is asked.
int gpu_watch_look(struct gpu_watch *watch, struct refusal *refusal)
{
	int64_t now_ns = gpu_clock_ns();
	if (watch->options->stop != NULL && *watch->options->stop != 0)
		return refuse(refusal, -EINTR, "interrupted", 0, 0, 0);
	if (now_ns < watch->beat_ns + BEAT_NS)
		return 0;
	watch->beat_ns = now_ns;
	for (uint32_t i = 0; i < watch->options->rank_count; i++)
		gpu_link_beat_rank(watch->link, watch->options->ranks[i], now_ns);
	enum gpu_host_state state = gpu_link_host_state(watch->link);
	enum gpu_peer peer = gpu_link_host_is(watch->link, now_ns);
	if (state == GPU_HOST_FAILED)
		return refuse_lost(watch->link, GPU_PEER_HERE, refusal);
	if (peer != GPU_PEER_HERE && state != GPU_HOST_DONE)
		return refuse_lost(watch->link, peer, refusal);
	return 0;
}
