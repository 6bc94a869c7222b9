// SPDX-License-Identifier: Apache-2.0
// Which bad EVs are probed, and for how long: each has its turn, and an ACK that does not come is
// work, too.
#include "../transport_bench.h"

#include "../../../../lib/transport/path/probe.h"

#define MANY 64u

static uint32_t probes_over[MANY];
static uint32_t reminders, reminders_heard; // of these, over the EV that was heard of last

static const struct path_set *path_of(const struct bench *bench)
{
	return &endpoint_qp(bench->ends[0], 0)->path;
}

static void watch(struct bench *bench, struct packet *packet)
{
	const struct path_set *path = path_of(bench);
	if (packet->source != 0)
		return;
	uint32_t index = path_index(path, packet->ev);
	if (packet->opcode == PACKET_PROBE)
		probes_over[index]++;
	if (packet->klass != PACKET_CLASS_DATA || packet->bth != PACKET_RTX)
		return;
	reminders++;
	reminders_heard += index == path->planes[packet->plane].heard;
}

static struct bench *open_with(const struct transport_config *config)
{
	struct bench *bench = bench_open(config, 1, 0, 7);
	memset(probes_over, 0, sizeof(probes_over));
	reminders = reminders_heard = 0;
	bench->on_send = watch;
	return bench;
}

// All but the last few.
static bool loses_most(struct bench *bench, const struct packet *packet)
{
	return packet->source == 0 && packet->klass == PACKET_CLASS_DATA &&
		path_index(path_of(bench), packet->ev) < MANY - 8;
}

static void where_more_are_due_than_may_be_out_each_has_its_turn(void **)
{
	struct transport_config config = bench_config();
	config.planes = 1;
	config.ev_count = MANY;
	config.path_retry_ps = 2 * config.rto_ps;
	struct bench *bench = open_with(&config);
	bench->drops = loses_most;
	while (bench->now < 4 * PS_PER_MS) {
		while (bench_post(bench, 0, 0, 20000, 1) == 0)
			continue;
		bench_run(bench, bench->now + 10 * PS_PER_US);
		bench->log_count[0] = bench->log_count[1] = 0;
	}
	assert_true(path_of(bench)->held > 2 * PROBES_OUT);
	for (uint32_t index = 0; index < MANY; index++)
		if (path_state(path_of(bench), index) == PATH_ASSUMED_BAD)
			assert_int_not_equal(probes_over[index], 0);
	bench_close(bench);
}

static bool loses_acks_and_probes(struct bench *, const struct packet *packet)
{
	return packet->opcode == PACKET_ACK || packet->opcode == PACKET_PROBE;
}

// The paths may be why it does not come. What asks for it takes what is known to come through.
static void an_ack_that_does_not_come_keeps_bad_evs_probed(void **)
{
	struct transport_config config = bench_config();
	config.completion = COMPLETION_BY_ACK;
	config.path_retry_ps = 20 * PS_PER_US;
	struct bench *bench = open_with(&config);
	struct qp *qp = endpoint_qp(bench->ends[0], 0);
	bench->drops = loses_acks_and_probes;
	assert_int_equal(bench_post(bench, 0, 0, 5000, 1), 0);
	bench_run(bench, 30 * PS_PER_US);
	assert_int_equal(qp->una, qp->psn_posted);
	assert_int_equal(bench->log_count[0], 0);
	for (uint32_t index = 0; index < 8; index++)
		probe_retire(bench->ends[0], qp, index, bench->now);
	bench_run(bench, 300 * PS_PER_US);
	for (uint32_t index = 0; index < 8; index++)
		assert_int_not_equal(probes_over[index], 0);
	assert_true(reminders >= 4);
	assert_true(reminders_heard + 2 >= reminders); // the first of each plane is heard of
	bench_close(bench);
}
