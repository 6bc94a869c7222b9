// SPDX-License-Identifier: Apache-2.0
// Collectives with data through DPDK's ring ports; see coll.h.

#include "coll.h"

static void every_rank_has_its_result(void **state)
{
	static const char *const words[] = {"-m", "256"};
	const struct ports_options ports = {.kind = PORTS_RING,
					    .dpdk = {.words = words, .word_count = 2, .lanes = 1}};
	(void)state;
	assert_int_equal(coll_run_all(coll_worlds[0], &ports), 22);
	assert_int_equal(coll_run_all(coll_worlds[1], &ports), 22);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_rank_has_its_result),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	dpdk_stop();
	return failed;
}
