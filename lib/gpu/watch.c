// SPDX-License-Identifier: Apache-2.0
// See watch.h.

#include "watch.h"

#include <errno.h>
#include <stdio.h>

#define BEAT_NS INT64_C(50000000)
#define NS_PER_S INT64_C(1000000000)

static int refuse_lost(const struct gpu_link *link, const char *why, struct refusal *refusal)
{
	return refuse_file(refusal, -ECONNRESET, link->path, why);
}

// The run may have ended well, and gone, before this is asked; what is open then is never asked
// for.
static const char *run_lost(struct gpu_watch *watch, int64_t now_ns)
{
	const struct gpu_link *link = watch->link;
	enum gpu_host_state state = gpu_link_host_state(link);
	enum gpu_peer peer = gpu_link_host_is(link, now_ns);
	const char *wrong = gpu_link_wrong(link);
	if (wrong != NULL)
		return wrong;
	if (state == GPU_HOST_FAILED)
		return "the run has failed";
	if (state == GPU_HOST_DONE && watch->done_ns == 0)
		watch->done_ns = now_ns;
	if (state == GPU_HOST_DONE && now_ns > watch->done_ns + GPU_SILENT_NS)
		return "the run says that it is done, but it has not asked for everything";
	if (state == GPU_HOST_DONE || peer == GPU_PEER_HERE)
		return NULL;
	return peer == GPU_PEER_GONE ? "the run is gone: its process has ended"
				     : "the run is silent: it lives, but does not move";
}

int gpu_watch_look(struct gpu_watch *watch, struct refusal *refusal)
{
	const struct gpu_link *link = watch->link;
	int64_t now_ns = gpu_clock_ns();
	if (watch->options->stop != NULL && *watch->options->stop != 0)
		return refuse(refusal, -EINTR, "interrupted");
	if (now_ns < watch->beat_ns + BEAT_NS)
		return 0;
	watch->beat_ns = now_ns;
	for (uint32_t i = 0; i < watch->options->rank_count; i++)
		gpu_link_beat_rank(watch->link, watch->options->ranks[i], now_ns);
	const char *lost = run_lost(watch, now_ns);
	if (lost != NULL)
		return refuse_lost(link, lost, refusal);
	if (now_ns - link->opened_ns < link->header->limit_s * NS_PER_S + GPU_SILENT_NS)
		return 0;
	refuse_lost(link, "", refusal);
	return refuse(refusal, -ECONNRESET,
		      "the run has not ended within % s, which is as long as it said that it takes",
		      link->header->limit_s);
}
