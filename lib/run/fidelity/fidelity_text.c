// SPDX-License-Identifier: Apache-2.0
// A step as a text of SimAI. Its lines come to what the schedule does in closed forms; where all
// packets can be run they are held against those of the step, and as much longer or shorter as
// these are.

#include "fidelity_full.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <weft/files/files.h>
#include <weft/workload/step_text.h>

#include <weft/run/export.h>

#define PACKETS_MOST (UINT64_C(1) << 25)
#define ROUNDS_MAX 8
#define TOLERANCE 100 // the text may take a hundredth more or less

struct making {
	struct call *call;
	struct fidelity_full full; // the step
	struct step_text text;
	struct arena arena;
	void *memory;
	size_t room;
	ps_t longer_ps;
	ps_t step_ps, text_ps; // by packets; 0 where these were not run
	struct refusal why_not;
};

static int make_lines(struct making *making, struct refusal *refusal)
{
	const struct world_step *step = &making->full.world;
	arena_init(&making->arena, making->memory, making->room);
	memset(making->memory, 0, making->room);
	int rc = step_text(&making->text, &making->arena, &step->plan, &step->setup, &step->order,
			   &step->gpu_layout, making->longer_ps, refusal);
	return rc;
}

// Packets that the lines send, from above: a message of a rank to each other one, or full ones.
static uint64_t packets_of(const struct step_text *text)
{
	uint64_t packets = 0, ranks = text->ranks;
	for (uint32_t i = 0; i < text->line_count; i++)
		for (int column = 0; column < STEP_COLUMN_COUNT; column++) {
			const struct step_send *send = &text->lines[i].sends[column];
			uint64_t least = send->bytes > 0 ? 2 * ranks / text->pp / text->tp : 0;
			uint64_t full = send->bytes / 2048;
			packets += ranks * (full > least ? full : least);
		}
	return packets;
}

// ---------------------------------------------------------------- the text by packets

// The call again, with the text in place of its traffic.
static void again(struct call *ret, const struct call *call, const char *path)
{
	static const char *const gone[] = {"traffic.kind=", "traffic.model=", "sample."};
	struct options *options = &ret->options;
	memset(ret, 0, sizeof(*ret));
	*options = call->options;
	options->trace = path;
	options->sample = "off";
	options->export_form = options->out = options->order = NULL;
	options->fidelity_kind = FIDELITY_NONE;
	options->is_quiet = true;
	options->set_count = 0;
	for (uint32_t i = 0; i < call->options.set_count; i++) {
		bool is_gone = false;
		for (size_t k = 0; k < sizeof(gone) / sizeof(*gone); k++)
			is_gone |= strncmp(call->options.sets[i], gone[k], strlen(gone[k])) == 0;
		if (!is_gone)
			options->sets[options->set_count++] = call->options.sets[i];
	}
}

static int run_text(struct making *making, uint32_t round, struct refusal *refusal)
{
	static struct call call; // large: kept off the stack
	char name[32], path[STAGING_PATH_BYTES + 32];
	struct run ran;
	snprintf(name, sizeof(name), "round-%u.txt", round); // no file that was read is written
	snprintf(path, sizeof(path), "%s/%s", making->call->staging.part, name);
	int rc = export_write_step(&making->text, making->call->staging.part, name, refusal);
	if (rc < 0)
		return rc;
	again(&call, making->call, path);
	rc = call_read(&call);
	if (rc == 0)
		rc = call_build(&call);
	if (rc == 0) {
		rc = call_run(&call, &ran);
		if (rc == 0)
			rc = fidelity_check_end(&ran, &call.refusal);
		making->text_ps = call.world_instance.world.outcome->end_ps;
	}
	world_instance_free(&call.world_instance);
	workload_free(&call.workload);
	unlink(path);
	if (rc < 0)
		*refusal = call.refusal;
	return rc;
}

static ps_t off_ps(const struct making *making)
{
	return making->text_ps - making->step_ps;
}

static bool is_off(const struct making *making)
{
	ps_t most = making->step_ps / TOLERANCE;
	return off_ps(making) > most || off_ps(making) < -most;
}

static int say_off(const struct making *making, struct refusal *refusal)
{
	snprintf(refusal->text, sizeof(refusal->text),
		 "a text of SimAI has nothing beside a forward: by packets its lines take %.3f ms, "
		 "the step %.3f (%+.1f %%)",
		 (double)making->text_ps / 1e9, (double)making->step_ps / 1e9,
		 100.0 * (double)off_ps(making) / (double)making->step_ps);
	return -EINVAL;
}

// Lines are made longer or shorter by what packets make of them, while that changes them.
static int hold(struct making *making)
{
	struct refusal *refusal = &making->call->refusal, ignored = {0};
	int rc = run_text(making, 0, refusal);
	for (uint32_t round = 1; rc == 0 && is_off(making) && round < ROUNDS_MAX; round++) {
		ps_t before_ps = making->text.lines_ps;
		making->longer_ps -= off_ps(making);
		rc = make_lines(making, &ignored);
		if (rc == -EINVAL || (rc == 0 && making->text.lines_ps == before_ps))
			return say_off(making, refusal);
		if (rc == 0)
			rc = run_text(making, round, refusal);
	}
	return rc == 0 && is_off(making) ? say_off(making, refusal) : rc;
}

// ---------------------------------------------------------------- all of it

static void print(const struct making *making)
{
	const struct call *call = making->call;
	double step_ms = (double)making->text.step_ps / 1e9;
	printf("%s: %u lines as simai in %s\n", call->scenario.name, making->text.line_count,
	       call->options.out);
	if (making->step_ps > 0)
		printf("  by packets the step takes %.3f ms, the text %.3f (%+.2f %%)\n",
		       (double)making->step_ps / 1e9, (double)making->text_ps / 1e9,
		       100.0 * (double)off_ps(making) / (double)making->step_ps);
	else
		printf("  by closed form the step takes %.3f ms, the text %.3f (%+.2f %%); %s\n",
		       step_ms, (double)making->text.lines_ps / 1e9,
		       100.0 * ((double)making->text.lines_ps / (double)making->text.step_ps - 1),
		       making->why_not.text);
}

static int make(struct making *making)
{
	struct call *call = making->call;
	int rc = make_lines(making, &call->refusal);
	if (rc < 0)
		return rc;
	if (packets_of(&making->text) > PACKETS_MOST) {
		refuse(&making->why_not, -EINVAL, "too many packets to hold it against these");
		return 0;
	}
	rc = fidelity_full_packets(call, &making->full);
	if (rc < 0)
		return rc;
	making->step_ps = making->full.times.with.step_ps;
	return hold(making);
}

int fidelity_full_text(struct call *call)
{
	static struct making making; // large: kept off the stack
	making = (struct making){.call = call};
	int rc = fidelity_prepare(call, &making.full.world);
	if (rc < 0)
		return fidelity_say_refusal(call, rc);
	world_step_own_sends(&making.full.world, &call->scenario);
	making.room = step_text_bytes(&making.full.world.plan);
	making.memory = memory_reserve(making.room);
	if (making.memory == NULL)
		rc = refuse(&call->refusal, -ENODEV, "not enough memory for the text");
	if (rc == 0)
		rc = staging_begin(&call->staging, call->options.out, NULL, &call->refusal);
	if (rc == 0)
		rc = make(&making);
	if (rc == 0)
		rc = export_write_step(&making.text, call->staging.part, "step.txt",
				       &call->refusal);
	if (rc == 0)
		rc = staging_end(&call->staging, &call->refusal);
	if (rc == 0)
		print(&making);
	memory_release(making.memory, making.room);
	return rc < 0 ? fidelity_say_refusal(call, rc) : call_finish_output(call);
}
