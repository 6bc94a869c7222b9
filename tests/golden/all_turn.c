// SPDX-License-Identifier: Apache-2.0
// The last stage's turn from forward to backward, in the closed form of the two shipped systems
// whose stages lie in several domains: it stays on its rank. Taken for a send over the network, as
// it once was, it exposes to the picosecond what docs/systems.md said then (decision 0040), and so
// do systems whose stages stay inside, either way.
#include "../rig.h"

#include <weft/run/schedule.h>
#include <weft/world/world_step.h>

struct system {
	const char *name;
	ps_t exposed_ps, once_ps; // with the turn on its rank, and as a send
};

static ps_t step_by(const struct world_step *world, const struct step_setup *setup)
{
	struct step_exposed times;
	struct refusal refusal = {0};
	if (schedule_expose(&times, &world->plan, setup, NULL, &refusal) < 0)
		fail_msg("%s", refusal.text);
	return times.with.step_ps;
}

// What a step with this turn is longer than one on a silent network.
static void find(const struct system *system)
{
	static struct scenario scenario; // large: kept off the stack
	static struct world_step world;
	struct refusal refusal = {0};
	char *text = rig_text(system->name);
	assert_int_equal(
		scenario_parse(&scenario, system->name, text, strlen(text), NULL, 0, &refusal), 0);
	free(text);
	assert_int_equal(plan_files_read(&scenario, &refusal), 0);
	assert_int_equal(world_step(&world, &scenario, NULL, &refusal), 0);
	struct step_setup setup = world.setup, silent = world.setup;
	silent.is_silent = true;
	ps_t silent_ps = step_by(&world, &silent);
	assert_int_equal(step_by(&world, &setup) - silent_ps, system->exposed_ps);
	setup.silent_send_ps = 0; // as long as a send
	assert_int_equal(step_by(&world, &setup) - silent_ps, system->once_ps);
}

static void a_turn_that_is_a_send_exposes_what_was_printed(void **)
{
	static const struct system systems[] = {
		{"nvidia-h100-8192-quantum2", 56990522560, 58675788480},
		{"meta-24k-roce", 145181136000, 155262554240},
		{"azure-gb200-llama405b", 26921447851, 26921447851},
	};
	for (size_t i = 0; i < sizeof(systems) / sizeof(*systems); i++)
		find(&systems[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_turn_that_is_a_send_exposes_what_was_printed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
