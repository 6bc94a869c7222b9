// SPDX-License-Identifier: Apache-2.0
// weft plan: arguments, and what they say as a plan.

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"
#include "plan.h"
#include "weft-plan_options.h"
#include <weft/run/input_files.h>
#include <weft/run/outcome.h>

static const struct option_row option_rows[] = {PLAN_OPTIONS(struct call), {NULL}};
#define GPUS_PER_DOMAIN 64 // where nothing says it
#define GPUS_PER_TRAY 4

static const struct command_line arguments = {
	.help = help_text, .rows = option_rows, .noun = "job", .least = 1, .most = 1};

// ---------------------------------------------------------------- the plan

static void place(struct call *call, const char *file, uint32_t line)
{
	snprintf(call->refusal.file, sizeof(call->refusal.file), "%s", file);
	call->refusal.line = line;
}

// Times that come from a device are those of the sizes as they were set; others go with the
// operations of a cell.
static void settle_times(struct call *call, const struct plan *from)
{
	struct plan *plan = &call->edit.plan;
	if (plan_has_roofline(plan))
		plan_roofline(plan);
	else if (from != NULL)
		call->is_scaled = plan_scale_times(plan, from);
}

// What the command line says of domains stands before what the file does.
static void settle_site(struct call *call, const struct plan *from)
{
	struct site *site = &call->edit.plan.site;
	if (call->gpu_layout.gpus_per_domain > 0)
		site->domain = call->gpu_layout.gpus_per_domain;
	if (site->domain == 0)
		site->domain = GPUS_PER_DOMAIN;
	call->gpu_layout.gpus_per_domain = site->domain;
	if (call->gpu_layout.gpus_per_tray == 0)
		call->gpu_layout.gpus_per_tray = site->domain < GPUS_PER_TRAY ? site->domain
									      : GPUS_PER_TRAY;
	if (call->set_count > 0 || call->order_text != NULL)
		settle_times(call, from);
}

static int make(struct call *call)
{
	struct refusal *refusal = &call->refusal;
	const struct plan *from = NULL;
	int rc = 0;
	if (strcmp(call->name, "custom") != 0)
		rc = plan_files_find(&from, call->name, NULL, refusal);
	if (rc < 0)
		return rc;
	plan_begin(&call->edit, from);
	for (uint32_t i = 0; i < call->set_count; i++) {
		rc = plan_set(&call->edit, call->sets[i], refusal);
		if (rc < 0) {
			place(call, "--set", i + 1);
			return rc;
		}
	}
	rc = plan_check(&call->edit.plan, refusal);
	if (rc < 0) {
		place(call, call->name, 0);
		return rc;
	}
	const char *order = call->order_text != NULL ? call->order_text
						     : call->edit.plan.parallel.order;
	rc = order_parse(&call->order, order, &call->edit.plan, refusal);
	if (rc < 0) {
		place(call, "--order", 1);
		return rc;
	}
	call->edit.plan.parallel.order = order;
	settle_site(call, from);
	return 0;
}

static void list_one(const struct plan *plan)
{
	printf("%-38s %6u ranks of %s\n", plan->name, plan_ranks(plan), plan->architecture->name);
}

static int list_plans(struct call *call)
{
	if (plan_files_each(list_one, &call->refusal) < 0)
		return outcome_refused("plan", &call->refusal, -EINVAL);
	return EXIT_SUCCESS;
}

static void list_keys(void)
{
	for (const struct plan_key *key = plan_keys(); key->name != NULL; key++)
		printf("%-26s %s\n", key->name, key->text);
}

static void list_devices(void)
{
	printf("%-10s %21s %14s %9s %7s %10s %9s\n", "device", "bf16 fp8 fp4 10^12/s", "memory",
	       "memory/s", "domain", "domain/s", "NIC");
	for (uint32_t i = 0; accelerator_at(i) != NULL; i++) {
		const struct accelerator *of = accelerator_at(i);
		printf("%-10s %7.1f %6.0f %6.0f %11.1f GB %6.2f TB %7" PRIu32
		       " %7.1f GB %4.0f Gb/s  %s\n",
		       of->name, (double)of->flops[0] / 1e12, (double)of->flops[1] / 1e12,
		       (double)of->flops[2] / 1e12, (double)of->memory_bytes / 1e9,
		       (double)of->memory_Bps / 1e12, of->domain, (double)of->domain_Bps / 1e9,
		       (double)of->nic_bps / 1e9, of->source);
	}
}

static int show(struct call *call)
{
	if (make(call) < 0)
		return outcome_refused("plan", &call->refusal, -EINVAL);
	if (call->wants_json)
		json_print(stdout, call);
	else
		answer_print(stdout, call);
	if (call->wants_all)
		table_print(stdout, call);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static struct call call;
	int rc = command_line_read(&arguments, &call, argc, argv, &call.refusal),
	    status = EXIT_SUCCESS;
	call.name = argv[optind];
	if (rc < 0)
		return outcome_refused("plan", &call.refusal, rc);
	if (call.wants_list)
		status = list_plans(&call);
	else if (call.import != NULL)
		status = import_config(stdout, call.import, &call.refusal) < 0
			? outcome_refused("plan", &call.refusal, -EINVAL)
			: EXIT_SUCCESS;
	else if (call.wants_keys)
		list_keys();
	else if (call.wants_devices)
		list_devices();
	else if (rc == 0)
		status = show(&call);
	return outcome_end("plan", status);
}
