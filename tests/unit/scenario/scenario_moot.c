// SPDX-License-Identifier: Apache-2.0
// What an assignment makes moot of a file is as if the file had not said it: same scenario, to the
// byte. What was without effect in the file stays an error there, and an assignment always.

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <weft/world/world.h>

#define HEAD "name: moot\nfabric: {nics: 16, nics_per_t0: 4, t1_count: 4"
#define FLOW "traffic: {kind: permutation, bytes: 1MB}\n"

static struct scenario with, without;
static struct refusal refusal;

static int parse(struct scenario *ret, const char *text, const char *const *sets)
{
	uint32_t count = 0;
	while (sets[count] != NULL)
		count++;
	refusal = (struct refusal){0};
	return scenario_parse(ret, "moot", text, strlen(text), sets, count, &refusal);
}

struct moot {
	const char *with, *without;
	const char *sets[4];
};

static const struct moot moots[] = {
	{HEAD "}\n" FLOW "queue: {trim_bytes: 100B, trim_choice: newest}\n",
	 HEAD "}\n" FLOW,
	 {"queue.trim=false"}},
	{HEAD "}\n" FLOW "queue: {trim_bytes: 100B}\n", HEAD "}\n" FLOW, {"queue.pfc=true"}},
	{HEAD "}\n" FLOW "queue: {trim: true}\n", HEAD "}\n" FLOW, {"queue.pfc=true"}},
	{HEAD "}\n" FLOW "queue: {pfc: true, pfc_watch: 9us, pfc_watch_action: drop}\n",
	 HEAD "}\n" FLOW "queue: {pfc: true}\n",
	 {"queue.pfc=false"}},
	{HEAD "}\n" FLOW "cc: {algorithm: nscc, htsim: true, fi: 0B, target_delay: 9us}\n",
	 HEAD "}\n" FLOW "cc: {algorithm: nscc, target_delay: 9us}\n",
	 {"cc.algorithm=swift"}},
	{HEAD "}\n" FLOW "cc: {algorithm: fixed, window: 1MB}\n",
	 HEAD "}\n" FLOW,
	 {"cc.algorithm=nscc"}},
	{HEAD "}\n" FLOW "transport: {path: mrc, path_retry: 2ms}\n",
	 HEAD "}\n" FLOW,
	 {"transport.path=random"}},
	{HEAD "}\ntraffic: {kind: ring, collective: all_gather, bytes: 1MB, form: pipelined, "
	      "chunk: 1MiB}\nsample: {steps: 3}\n",
	 HEAD "}\ntraffic: {kind: ring, collective: all_gather, bytes: 1MB}\n",
	 {"traffic.kind=permutation"}},
	{HEAD "}\ntraffic: {kind: incast, senders: 3, bytes: 1MB}\n",
	 HEAD "}\ntraffic: {kind: tornado, bytes: 1MB}\n",
	 {"traffic.kind=tornado"}},
	{HEAD "}\ntraffic: {kind: flows, flows: [{from: 0, to: 1, bytes: 9kB}]}\n",
	 HEAD "}\ntraffic: {kind: tornado, bytes: 1MB}\n",
	 {"traffic.kind=tornado", "traffic.bytes=1MB"}},
	{HEAD ", switching: cut_through, cut: 200B}\n" FLOW,
	 HEAD "}\n" FLOW,
	 {"fabric.switching=store_and_forward"}},
	{HEAD ", planes: 4}\n" FLOW, HEAD "}\n" FLOW, {"fabric.topology=leaf-spine"}},
	{HEAD "}\n" FLOW "transport: {path: reps, hole_age: 9us, sleek: true, timeout_ev: zero}\n"
	      "queue: {trim: true, trim_bytes: 99B}\ncc: {htsim: true}\n",
	 HEAD "}\n" FLOW,
	 {"transport.kind=rc", "cc.algorithm=fixed"}},
	{HEAD "}\n" FLOW,
	 "name: moot\nfabric: {nics: 16, nics_per_t0: 4}\n" FLOW,
	 {"fabric.topology=torus", "fabric.torus_x=2", "fabric.torus_y=2"}},
};

static void what_is_moot_is_as_if_it_was_not_said(void **)
{
	for (size_t i = 0; i < sizeof(moots) / sizeof(*moots); i++) {
		const char *none[] = {NULL};
		if (parse(&with, moots[i].with, none) < 0)
			fail_msg("%zu alone: %u:%u: %s", i, refusal.line, refusal.column,
				 refusal.text);
		if (parse(&with, moots[i].without, moots[i].sets) < 0)
			fail_msg("%zu without: %u:%u: %s", i, refusal.line, refusal.column,
				 refusal.text);
		memcpy(&without, &with, sizeof(with)); // in one place: it has pointers to itself
		if (parse(&with, moots[i].with, moots[i].sets) < 0)
			fail_msg("%zu: %s:%u:%u: %s", i, refusal.file, refusal.line, refusal.column,
				 refusal.text);
		if (memcmp(&with, &without, sizeof(with)) != 0)
			fail_msg("%zu: what was moot left a trace", i);
	}
}

static const struct {
	const char *text;
	const char *sets[3];
	const char *file;
	uint32_t line;
	const char *reason;
} wrongs[] = {
	// without effect in the file already
	{HEAD "}\n" FLOW "queue: {trim: false, trim_bytes: 99B}\n",
	 {"queue.pfc=true"},
	 "moot",
	 4,
	 "queue.trim_bytes has no effect"},
	{HEAD "}\n" FLOW "queue: {pfc: true, trim: true}\n",
	 {"seed=3"},
	 "moot",
	 4,
	 "queue.trim: true has no effect"},
	// the command line's own, and two of its assignments
	{HEAD "}\n" FLOW "queue: {trim: false}\n",
	 {"queue.trim_bytes=99B"},
	 "--set",
	 1,
	 "queue.trim_bytes has no effect"},
	{HEAD "}\n" FLOW,
	 {"queue.trim=false", "queue.trim_bytes=99B"},
	 "--set",
	 2,
	 "queue.trim_bytes has no effect"},
	{HEAD "}\n" FLOW,
	 {"queue.pfc=true", "queue.trim=true"},
	 "--set",
	 2,
	 "queue.trim: true has no effect"},
	{HEAD "}\n" FLOW "queue: {pfc: true}\n",
	 {"queue.trim=true"},
	 "--set",
	 1,
	 "queue.trim: true has no effect"},
	// RC runs what it is asked for, or nothing
	{HEAD "}\n" FLOW,
	 {"transport.kind=rc"},
	 "--set",
	 1,
	 "nscc, the default, does not run on transport.kind rc, which has no SACKs; set "
	 "one that does: fixed, dcqcn"},
	{HEAD "}\n" FLOW "cc: {algorithm: swift}\n",
	 {"transport.kind=rc"},
	 "moot",
	 4,
	 "swift does not run on transport.kind rc"},
	{HEAD "}\n" FLOW "cc: {algorithm: fixed}\n",
	 {"transport.kind=rc", "transport.path=reps"},
	 "--set",
	 2,
	 "transport.path has no effect here; it needs transport.kind mrc"},
	{HEAD "}\n" FLOW "cc: {algorithm: fixed}\n",
	 {"transport.kind=rc", "queue.trim=true"},
	 "--set",
	 2,
	 "queue.trim: true has no effect with transport.kind rc"},
	{HEAD "}\n" FLOW "cc: {algorithm: fixed, context: destination}\n"
	      "transport: {kind: rc}\n",
	 {NULL},
	 "moot",
	 4,
	 "cc.context has no effect here; it needs cc.algorithm fixed or nscc or swift or "
	 "mprdma or dctcp with transport.kind mrc"},
	{HEAD "}\n" FLOW "cc: {algorithm: nscc}\n",
	 {"cc.htsim=true", "cc.algorithm=fixed"},
	 "--set",
	 1,
	 "cc.htsim has no effect"},
	{HEAD "}\n" FLOW "cc: {algorithm: rccc, htsim: true}\n",
	 {NULL},
	 "moot",
	 4,
	 "cc.htsim: beside cc.algorithm rccc weft is not htsim: all-to-all"},
	{HEAD "}\n" FLOW "cc: {algorithm: nscc, htsim: true}\n",
	 {"cc.algorithm=rccc"},
	 "moot",
	 4,
	 "cc.htsim: beside cc.algorithm rccc weft is not htsim: all-to-all"},
};

static void nothing_else_is_dropped(void **)
{
	for (size_t i = 0; i < sizeof(wrongs) / sizeof(*wrongs); i++) {
		int rc = parse(&with, wrongs[i].text, wrongs[i].sets);
		if (rc != -EINVAL || strcmp(refusal.file, wrongs[i].file) != 0 ||
		    refusal.line != wrongs[i].line ||
		    strstr(refusal.text, wrongs[i].reason) == NULL)
			fail_msg("%zu: %d, %s:%u: %s", i, rc, refusal.file, refusal.line,
				 refusal.text);
	}
}

// What the command line says for all runs is passed over by the run whose own assignments make it
// moot, and only there.
static void what_all_runs_have_is_passed_over_like_the_file(void **)
{
	static const char text[] = HEAD "}\n" FLOW;
	const char *sets[] = {"transport.path=reps", "transport.timeout_ev=zero",
			      "transport.kind=rc", "cc.algorithm=fixed"};
	const char *own[] = {"transport.kind=rc", "cc.algorithm=fixed", NULL};
	struct scenario_source source = {.path = "moot",
					 .text = text,
					 .bytes = strlen(text),
					 .sets = sets,
					 .set_count = 4,
					 .common_count = 2};
	assert_int_equal(parse(&with, text, own), 0);
	memcpy(&without, &with, sizeof(with));
	assert_int_equal(scenario_read(&with, &source, &refusal), 0);
	assert_memory_equal(&with, &without, sizeof(with));
	source.common_count = 1; // the second is the run's own
	assert_int_equal(scenario_read(&with, &source, &refusal), -EINVAL);
	assert_int_equal(refusal.line, 2);
	sets[1] = "seed=3";
	sets[0] = "transport.flowlet_gap=9us"; // has no effect without the others, either
	source.common_count = 2;
	assert_int_equal(scenario_read(&with, &source, &refusal), -EINVAL);
	assert_int_equal(refusal.line, 1);
}

// Of what goodput_kept needs nothing may be missing, and others may not have it.
static void goodput_is_kept_since_and_of_what_is_lost(void **)
{
	static const struct {
		const char *expect, *reason;
	} wrong[] = {
		{"goodput_kept, formula: loss_on_way, loss: 1%, since: 1us, from: 2us, until: 3us",
		 "goodput_kept goes with capacity_left"},
		{"goodput, formula: capacity_left, lost: 1%", "capacity_left of goodput_kept"},
		{"goodput_kept, formula: capacity_left, since: 1us, from: 2us, until: 3us",
		 "expect[].lost is missing"},
		{"goodput_kept, formula: capacity_left, lost: 1%, since: 1us",
		 "expect[].until is missing; the measure"},
		{"goodput_kept, formula: capacity_left, lost: 1%, from: 2us, until: 3us",
		 "expect[].since is missing"},
		{"goodput_kept, formula: capacity_left, lost: 1%, since: 2us, from: 2us, until: "
		 "3us",
		 "nothing is compared with"},
		{"goodput_kept, formula: capacity_left, lost: 1%, since: 1500ns, from: 2us, until: "
		 "3us",
		 "not at the beginning of a bin"},
		{"goodput, formula: one_way, since: 1us", "expect[].since has no effect here"},
		{"goodput, formula: one_way, lost: 1%", "expect[].lost has no effect here"},
	};
	static const char *const none[] = {NULL};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char text[512];
		snprintf(text, sizeof(text),
			 HEAD
			 "}\n" FLOW
			 "watch: {bin: 1us, bins: 9}\nexpect: [{measure: %s, tolerance: 1%%}]\n",
			 wrong[i].expect);
		assert_int_equal(parse(&with, text, none), -EINVAL);
		if (refusal.line != 5 || strstr(refusal.text, wrong[i].reason) == NULL)
			fail_msg("%s: %u: %s", wrong[i].expect, refusal.line, refusal.text);
	}
}
