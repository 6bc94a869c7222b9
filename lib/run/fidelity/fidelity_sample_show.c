// SPDX-License-Identifier: Apache-2.0
// A step with collectives of packets as a table.

#include <inttypes.h>

#include <weft/run/fidelity_sample.h>

// What of activations ran, and what did not.
static void print_tensor(const struct fidelity_sample *fidelity)
{
	const struct sampled_tensor *tensor = &fidelity->run.tensor;
	if (tensor->closed_ps > 0)
		printf("  A tensor message of %.3f MB: %.3f ms by packets +- %.3f, %.3f in closed "
		       "form (%+.2f %%);\n    %" PRIu64 " of %" PRIu64 " ring steps, 1 of %" PRIu32
		       " groups, %" PRIu64 " data packets\n",
		       (double)tensor->bytes / 1e6, fidelity_ms(tensor->time_ps),
		       fidelity_ms(tensor->error_ps), fidelity_ms(tensor->closed_ps),
		       fidelity_percent(tensor->time_ps - tensor->closed_ps, tensor->closed_ps),
		       tensor->steps, tensor->steps_all, tensor->groups_all, tensor->packets);
	for (uint32_t i = 0; i < DIMENSION_COUNT; i++)
		if (i != DIMENSION_TP && fidelity->world.off_domain[i].is_off_domain)
			printf("  Messages of %s did not run: closed form\n",
			       dimension_name((enum dimension)i));
}

void fidelity_print_unsampled(const struct sampled_run *run)
{
	if (run->stages_more_ps > 0)
		printf("      up to %.3f more: messages between stages share a NIC with "
		       "reduces and gathers\n",
		       fidelity_ms(run->stages_more_ps));
	if (run->stages_less_ps > 0)
		printf("      up to %.3f less: their latency is this fabric's, not %.0f us\n",
		       fidelity_ms(run->stages_less_ps),
		       (double)run->world.setup.dense.network_ps / PS_PER_US);
	if (run->stages_more_ps > fidelity_exposed(&run->times) / 4 - run->error_ps)
		printf("      that is above 25 %%: --fidelity full runs every packet\n");
}

static void print_step(const struct fidelity_sample *fidelity)
{
	const struct step_exposed *times = &fidelity->run.times;
	ps_t step = times->with.step_ps, exposed = fidelity_exposed(times);
	printf("  step                    %10.3f ms\n", fidelity_ms(step));
	printf("    pipeline              %10.3f ms\n", fidelity_ms(times->without.backward_ps));
	printf("    exposed communication %10.3f ms  +- %.3f, %.2f %%: head %.3f, tail %.3f\n",
	       fidelity_ms(exposed), fidelity_ms(fidelity->run.error_ps),
	       fidelity_percent(exposed, step), fidelity_ms(times->head_ps),
	       fidelity_ms(times->tail_ps));
	printf("      of that ring steps that did not run +- %.3f, other stages and groups at the "
	       "same time +- %.3f\n",
	       fidelity_ms(fidelity->run.steps_ps), fidelity_ms(fidelity->run.schedule_ps));
	fidelity_print_unsampled(&fidelity->run);
	fidelity_print_culprits(fidelity->longer_ps, step);
	printf("    other                 %10.3f ms\n\n",
	       fidelity_ms(fidelity->world.plan.timing.other_ps));
}

static void print_collective(const struct sampled *row)
{
	printf("  %-14s %9.3f %5" PRIu32 " %9.3f %9.3f",
	       row->of.is_gather	? "all_gather"
		       : row->of.is_all ? "all_reduce"
					: "reduce",
	       (double)row->of.bytes / 1e6, row->of.count, fidelity_ms(row->closed_ps),
	       fidelity_ms(row->of.time_ps));
	printf(" %+8.2f%%", fidelity_percent(row->of.time_ps - row->closed_ps, row->closed_ps));
	if (row->is_run)
		printf("  +- %.3f, %" PRIu64 " of %" PRIu64 " ring steps, group %" PRIu32 "\n",
		       fidelity_ms(row->error_ps), row->steps, row->steps_all, row->group);
	else
		printf("  not run: the step does not wait for it\n");
}

static void print_collectives(const struct sampled_run *run)
{
	printf("  %-14s %9s %5s %9s %9s %9s\n", "collective", "MB", "times", "closed ms", "packets",
	       "change");
	for (uint32_t i = 0; i < run->count; i++)
		print_collective(&run->rows[i]);
	printf("  What did not run is taken to be %+.2f %% longer, as those that did; were it a "
	       "tenth longer still,\n  the step would be %+.3f ms\n",
	       (double)run->longer_ppb / 1e7, fidelity_ms(run->others_ps));
}

static void print_sample(const struct call *call, const struct sampled_run *run)
{
	printf("\n  Sampled: %" PRIu32 " of %" PRIu32
	       " groups, %.1f million data packets in %.1f s",
	       run->groups, run->groups_all, (double)run->packets / 1e6, run->wall_s);
	if (run->trunks_kept < run->trunks_of)
		printf("; %" PRIu32 " of %" PRIu32
		       " trunks kept, so that the load of the other groups is on them",
		       run->trunks_kept, run->trunks_of);
	printf("\n  %" PRIu64 " marks, %" PRIu64 " trims, %" PRIu64
	       " retransmissions; steps after the first %" PRIu32 " were measured\n",
	       run->marks, run->trims, run->resent, call->scenario.sample.fill);
}

static void print_term(const char *what, ps_t before, ps_t after)
{
	printf("    %-58s %+9.3f\n", what, fidelity_ms(after - before));
}

static void print_ideal(const struct fidelity_sample *fidelity)
{
	const struct sampled_terms *terms = &fidelity->terms;
	ps_t ideal = fidelity_exposed(&fidelity->ideal.times);
	printf("\n  Ideal fabric: exposed %.3f ms +- %.3f by packets, %+.2f %% off --fidelity "
	       "model\n",
	       fidelity_ms(ideal), fidelity_ms(fidelity->ideal.error_ps),
	       fidelity_percent(ideal - terms->closed_ps, terms->closed_ps));
	for (const char *const *line = fidelity_ideal_text; *line != NULL; line++)
		printf("    - %s\n", *line);
}

void fidelity_sample_print_terms(const struct fidelity_sample *fidelity)
{
	const struct sampled_terms *terms = &fidelity->terms;
	ps_t exposed = fidelity_exposed(&fidelity->run.times), quiet = fidelity->run.quiet_ps,
	     before = terms->sack_ps;
	if (fidelity->has_ideal)
		before += terms->ideal_ps - terms->credit_ps;
	printf("\n  Exposed, from the closed form to the packets (ms)\n");
	printf("    %-58s %9.3f\n", "closed forms at the line rate", fidelity_ms(terms->closed_ps));
	print_term("a slice's latency is that of this fabric, not 9 us", terms->closed_ps,
		   terms->latency_ps);
	print_term("slices wait for credits, a way there and back", terms->latency_ps,
		   terms->credit_ps);
	if (fidelity->has_ideal)
		print_term("filling the ring, whole packets (ideal fabric)", terms->credit_ps,
			   terms->ideal_ps);
	print_term("headers are on the line, too", terms->credit_ps, terms->header_ps);
	print_term("and SACKs", terms->header_ps, terms->sack_ps);
	print_term(fidelity->has_ideal ? "queues, marks, windows, thinned trunks"
				       : "filling, queues, marks, windows, thinned trunks",
		   before, quiet);
	if (fidelity->run.tensor.closed_ps > 0)
		print_term("messages of tensor ranks, which have all of this, too", quiet, exposed);
	printf("    %-58s %9.3f +- %.3f\n", "packets", fidelity_ms(exposed),
	       fidelity_ms(fidelity->run.error_ps));
	if (fidelity->has_ideal)
		print_ideal(fidelity);
}

void fidelity_sample_table(const struct call *call, const struct fidelity_sample *fidelity)
{
	printf("%s: one step from its schedule, with collectives by packets\n",
	       call->scenario.name);
	fidelity_print_job(&fidelity->world);
	print_step(fidelity);
	if (call->options.is_quiet)
		return;
	print_collectives(&fidelity->run);
	print_tensor(fidelity);
	print_sample(call, &fidelity->run);
	fidelity_sample_print_terms(fidelity);
	fidelity_print_steps(&fidelity->steps);
	fidelity_print_inputs(call, &fidelity->world.plan);
}
