// SPDX-License-Identifier: Apache-2.0
// weft plan: arguments, and what they say as a plan.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"
#include "plan.h"
#include "weft-plan_options.h"
#include <weft/run/outcome.h>
#include <weft/run/plan_files.h>

static const struct option_row option_rows[] = {PLAN_OPTIONS(struct call), {NULL}};
static const struct command_line arguments = {
	.help = help_text, .rows = option_rows, .noun = "plan", .least = 1, .most = 1};

// ---------------------------------------------------------------- the plan

static void place(struct call *call, const char *file, uint32_t line)
{
	snprintf(call->refusal.file, sizeof(call->refusal.file), "%s", file);
	call->refusal.line = line;
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
	plan_begin(&call->atomic_file, from);
	for (uint32_t i = 0; i < call->set_count; i++) {
		rc = plan_set(&call->atomic_file, call->sets[i], refusal);
		if (rc < 0) {
			place(call, "--set", i + 1);
			return rc;
		}
	}
	rc = plan_check(&call->atomic_file.plan, refusal);
	if (rc < 0) {
		place(call, call->name, 0);
		return rc;
	}
	const char *order = call->order_text != NULL ? call->order_text
						     : call->atomic_file.plan.parallel.order;
	rc = order_parse(&call->order, order, &call->atomic_file.plan, refusal);
	if (rc < 0)
		place(call, "--order", 1);
	return rc;
}

static void list_one(const struct plan *plan, void *context)
{
	(void)context;
	printf("%-38s %6u ranks of %s\n", plan->name, plan_ranks(plan), plan->architecture->name);
}

static int list_plans(struct call *call)
{
	if (plan_files_each(list_one, NULL, &call->refusal) < 0)
		return outcome_refused("plan", &call->refusal, -EINVAL);
	return EXIT_SUCCESS;
}

static void list_keys(void)
{
	for (const struct plan_key *key = plan_keys(); key->name != NULL; key++)
		printf("%-26s %s\n", key->name, key->text);
}

static int show(struct call *call)
{
	if (make(call) < 0)
		return outcome_refused("plan", &call->refusal, -EINVAL);
	(call->wants_json ? json_print : table_print)(stdout, call);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static struct call call = {.gpu_layout = {64, 4}};
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
	else if (rc == 0)
		status = show(&call);
	return outcome_end("plan", status);
}
