// SPDX-License-Identifier: Apache-2.0
// A step with all of its packets, and the three depths side by side.

#include <inttypes.h>

#include "depth_full.h"

static double ms(ps_t time)
{
	return (double)time / PS_PER_MS;
}

static double percent(ps_t part, ps_t whole)
{
	return whole == 0 ? 0 : (double)part / (double)whole * 100;
}

static void print_head(void)
{
	printf("  %-28s %11s %9s %9s %9s %10s\n", "depth", "step ms", "exposed", "head", "tail",
	       "exposed");
}

static void print_row(const char *name, const struct step_exposed *times, ps_t model)
{
	ps_t exposed = depth_exposed(times);
	printf("  %-28s %11.3f %9.3f %9.3f %9.3f %+9.2f%%\n", name, ms(times->with.step_ps),
	       ms(exposed), ms(times->head_ps), ms(times->tail_ps),
	       percent(exposed - model, model));
}

// Closed forms: as --depth model has them, and with the sends that packets have.
static void print_models(const struct depth_full *depth)
{
	char name[40];
	snprintf(name, sizeof(name), "model, sends of %.1f us",
		 (double)depth->world.setup.send_ps / PS_PER_US);
	print_row("model", &depth->model, depth_exposed(&depth->own));
	print_row(name, &depth->own, depth_exposed(&depth->own));
	depth_print_culprits(depth->longer_ps, depth->own.with.step_ps);
}

static void print_traffic(const struct depth_full *depth)
{
	printf("\n  Full: %" PRIu64 " operations, %" PRIu64 " data packets in %.1f s; %" PRIu64
	       " marks, %" PRIu64 " trims, %" PRIu64 " retransmissions\n",
	       depth->operations, depth->packets, depth->wall_s, depth->marks, depth->trims,
	       depth->resent);
	printf("    %" PRIu64 " messages of %.3f GB over the fabric, %" PRIu64
	       " of %.3f GB inside domains; digest %016" PRIx64 "\n",
	       depth->fabric_messages, (double)depth->fabric_bytes / 1e9, depth->scaleup_messages,
	       (double)depth->scaleup_bytes / 1e9, depth->digest);
}

static void print_reasons(void)
{
	printf("\n  The model has closed forms at the line rate and 9 us a slice. The packets have "
	       "headers, SACKs,\n  credits, queues and windows, and the delays of this fabric; a "
	       "rank sends when it comes to it.\n");
}

void depth_full_table(const struct call *call, const struct depth_full *depth)
{
	ps_t model = depth_exposed(&depth->own);
	printf("%s: one step, every packet of it\n", call->scenario.name);
	depth_print_job(&depth->world);
	print_head();
	print_models(depth);
	print_row("full", &depth->times, model);
	if (call->options.is_quiet)
		return;
	print_traffic(depth);
	print_reasons();
	depth_print_inputs(call, &depth->world.plan);
}

void depth_all_table(const struct call *call, const struct depth_all *depth)
{
	const struct depth_full *full = &depth->full;
	const struct sampled_run *sample = &depth->sample.run;
	ps_t model = depth_exposed(&full->own);
	printf("%s: one step at three depths\n", call->scenario.name);
	depth_print_job(&full->world);
	print_head();
	print_models(full);
	print_row("sample", &sample->times, model);
	print_row("full", &full->times, model);
	if (call->options.is_quiet)
		return;
	printf("\n  Sample: exposed +- %.3f ms; %" PRIu32 " of %" PRIu32 " groups, %" PRIu64
	       " data packets in %.1f s\n",
	       ms(sample->error_ps), sample->groups, sample->groups_all, sample->packets,
	       sample->wall_s);
	print_traffic(full);
	depth_sample_print_terms(&depth->sample);
	printf("    %-58s %+9.3f\n", "each rank sends when it comes to it, stages side by side",
	       ms(depth_exposed(&full->times) - depth_exposed(&sample->times)));
	printf("    %-58s %9.3f\n", "all packets", ms(depth_exposed(&full->times)));
	depth_print_inputs(call, &full->world.plan);
}
