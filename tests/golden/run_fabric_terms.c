// SPDX-License-Identifier: Apache-2.0
// What closed forms expose of coreweave-gb300-deepseek-v3 with one thing of its fabric more in
// each, to the picosecond, though so small a sample gives no time: the second column of
// docs/systems.md. Rounded one by one, as --explain prints them, the differences add up to 150.008
// ms.
#include "../rig.h"

#include <errno.h>

#include <weft/run/fidelity_sample.h>

static void terms_of_a_refused_sample_hold_to_the_picosecond(void **)
{
	static struct call call;		// large: kept off the stack
	static struct fidelity_sample fidelity; // likewise
	call.options = (struct options){.program = "sim",
					.scenario = "coreweave-gb300-deepseek-v3",
					.sample = "steps=2,fill=2",
					.fidelity_kind = FIDELITY_SAMPLE,
					.slow_stage = UINT32_MAX,
					.slow_gpu = UINT32_MAX,
					.is_quiet = true};
	if (call_read(&call) < 0)
		fail_msg("%s", call.refusal.text);
	assert_int_equal(fidelity_sample_work(&call, &fidelity), -EDOM);
	const struct sampled_terms *terms = &fidelity.terms;
	assert_int_equal(terms->closed_ps, 127705247326);
	assert_int_equal(terms->latency_ps, 124734193246);
	assert_int_equal(terms->credit_ps, 149788570756);
	assert_int_equal(terms->header_ps, 149968604850);
	assert_int_equal(terms->sack_ps, 150008828112);
	world_instance_free(&call.world_instance);
	workload_free(&call.workload);
	manifest_rows_free(&call.inputs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(terms_of_a_refused_sample_hold_to_the_picosecond),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
