// SPDX-License-Identifier: Apache-2.0
// The progress bar.

#include <weft/run/progress.h>

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <weft/files/clock.h>
#include <weft/run/outcome.h>

#define BAR_CELLS 30
#define LONG_S 60 // so long somebody may rather have less

static uint64_t packets_expected(const struct world *world)
{
	uint64_t packets = world->plan.packets, payload = world->transport.payload_bytes;
	for (uint32_t i = 0; i < world->flow_count; i++)
		packets += (world->flows[i].bytes + payload - 1) /
			payload; // shares end in a few more
	return packets;
}

void progress_start(struct progress *progress, const struct world *world, bool is_quiet)
{
	progress->is_on = !is_quiet && isatty(STDERR_FILENO);
	progress->start_s = clock_s(CLOCK_MONOTONIC);
	progress->packets_expected = packets_expected(world);
}

// Of a program packets are not known before: what of its work is done.
static double share_done(const struct progress *progress, const struct world *world,
			 const struct run *so_far)
{
	uint64_t packets = so_far->data_delivered, of = progress->packets_expected;
	if (world->skipped != NULL)
		packets += world->skipped->packets;
	if (world->program != NULL || world->coll_stream != NULL) {
		packets = world_work_done(world);
		of = world->work_total;
	}
	return of == 0 ? 0 : packets > of ? 1 : (double)packets / (double)of;
}

bool progress_show(void *context, const struct world *world, const struct run *so_far)
{
	const struct progress *progress = context;
	double spent_s = clock_s(CLOCK_MONOTONIC) - progress->start_s;
	double share = share_done(progress, world, so_far);
	if (!progress->is_on)
		return true;
	char bar[BAR_CELLS + 1];
	for (int i = 0; i < BAR_CELLS; i++)
		bar[i] = i < (int)(share * BAR_CELLS) ? '#' : '.';
	bar[BAR_CELLS] = '\0';
	outcome_bar("\r[%s] %3.0f %%  %.3f ms simulated  %.2f M packets/s  ", bar, share * 100,
		    (double)(so_far->now_ps + world_skipped_ps(world)) / 1e9,
		    (double)so_far->data_delivered / spent_s / 1e6);
	double left_s = share > 0.01 ? spent_s * (1 - share) / share : 0;
	if (left_s > 0)
		outcome_bar("%.0f s left%s   ", left_s,
			    progress->instead != NULL && left_s > LONG_S ? progress->instead : "");
	return true;
}

void progress_end(const struct progress *progress)
{
	if (progress->is_on)
		outcome_bar("\r\033[K");
}
