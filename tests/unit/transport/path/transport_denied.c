// SPDX-License-Identifier: Apache-2.0
// Entropy values that are denied while QPs rest, where contexts are fewer than QPs.
#include "../transport_bench.h"

#include <errno.h>

#include <weft/transport/transport_profiles.h>

static void a_failed_qp_has_no_say_in_what_is_denied(void **state)
{
	struct transport_config config = bench_config();
	uint32_t values[64];
	for (uint32_t i = 0; i < 64; i++)
		values[i] = 1000 + i;
	config.contexts = 2;
	config.ev_mode = EV_EXPLICIT;
	config.ev_values = values;
	struct bench *bench = bench_open(&config, 4, 0, 1);
	bench_say(bench, 0, 0, 1);
	assert_int_equal(endpoint_fail(bench->ends[0], 0), 0);
	assert_true(bench_has_context(bench, 0, 0));
	assert_int_equal(endpoint_ev_deny(bench->ends[0], 1003), 0);
	bench_say(bench, 0, 1, 2);
	bench_say(bench, 0, 2, 3);
	assert_false(bench_has_context(bench, 0, 0));
	bench_close(bench);
}

// With values of its own only its context knows what is denied to it: nobody else may have that.
static void what_is_denied_to_a_qp_at_rest_keeps_its_context(void **state)
{
	struct transport_config config = bench_config();
	config.contexts = 3;
	struct bench *bench = bench_open(&config, 6, 0, 1);
	struct endpoint *endpoint = bench->ends[0];
	enum ev_state known;
	uint32_t ev;
	bench_say(bench, 0, 0, 1);
	assert_int_equal(endpoint_contexts_busy(endpoint), 0);
	assert_int_equal(endpoint_ev(endpoint, 0, 3, &ev), 0);
	assert_int_equal(endpoint_ev_deny(endpoint, ev), 0);
	for (uint32_t qpn = 1; qpn < 6; qpn++)
		bench_say(bench, 0, qpn, 1 + qpn);
	assert_int_equal(endpoint_contexts_busy(endpoint), 1);
	assert_int_equal(endpoint_ev_state(endpoint, 0, ev, &known), 0);
	assert_int_equal(known, EV_DENIED);
	assert_int_equal(endpoint_ev_allow(endpoint, ev), 0);
	assert_int_equal(endpoint_contexts_busy(endpoint), 0);
	for (uint32_t qpn = 1; qpn < 4; qpn++)
		bench_say(bench, 0, qpn, 10 + qpn);
	assert_false(bench_has_context(bench, 0, 0)); // as that of any other
	bench_run(bench, BENCH_TO_THE_END);
	bench_check_empty(bench);
	bench_close(bench);
}

// A QP that keeps one value cannot be left without, though others have more.
static void the_last_value_of_one_qp_stays(void **state)
{
	struct transport_config config = bench_config();
	uint32_t values[64];
	const uint16_t kept = 3;
	enum ev_state known;
	for (uint32_t i = 0; i < 64; i++)
		values[i] = 1000 + i;
	config.ev_mode = EV_EXPLICIT;
	config.ev_values = values;
	struct bench *bench = bench_open(&config, 2, 0, 1);
	struct endpoint *endpoint = bench->ends[0];
	assert_int_equal(endpoint_ev_keep(endpoint, 0, &kept, 1), 0);
	assert_int_equal(endpoint_ev_deny(endpoint, 1003), -EBUSY);
	assert_int_equal(endpoint_ev_state(endpoint, 1, 1003, &known), 0);
	assert_int_equal(known, EV_GOOD);
	assert_int_equal(endpoint_ev_deny(endpoint, 1004), 0);
	bench_close(bench);
}

// Nor can a profile that no QP has taken yet.
static void the_last_value_of_a_profile_stays(void **state)
{
	struct transport_config config = bench_config();
	uint32_t values[4] = {2000, 2001, 2002, 2003};
	struct refusal refusal;
	config.ev_profiles_max = 1;
	struct bench *bench = bench_open(&config, 1, 0, 1);
	struct endpoint *endpoint = bench->ends[0];
	assert_int_equal(endpoint_ev_profile(endpoint, 1, values, 4, &refusal), 0);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(endpoint_ev_deny(endpoint, values[i]), 0);
	assert_int_equal(endpoint_ev_deny(endpoint, values[3]), -EBUSY);
	assert_int_equal(endpoint_ev_allow(endpoint, values[0]), 0);
	assert_int_equal(endpoint_ev_deny(endpoint, values[3]), 0);
	bench_close(bench);
}
