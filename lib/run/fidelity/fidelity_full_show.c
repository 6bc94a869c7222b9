// SPDX-License-Identifier: Apache-2.0
// A step with all of its packets, and the three fidelities side by side.

#include <inttypes.h>

#include "fidelity_full.h"

static void print_head(void)
{
	printf("  %-28s %11s %9s %9s %9s %10s\n", "fidelity", "step ms", "exposed", "head", "tail",
	       "exposed");
}

static void print_row(const char *name, const struct step_exposed *times, ps_t model)
{
	ps_t exposed = fidelity_exposed(times);
	printf("  %-28s %11.3f %9.3f %9.3f %9.3f %+9.2f%%\n", name,
	       fidelity_ms(times->with.step_ps), fidelity_ms(exposed), fidelity_ms(times->head_ps),
	       fidelity_ms(times->tail_ps), fidelity_percent(exposed - model, model));
}

// Closed forms: as --fidelity model has them, and with the sends that packets have.
static void print_models(const struct fidelity_full *fidelity)
{
	char name[40];
	snprintf(name, sizeof(name), "model, sends of %.1f us",
		 (double)fidelity->world.setup.send_ps / PS_PER_US);
	print_row("model", &fidelity->model, fidelity_exposed(&fidelity->own));
	print_row(name, &fidelity->own, fidelity_exposed(&fidelity->own));
	fidelity_print_culprits(fidelity->longer_ps, fidelity->own.with.step_ps);
}

static void print_error(const struct fidelity_full *fidelity)
{
	printf("\n  Model: exposed %.3f ms\n", fidelity_ms(fidelity_exposed(&fidelity->own)));
	fidelity_print_error(&fidelity->bounds, &fidelity->own);
}

static void print_traffic(const struct fidelity_full *fidelity)
{
	printf("\n  Full: %" PRIu64 " operations, %" PRIu64 " data packets in %.1f s; %" PRIu64
	       " marks, %" PRIu64 " trims, %" PRIu64 " retransmissions\n",
	       fidelity->operations, fidelity->packets, fidelity->wall_s, fidelity->marks,
	       fidelity->trims, fidelity->resent);
	printf("    %" PRIu64 " messages of %.3f GB over the fabric, %" PRIu64
	       " of %.3f GB inside domains; digest %016" PRIx64 "\n",
	       fidelity->fabric_messages, (double)fidelity->fabric_bytes / 1e9,
	       fidelity->scaleup_messages, (double)fidelity->scaleup_bytes / 1e9, fidelity->digest);
}

static void print_reasons(void)
{
	printf("\n  The model has closed forms at the line rate and 9 us a slice. The packets have "
	       "headers, SACKs,\n  credits, queues and windows, and the delays of this fabric; a "
	       "rank sends when it comes to it.\n");
}

void fidelity_full_table(const struct call *call, const struct fidelity_full *fidelity)
{
	ps_t model = fidelity_exposed(&fidelity->own);
	printf("%s: one step, every packet of it\n", call->scenario.name);
	fidelity_print_job(&fidelity->world);
	print_head();
	print_models(fidelity);
	print_row("full", &fidelity->times, model);
	if (call->options.is_quiet)
		return;
	print_error(fidelity);
	print_traffic(fidelity);
	print_reasons();
	fidelity_print_inputs(call, &fidelity->world.plan);
}

void fidelity_all_table(const struct call *call, const struct fidelity_all *fidelity)
{
	const struct fidelity_full *full = &fidelity->full;
	const struct sampled_run *sample = &fidelity->sample.run;
	ps_t model = fidelity_exposed(&full->own);
	printf("%s: one step at three fidelities\n", call->scenario.name);
	fidelity_print_job(&full->world);
	print_head();
	print_models(full);
	print_row("sample", &sample->times, model);
	print_row("full", &full->times, model);
	if (call->options.is_quiet)
		return;
	print_error(full);
	printf("\n  Sample: exposed +- %.3f ms; %" PRIu32 " of %" PRIu32 " groups, %" PRIu64
	       " data packets in %.1f s\n",
	       fidelity_ms(sample->error_ps), sample->groups, sample->groups_all, sample->packets,
	       sample->wall_s);
	fidelity_print_unsampled(sample);
	print_traffic(full);
	fidelity_sample_print_terms(&fidelity->sample);
	printf("    %-58s %+9.3f\n", "each rank sends when it comes to it, stages side by side",
	       fidelity_ms(fidelity_exposed(&full->times) - fidelity_exposed(&sample->times)));
	printf("    %-58s %9.3f\n", "all packets", fidelity_ms(fidelity_exposed(&full->times)));
	fidelity_print_inputs(call, &full->world.plan);
}
