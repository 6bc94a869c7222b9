// SPDX-License-Identifier: Apache-2.0
// A trigger that starts a flow at another host, in wall time: the flow begins there when that host
// hears of it and traffic.signal_delay is over, and not before.

#include <weft/host/host.h>
#include <weft/wall/fired.h>

#include "wall_pair.h"

#define BYTES 40960u
#define DELAY_PS (70 * PS_PER_US)

// Carries what host `from` fired to the other one. How many.
static uint32_t carry(struct pair *pair, uint32_t from)
{
	struct signal signal;
	uint32_t count = 0;
	for (; fired_take(&wall_fired(pair->wall[from])->out, &signal); count++) {
		assert_true(fired_fits(wall_fired(pair->wall[1 - from]), &signal, from));
		assert_true(fired_put(&wall_fired(pair->wall[1 - from])->in, &signal));
	}
	return count;
}

static struct pair *open_matrix(const char *matrix)
{
	char traffic[128];
	pair_matrix = matrix;
	snprintf(traffic, sizeof(traffic), "kind: matrix, matrix: as-given, signal_delay: 70us");
	return pair_open_of(pair_build_of(traffic, "", "20us"));
}

static void a_flow_begins_when_its_host_hears(void **)
{
	struct pair *pair = open_matrix("Nodes 2\nConnections 3\nTriggers 2\n"
					"0->1 start 0 size 40960 send_done_trigger 1\n"
					"1->0 trigger 1 size 40960 recv_done_trigger 2\n"
					"0->1 trigger 2 size 40960\n" // at its own host: at once
					"trigger id 1 oneshot\ntrigger id 2 oneshot\n");
	look(pair, LOOK_PS, 5 * PS_PER_MS);
	assert_false(is_done(pair)); // nobody has carried it
	assert_int_equal(wall_counts(pair->wall[1])->payload_bytes_good, BYTES);
	assert_int_equal(carry(pair, 0), 1);
	ps_t heard = pair->now + LOOK_PS + LOOK_PS / 2; // by host 1, in its next turn
	look(pair, LOOK_PS, PS_PER_S);
	assert_true(is_done(pair));
	assert_int_equal(pair->world[1].flows[1].start_ps, heard + DELAY_PS);
	assert_in_range(pair->now, heard + DELAY_PS, heard + DELAY_PS + PS_PER_MS);
	assert_int_equal(wall_counts(pair->wall[0])->payload_bytes_good, BYTES);
	assert_int_equal(wall_counts(pair->wall[1])->payload_bytes_good, 2 * BYTES);
	assert_int_equal(wall_counts(pair->wall[0])->triggers_told, 1);
	assert_int_equal(wall_counts(pair->wall[1])->triggers_told, 0);
	assert_int_equal(wall_counts(pair->wall[1])->triggers_heard, 1);
	pair_close(pair);
}

// The other half of a barrier is not there yet.
static void a_barrier_waits_for_both_hosts(void **)
{
	struct pair *pair = open_matrix("Nodes 2\nConnections 4\nTriggers 1\n"
					"0->1 start 0 size 40960 send_done_trigger 1\n"
					"1->0 start 0 size 40960 send_done_trigger 1\n"
					"0->1 trigger 1 size 40960\n"
					"1->0 trigger 1 size 40960\n"
					"trigger id 1 barrier\n");
	look(pair, LOOK_PS, 5 * PS_PER_MS);
	assert_int_equal(wall_counts(pair->wall[0])->payload_bytes_good, BYTES);
	assert_int_equal(wall_counts(pair->wall[1])->payload_bytes_good, BYTES);
	assert_int_equal(carry(pair, 0), 1);
	look(pair, LOOK_PS, 10 * PS_PER_MS);
	assert_int_equal(wall_counts(pair->wall[0])->payload_bytes_good, 2 * BYTES);
	assert_int_equal(wall_counts(pair->wall[1])->payload_bytes_good, BYTES); // 0 waits
	assert_int_equal(carry(pair, 1), 1);
	look(pair, LOOK_PS, PS_PER_S);
	assert_true(is_done(pair));
	pair_close(pair);
}

static void a_world_without_such_triggers_has_none(void **)
{
	pair_matrix = NULL;
	struct pair *pair = pair_open("{from: 0, to: 1, bytes: 4KiB}", "");
	assert_null(wall_fired(pair->wall[0]));
	pair_close(pair);
}
