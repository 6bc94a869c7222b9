// SPDX-License-Identifier: Apache-2.0
// A plan in one screen.

#include <inttypes.h>
#include <string.h>

#include "plan.h"
#include <weft/result/figures.h>

#define SCREEN_COLUMNS 96 // of a line, behind its indent

static double giga(uint64_t value)
{
	return (double)value / 1e9;
}

static void print_time(FILE *to, ps_t time)
{
	if (time >= PS_PER_S)
		fprintf(to, "%10.3f s", (double)time / PS_PER_S);
	else
		fprintf(to, "%9.3f ms", (double)time / PS_PER_MS);
}

static void print_head(FILE *to, const struct call *call)
{
	const struct plan *plan = &call->edit.plan;
	uint32_t domain = call->gpu_layout.gpus_per_domain, ranks = plan_ranks(plan);
	fprintf(to, "%s: %" PRIu32 " ranks%s%s, %" PRIu32 " in a domain of %" PRIu32 " GPUs\n",
		plan->name, ranks, plan->site.device != NULL ? " on " : "",
		plan->site.device != NULL ? plan->site.device->name : "",
		ranks < domain ? ranks : domain, domain);
	fprintf(to, "  %s, %.3f B parameters in %" PRIu32 " layers\n", plan->architecture->name,
		giga(architecture_params(plan->architecture)), plan->architecture->layers);
	plan_print_cut(to, plan);
	fprintf(to, "; order ");
	for (uint32_t i = 0; i < call->order.count; i++)
		fprintf(to, "%s%s", i == 0 ? "" : "-",
			dimension_name((enum dimension)call->order.at[i]));
	fputc('\n', to);
}

// ---------------------------------------------------------------- memory

static void print_memory(FILE *to, const struct plan *plan)
{
	struct plan_memory memory;
	uint64_t room = plan->site.memory_bytes;
	plan_memory_most(plan, &memory);
	uint64_t sum = plan_memory_sum(&memory);
	fprintf(to, "\nMemory of the fullest rank: %.1f GB", giga(sum));
	if (room == 0)
		fprintf(to, "; whether it fits: times.device or domain.memory would say");
	else if (sum <= room)
		fprintf(to, " of %.1f GB: it fits", giga(room));
	else
		fprintf(to, " of %.1f GB: it does not fit, %.1f GB are missing", giga(room),
			giga(sum - room));
	fprintf(to,
		"\n  parameters %.1f, gradients %.1f, optimizer %.1f, gathered units %.1f, "
		"activations %.1f GB\n",
		giga(memory.params), giga(memory.grads), giga(memory.optimizer),
		giga(memory.gathered), giga(memory.activations));
}

// ---------------------------------------------------------------- bytes by dimension

struct row {
	const char *name;
	enum message_kind first, last; // messages that count to it
};
static const struct row rows[ANSWER_COUNT] = {
	[ANSWER_TP] = {"tp, sp", MESSAGE_TP, MESSAGE_TP},
	[ANSWER_CP] = {"cp", MESSAGE_CP, MESSAGE_CP},
	[ANSWER_EP] = {"ep", MESSAGE_EP, MESSAGE_EP},
	[ANSWER_ETP] = {"etp", MESSAGE_ETP, MESSAGE_ETP},
	[ANSWER_PP] = {"pp", MESSAGE_PP, MESSAGE_PP},
	[ANSWER_DP] = {"dp", MESSAGE_DP_REDUCE, MESSAGE_DP_ACROSS},
};

// What a rank sends: a ring's share of what is gathered or scattered, twice that of an all-reduce.
static uint64_t sent_bytes(const struct call *call, enum message_kind kind, uint64_t total)
{
	const struct plan *plan = &call->edit.plan;
	bool is_all_reduce = plan_is_all_reduce(plan, kind);
	struct spread spread;
	if (kind == MESSAGE_CP || kind == MESSAGE_PP) // from rank to rank
		return total;
	order_spread(&spread, &call->order, plan, message_group(plan, kind), &call->gpu_layout);
	return (uint64_t)((unsigned __int128)total * (is_all_reduce ? 2 : 1) * (spread.ranks - 1) /
			  spread.ranks);
}

static void print_row(FILE *to, const struct call *call, uint32_t number,
		      const struct exposure *exposure)
{
	const struct row *row = &rows[number];
	uint64_t count = 0, sent = 0, nic = 0;
	for (uint32_t kind = row->first; kind <= row->last; kind++) {
		struct message_load load;
		if (!plan_message(call, (enum message_kind)kind, &load))
			continue;
		count += load.sum.count;
		sent += sent_bytes(call, (enum message_kind)kind, load.sum.total_bytes);
		nic += load.nic_bytes;
	}
	if (count == 0)
		return;
	fprintf(to, "  %-7s %9" PRIu64 " %12.3f GB ", row->name, count, giga(sent));
	if (nic == 0)
		fprintf(to, "%18s", "stays inside");
	else
		fprintf(to, "%15.3f GB", giga(nic));
	if (exposure->why_not.text[0] == '\0' && (nic > 0 || number == ANSWER_DP)) {
		fprintf(to, "   ");
		print_time(to, exposure->by[number]);
	}
	fputc('\n', to);
}

static void print_bytes(FILE *to, const struct call *call, const struct exposure *exposure)
{
	fprintf(to, "\n  %-7s %9s %15s %18s %14s\n", "a step", "messages", "a rank sends",
		"leaves by a NIC", "exposed");
	for (uint32_t i = 0; i < ANSWER_COUNT; i++)
		print_row(to, call, i, exposure);
}

// ---------------------------------------------------------------- the step

// Local steps: only each so many-th one is an outer step.
static void print_mean(FILE *to, const struct call *call, const struct exposure *exposure)
{
	uint32_t every = call->edit.plan.parallel.outer_steps;
	fprintf(to, "  an outer step, one of %" PRIu32 "; on average a step takes ", every);
	print_time(to, exposure->times.with.step_ps - exposure_ps(exposure) / every * (every - 1));
	fprintf(to, ", and sends 1 / %" PRIu32 " of dp's bytes\n", every);
}

// How much of a text fits on a line, whole words where there are some.
static int letters_of_line(const char *text)
{
	int take = (int)strlen(text);
	if (take <= SCREEN_COLUMNS)
		return take;
	for (take = SCREEN_COLUMNS; take > 0 && text[take] != ' ';)
		take--;
	return take > 0 ? take : SCREEN_COLUMNS;
}

// Where they come from.
static void print_times(FILE *to, const struct call *call, const struct timing *timing)
{
	char text[512];
	const char *at = text, *indent = "  ";
	snprintf(text, sizeof(text), "times: %s: %s%s", origin_name(timing->rests_on),
		 timing->origin, call->is_scaled ? "; scaled with the operations of a cell" : "");
	for (; *at != '\0'; indent = "    ") {
		int take = letters_of_line(at);
		fprintf(to, "%s%.*s\n", indent, take, at);
		at += take;
		at += *at == ' ';
	}
}

static void print_step(FILE *to, const struct call *call, const struct exposure *exposure)
{
	const struct timing *timing = &call->edit.plan.timing;
	if (exposure->why_not.text[0] != '\0') {
		fprintf(to, "\nNo step by closed form: %s\n", exposure->why_not.text);
		return;
	}
	ps_t step_ps = exposure->times.with.step_ps, exposed_ps = exposure_ps(exposure);
	fprintf(to, "\nStep by closed form ");
	print_time(to, step_ps);
	fprintf(to, ", of which exposed ");
	print_time(to, exposed_ps);
	fprintf(to, " (%.1f %%)\n", 100.0 * (double)exposed_ps / (double)step_ps);
	if (call->edit.plan.parallel.outer_steps > 1)
		print_mean(to, call, exposure);
	fprintf(to,
		"  on NICs of %.2f GB/s and domains of %" PRIu32
		", the file's or its device's; weft sim takes the fabric's\n",
		(double)call->edit.plan.site.nic_bps / 8e9, call->gpu_layout.gpus_per_domain);
	print_times(to, call, timing);
}

static void print_mappings(FILE *to, const struct call *call)
{
	struct mapping best[MAPPINGS_SHOWN];
	uint32_t count = 0, tried = mappings_find(call, best, &count);
	if (tried == 0) {
		fprintf(to, "\nNo mapping of it fits\n");
		return;
	}
	fprintf(to,
		"\nOf %" PRIu32 " mappings of as many ranks and samples%s, these expose least\n",
		tried, call->edit.plan.site.memory_bytes > 0 ? " that fit" : "");
	for (uint32_t i = 0; i < count; i++) {
		const struct parallel *cut = &best[i].plan.parallel;
		fprintf(to, "  tp %3" PRIu32 ", pp %3" PRIu32 ", dp %5" PRIu32 ", %-15s exposed",
			cut->tp, cut->pp, cut->dp, best[i].order);
		print_time(to, exposure_ps(&best[i].exposure));
		fprintf(to, ", step");
		print_time(to, best[i].exposure.times.with.step_ps);
		fprintf(to, ", %.1f GB\n", giga(best[i].memory_bytes));
	}
}

void answer_print(FILE *to, const struct call *call)
{
	const struct plan *plan = &call->edit.plan;
	struct exposure exposure;
	exposure_find(&exposure, plan, plan->parallel.order, call->gpu_layout.gpus_per_domain);
	print_head(to, call);
	print_memory(to, plan);
	print_bytes(to, call, &exposure);
	print_step(to, call, &exposure);
	if (exposure.why_not.text[0] == '\0')
		print_mappings(to, call);
}
