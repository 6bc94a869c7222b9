// SPDX-License-Identifier: Apache-2.0
// Goodput as a table, and the lists of facts.

#include <inttypes.h>
#include <math.h>

#include "goodput.h"
#include <weft/result/figures.h>
#include <weft/run/folder.h>

const char *origin_word(enum origin origin)
{
	static const char *const names[] = {"fact", "derived", "assumed"};
	return names[origin];
}

// A time as people say it, in `ret`.
static const char *time_text(char ret[24], double time_s)
{
	if (!isfinite(time_s))
		snprintf(ret, 24, "never");
	else if (time_s < 100)
		snprintf(ret, 24, "%.1f s", time_s);
	else if (time_s < 100 * 60)
		snprintf(ret, 24, "%.1f min", time_s / 60);
	else if (time_s < 100 * 3600)
		snprintf(ret, 24, "%.1f h", time_s / 3600);
	else
		snprintf(ret, 24, "%.1f d", time_s / 86400);
	return ret;
}

// ---------------------------------------------------------------- the job

static void print_step(FILE *to, const struct call *call)
{
	if (call->has_slow)
		fprintf(to, "  step         with a cable or switch down %+.2f %%, as given\n",
			call->numbers.slow_ppu * 100);
	else if (isnan(call->slow))
		fprintf(to, "  step         %.3f ms (%s), NICs of one port: no cable is survived\n",
			call->step_s * 1e3, origin_name(call->timing.rests_on));
	else
		fprintf(to,
			"  step         %.3f ms (%s), with a cable or switch down %.3f ms (%+.2f "
			"%%)\n",
			call->step_s * 1e3, origin_name(call->timing.rests_on),
			call->slow_step_s * 1e3, (call->slow_step_s / call->step_s - 1) * 100);
}

static void print_job(FILE *to, const struct call *call)
{
	const struct numbers *numbers = &call->numbers;
	char a[24], b[24], c[24];
	fprintf(to,
		"%s: goodput of %g days on %" PRIu32 " GPUs, %" PRIu32
		" runs of each, no packets\n\n",
		call->scenario.name, numbers->days, call->gpus, numbers->runs);
	print_step(to, call);
	fprintf(to, "  checkpoint   %.2f TB, saved in %s, read in %s\n",
		call->checkpoint_bytes / 1e12, time_text(a, numbers->save_s),
		time_text(b, numbers->load_s));
	fprintf(to, "  recovery     %s%s: ends noticed after %s, hangs after %s, restart in %s\n",
		call->recovery->name, call->has_own_recovery ? ", times as given" : "",
		time_text(a, numbers->crash_s), time_text(b, numbers->hang_s),
		time_text(c, numbers->restart_s));
	fprintf(to,
		"  RoCE         gives up after %s (timeout %" PRIu32 ", %" PRIu32 " retries%s)\n",
		time_text(a, call->give_up_s), numbers->ib_timeout, numbers->ib_retry,
		call->give_up_s == numbers->hang_s ? "; found hanging before" : "");
	if (numbers->spares == GOODPUT_ENOUGH_SPARES)
		fputs("  spare hosts  enough\n\n", to);
	else
		fprintf(to, "  spare hosts  %" PRIu32 ", repaired in %s\n\n", numbers->spares,
			time_text(a, numbers->repair_s));
}

// ---------------------------------------------------------------- both fabrics side by side

static void print_times(FILE *to, const char *name, double mrc_s, double roce_s)
{
	char a[24], b[24];
	fprintf(to, "  %-34s %12s %12s\n", name, time_text(a, mrc_s), time_text(b, roce_s));
}

static void print_shares(FILE *to, const char *name, double mrc, double roce)
{
	fprintf(to, "  %-34s %10.3f %% %10.3f %%\n", name, mrc * 100, roce * 100);
}

static void print_sides(FILE *to, const struct call *call)
{
	const struct side *mrc = &call->sides[FABRIC_MRC], *roce = &call->sides[FABRIC_ROCE];
	fprintf(to, "  %-34s %12s %12s\n", "", "mrc", "roce");
	print_times(to, "a failure ends the job every", goodput_mtbf_s(&mrc->setup),
		    goodput_mtbf_s(&roce->setup));
	print_times(to, call->is_auto ? "checkpoint, best of the runs" : "checkpoint, as given",
		    mrc->setup.interval_s, roce->setup.interval_s);
	print_times(to, "  best by Young", mrc->young_s, roce->young_s);
	print_times(to, "  best by Daly", mrc->daly_s, roce->daly_s);
	print_times(to, "  best by the complete form", mrc->closed_interval_s,
		    roce->closed_interval_s);
	print_shares(to, "goodput", mrc->spread.mean, roce->spread.mean);
	print_shares(to, "  of the mean, 95 % within", mrc->spread.half, roce->spread.half);
	print_shares(to, "  worst run", mrc->spread.min, roce->spread.min);
	print_shares(to, "  best run", mrc->spread.max, roce->spread.max);
	if (isnan(mrc->closed))
		fputs("    closed form                      holds with enough spares only\n", to);
	else
		print_shares(to, "  closed form", mrc->closed, roce->closed);
}

static struct goodput_loss sum_of(const struct side *side)
{
	struct goodput_loss sum = {0};
	for (uint32_t i = 0; i < side->setup.count; i++) {
		const struct goodput_loss *loss = &side->losses[i];
		sum.repeated_s += loss->repeated_s;
		sum.notice_s += loss->notice_s;
		sum.wait_s += loss->wait_s;
		sum.restart_s += loss->restart_s;
		sum.slow_s += loss->slow_s;
		sum.stall_s += loss->stall_s;
	}
	return sum;
}

static void print_losses(FILE *to, const struct call *call)
{
	const struct side *sides = call->sides;
	struct goodput_loss mrc = sum_of(&sides[FABRIC_MRC]), roce = sum_of(&sides[FABRIC_ROCE]);
	fputs("\n  where the rest goes\n", to);
	print_shares(to, "  checkpoints", sides[FABRIC_MRC].saves, sides[FABRIC_ROCE].saves);
	print_shares(to, "  work done again", mrc.repeated_s, roce.repeated_s);
	print_shares(to, "  until it is noticed", mrc.notice_s, roce.notice_s);
	print_shares(to, "  waiting for hosts", mrc.wait_s, roce.wait_s);
	print_shares(to, "  restarts", mrc.restart_s, roce.restart_s);
	print_shares(to, "  slower steps", mrc.slow_s, roce.slow_s);
	print_shares(to, "  standing still", mrc.stall_s, roce.stall_s);
}

static void print_component(FILE *to, const struct call *call, uint32_t i)
{
	fprintf(to, "  %-12s %-34s", components[i].name, components[i].text);
	for (int fabric = 0; fabric < FABRIC_COUNT; fabric++) {
		const struct side *side = &call->sides[fabric];
		static const char *const names[] = {"ends", "slows", "stalls"};
		fprintf(to, " %8.1f %6s %8.4f %%", (double)side->events[i] / call->numbers.runs,
			names[side->setup.failures[i].reaction],
			goodput_loss_s(&side->losses[i]) * 100);
	}
	fputc('\n', to);
}

static void print_components(FILE *to, const struct call *call)
{
	fprintf(to,
		"\n  whose it is: failures of a run, what one does to the job, share of the time\n"
		"  %-47s %26s %26s\n",
		"", "mrc", "roce");
	for (uint32_t i = 0; components[i].name != NULL; i++)
		if (job_rate(call, i) > 0)
			print_component(to, call, i);
}

static void print_worth(FILE *to, const struct call *call)
{
	const struct spread_figures *worth = &call->worth.spread;
	fprintf(to,
		"\n  Surviving cables and switches is worth %.3f %% of goodput (95 %%: %.3f to "
		"%.3f), "
		"%.2f of %g days: %s\n",
		worth->mean * 100, (worth->mean - worth->half) * 100,
		(worth->mean + worth->half) * 100, worth->mean * call->numbers.days,
		call->numbers.days,
		call->worth.verdict == SPREAD_DIFFERS ? "more than chance"
						      : spread_verdict_name(call->worth.verdict));
}

static void print_inputs(FILE *to, const struct call *call)
{
	fputs("\n  It rests on\n", to);
	if (!call->has_slow)
		fprintf(to, "    %-10s times of the step: %s\n", origin_name(call->timing.rests_on),
			call->timing.origin);
	fprintf(to, "    %-10s rates: %s\n    %-10s recovery: %s\n",
		origin_word(call->rates->origin), call->rates->source, origin_word(ORIGIN_DERIVED),
		call->recovery->source);
	fprintf(to,
		"    %-10s %" PRIu32 " times the cables of the rates' system with MRC; a cable or "
		"switch is down for %g h\n",
		"assumed", call->numbers.cables, call->numbers.outage_s / 3600);
	for (const struct assumption *at = assumptions; at->text != NULL; at++)
		fprintf(to, "    %-10s %s\n", origin_word(at->origin), at->text);
}

void table_print(FILE *to, const struct call *call)
{
	print_job(to, call);
	print_sides(to, call);
	print_losses(to, call);
	print_components(to, call);
	print_worth(to, call);
	print_inputs(to, call);
}

// ---------------------------------------------------------------- lists

void table_list(FILE *to)
{
	char name[64], text[256];
	fprintf(to, "components: failures per million GPU-days\n");
	for (const struct component *at = components; at->name != NULL; at++) {
		snprintf(name, sizeof(name), "  %-16s %8.2f ", at->name,
			 at->count / FACTS_GPU_DAYS * 1e6);
		snprintf(text, sizeof(text), "%s%s", at->text,
			 at->takes_host ? "" : "; takes no host");
		folder_list_line(to, 28, name, text);
	}
	folder_list_line(to, 1, "", components_source);
	fprintf(to, "\nrates\n");
	for (const struct rates *at = rates_all; at->name != NULL; at++) {
		snprintf(name, sizeof(name), "  %s", at->name);
		folder_list_line(to, 18, name, at->source);
	}
	fprintf(to, "\nrecoveries: an end is noticed, a hang is noticed, restart, in seconds\n");
	for (const struct recovery *at = recoveries; at->name != NULL; at++) {
		snprintf(name, sizeof(name), "  %-16s %5g %5g %5g ", at->name, at->crash_s,
			 at->hang_s, at->restart_s);
		folder_list_line(to, 37, name, at->source);
	}
}
