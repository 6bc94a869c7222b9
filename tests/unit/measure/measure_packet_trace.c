// SPDX-License-Identifier: Apache-2.0
// Tests of a packet trace of packets: the first ones are kept, the rest is counted.

#include <weft/measure/measure_packet_trace.h>

#include "measure_rig.h"

static void the_first_are_kept_and_the_rest_is_counted(void **)
{
	struct packet_trace packet_trace;
	assert_int_equal(packet_trace_init(&packet_trace, &arena, 2), 0);
	for (uint32_t i = 0; i < 5; i++)
		packet_trace_add(&packet_trace,
				 &(struct packet_trace_step){.at = 10 * i, .psn = i});
	assert_int_equal(packet_trace.count, 2);
	assert_int_equal(packet_trace.missed, 3);
	assert_int_equal(packet_trace.steps[1].at, 10);
	assert_int_equal(packet_trace.steps[1].psn, 1);
}

static void more_than_memory_is_refused(void **)
{
	struct packet_trace packet_trace;
	assert_int_equal(packet_trace_init(&packet_trace, &arena, 1u << 20), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_are_kept_and_the_rest_is_counted),
		cmocka_unit_test(more_than_memory_is_refused),
	};
	return cmocka_run_group_tests(tests, rig_open, rig_close);
}
