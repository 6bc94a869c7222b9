// SPDX-License-Identifier: Apache-2.0
// Keys by the names of the MRC controller structure: they set what the key's own name sets, one of
// the two may be there, and messages name what was written.
#include "../scenario/scenario_files.h"

static struct refusal refusal;

static int read(const char *cc, const char *const *sets, uint32_t set_count)
{
	snprintf(text, sizeof(text),
		 "fabric: {nics: 8, nics_per_t0: 4, t1_count: 2}\n"
		 "traffic: {kind: permutation, bytes: 1MB}\n"
		 "cc:\n%s",
		 cc);
	memset(&refusal, 0, sizeof(refusal));
	return scenario_parse(&scenario, "text", text, strlen(text), sets, set_count, &refusal);
}

static void check_all(void)
{
	const struct cc_config *cc = &scenario.transport.cc;
	assert_int_equal(cc->adjust_bytes, 20000);
	assert_int_equal(cc->adjust_period_ps, 9 * PS_PER_US);
	assert_int_equal(cc->max_cwnd_bytes, 300000);
	assert_true(cc->disable_qa);
}

static void a_file_may_use_either_name(void **)
{
	assert_int_equal(read("  adjust_bytes: 20kB\n  adjust_period: 9us\n"
			      "  max_window: 300kB\n  quick_adapt: false\n",
			      NULL, 0),
			 0);
	check_all();
	assert_int_equal(read("  adjust_bytes_threshold: 20kB\n  adjust_period_threshold: 9us\n"
			      "  max_cwnd: 300kB\n  disable_qa: true\n",
			      NULL, 0),
			 0);
	check_all();
	assert_int_equal(read("  disable_qa: false\n", NULL, 0), 0);
	assert_false(scenario.transport.cc.disable_qa);
}

static void an_assignment_takes_the_place_of_either(void **)
{
	static const char *const sets[] = {"cc.adjust_bytes_threshold=20kB",
					   "cc.adjust_period_threshold=9us", "cc.max_cwnd=300kB",
					   "cc.disable_qa=true"};
	assert_int_equal(read("  max_window: 100kB\n  disable_qa: false\n", sets, 4), 0);
	check_all();
}

static void one_key_under_two_names_is_refused(void **)
{
	assert_int_equal(read("  max_window: 300kB\n  max_cwnd: 300kB\n", NULL, 0), -EINVAL);
	assert_int_equal(refusal.line, 5);
	assert_string_equal(refusal.text,
			    "cc.max_cwnd is here under two names; it was first on line 4");
	static const char *const sets[] = {"cc.max_cwnd=300kB", "cc.max_window=300kB"};
	assert_int_equal(read("  algorithm: nscc\n", sets, 2), -EINVAL);
	assert_string_equal(refusal.text,
			    "cc.max_window is set twice; it was first in assignment 1");
}

static void messages_name_what_was_written(void **)
{
	assert_int_equal(read("  max_cwnd: 300000\n", NULL, 0), -EINVAL);
	assert_non_null(strstr(refusal.text, "cc.max_cwnd: "));
	assert_int_equal(read("  disable_qa: 1\n", NULL, 0), -EINVAL);
	assert_non_null(strstr(refusal.text, "cc.disable_qa: "));
}

// At 100 Gb/s and 14.0227 us: the figures that uet-htsim prints at its start, but for the size of a
// packet, 4,086 bytes there.
static void knobs_in_force_are_in_the_units_of_the_structure(void **)
{
	struct cc_config config = {.name = "nscc",
				   .rate_bps = 100000000000,
				   .base_rtt_ps = 14022720,
				   .mtu_bytes = 4086,
				   .has_trimming = true};
	struct cc_settings knobs;
	assert_true(cc_settings_of(&config, &knobs));
	assert_false(knobs.disable_qa);
	assert_int_equal(knobs.adjust_bytes_threshold, 8 * 4086);
	assert_int_equal(knobs.adjust_period_threshold_ns, 14023);
	assert_int_equal(knobs.base_rtt_ns, 14023);
	assert_true(knobs.fi > 23873 && knobs.fi < 23875);
	assert_true(knobs.eta > 716 && knobs.eta < 717);
	assert_true(knobs.fi_scale > 0.2921 && knobs.fi_scale < 0.2922);
	assert_true(knobs.gamma == 0.8 && knobs.max_md_jump == 0.5);
	assert_in_range(knobs.max_cwnd, 262925, 262927);
	assert_int_equal(knobs.qa_gate, 3);
	assert_int_equal(knobs.qa_threshold_ns, 0);
	assert_int_equal(knobs.target_delay_ns, 10517);
	config.is_htsim = true;
	config.name = "nscc_rccc";
	assert_true(cc_settings_of(&config, &knobs));
	assert_int_equal(knobs.qa_threshold_ns, 42068);
	config.name = "swift";
	assert_false(cc_settings_of(&config, &knobs));
}
