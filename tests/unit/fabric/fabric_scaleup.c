// SPDX-License-Identifier: Apache-2.0
// Transfers inside a rack: when they start, when they arrive, and what they wait for.

#include "fabric_rig.h"

#include <errno.h>

#define RATE UINT64_C(800000000000) // 10 ps a byte
#define DELAY (2 * PS_PER_US)

static struct scaleup opened(struct rig *rig, uint64_t rate_bps)
{
	struct scaleup scaleup;
	struct scaleup_config config = {.rate_bps = rate_bps, .delay_ps = DELAY};
	assert_int_equal(scaleup_init(&scaleup, &rig->arena, &config, 4), 0);
	return scaleup;
}

static void a_lone_transfer_takes_bytes_over_rate_and_the_delay(void **state)
{
	struct scaleup scaleup = opened(*state, RATE);
	ps_t sent = -1;
	assert_int_equal(scaleup_send(&scaleup, 0, 1, 1000, 500, &sent), 500 + 10000 + DELAY);
	assert_int_equal(sent, 10500);
}

static void a_transfer_waits_for_both_lines(void **state)
{
	struct scaleup scaleup = opened(*state, RATE);
	ps_t sent;
	scaleup_send(&scaleup, 0, 1, 1000, 0, &sent); // lines out 0, in 1 until 10,000
	assert_int_equal(scaleup_send(&scaleup, 0, 2, 1000, 0, &sent), 20000 + DELAY);
	assert_int_equal(scaleup_send(&scaleup, 3, 1, 1000, 0, &sent), 20000 + DELAY);
	assert_int_equal(scaleup_send(&scaleup, 3, 2, 1000, 0, &sent), 30000 + DELAY);
	assert_int_equal(sent, 30000);
}

static void both_directions_of_a_pair_run_at_once(void **state)
{
	struct scaleup scaleup = opened(*state, RATE);
	ps_t sent;
	assert_int_equal(scaleup_send(&scaleup, 0, 1, 1000, 0, &sent), 10000 + DELAY);
	assert_int_equal(scaleup_send(&scaleup, 1, 0, 1000, 0, &sent), 10000 + DELAY);
}

// 64 GiB at 1 Gb/s: 8 ns a byte.
static void a_huge_slice_on_a_slow_line_is_exact(void **state)
{
	struct scaleup scaleup = opened(*state, UINT64_C(1000000000));
	ps_t sent;
	scaleup_send(&scaleup, 0, 1, UINT64_C(1) << 36, 0, &sent);
	assert_int_equal(sent, (INT64_C(1) << 36) * 8000);
}

static void no_rate_means_no_domain(void **state)
{
	struct scaleup scaleup = opened(*state, 0);
	assert_int_equal(scaleup.line, 0);
	assert_null(scaleup.out_free_at);
}

static void bad_figures_are_refused(void **state)
{
	struct rig *rig = *state;
	struct scaleup scaleup;
	struct scaleup_config config = {.rate_bps = RATE, .delay_ps = -1};
	assert_int_equal(scaleup_init(&scaleup, &rig->arena, &config, 4), -EINVAL);
	config.delay_ps = 0;
	assert_int_equal(scaleup_init(&scaleup, &rig->arena, &config, 0), -EINVAL);
	assert_int_equal(scaleup_init(&scaleup, &rig->arena, &config, 1 << 30), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RIG(a_lone_transfer_takes_bytes_over_rate_and_the_delay),
		WITH_RIG(a_transfer_waits_for_both_lines),
		WITH_RIG(both_directions_of_a_pair_run_at_once),
		WITH_RIG(a_huge_slice_on_a_slow_line_is_exact),
		WITH_RIG(no_rate_means_no_domain),
		WITH_RIG(bad_figures_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
