// SPDX-License-Identifier: Apache-2.0
// QPs that no port leads out of, be it that all are down, or that an operator denies what the
// others lead to: they wait, go on when a port is back, and end when none is for too long.
#include "../transport_status.h"

// Both planes, all waits of a packet that is never answered.
static const ps_t waits_us = (7 + 2 + 4 + 8 + 16 + 32) * 50;

// An operator denies every EV of a plane to one QP of side 0.
static void deny_plane(struct bench *bench, uint32_t qpn, uint32_t plane)
{
	const struct path_set *path = &endpoint_qp(bench->ends[0], qpn)->path;
	for (uint32_t index = plane; index < bench->config.ev_count; index += bench->config.planes)
		assert_int_equal(endpoint_ev_deny(bench->ends[0], path_value(path, index)), 0);
}

static void allow_plane(struct bench *bench, uint32_t qpn, uint32_t plane)
{
	const struct path_set *path = &endpoint_qp(bench->ends[0], qpn)->path;
	for (uint32_t index = plane; index < bench->config.ev_count; index += bench->config.planes)
		assert_int_equal(endpoint_ev_allow(bench->ends[0], path_value(path, index)), 0);
}

// Runs to the end, which must be that of QP 0, all tries after `from`.
static void ends_after_all_tries(struct bench *bench, ps_t from)
{
	ps_t end_at = bench_run(bench, BENCH_TO_THE_END), waits_ps = waits_us * PS_PER_US;
	assert_in_range(end_at - from, waits_ps, waits_ps + waits_ps / 1000);
	const struct completion *last = &bench->log[0][bench->log_count[0] - 1];
	assert_int_equal(last->kind, COMPLETION_FLUSHED);
	assert_int_equal(last->failure, QP_FAILURE_RETRIES);
	assert_int_equal(last->qp, 0);
	assert_int_equal(counters_of(bench, 0)->qps_failed, 1);
	assert_false(endpoint_has_work(bench->ends[0])); // or its NIC looks for light for ever
}

static void a_qp_whose_only_plane_is_down_ends_and_others_do_not(void **state)
{
	(void)state;
	struct bench *bench = open_two(2);
	deny_plane(bench, 0, 0);
	assert_int_equal(bench_post(bench, 0, 0, 40 * 1024, 1), 0);
	assert_int_equal(bench_post(bench, 0, 1, 400 * 1024, 1), 0);
	set_port(bench, 0, 1, false);
	ends_after_all_tries(bench, bench->now);
	assert_int_equal(bench->log_count[0], 2);
	assert_int_equal(bench->log[0][0].kind, COMPLETION_SENT); // QP 1, over the other plane
	bench_close(bench);
}

static void it_goes_on_when_its_port_is_back(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	deny_plane(bench, 0, 0);
	assert_int_equal(bench_post(bench, 0, 0, 400 * 1024, 1), 0);
	bench_run(bench, bench->now + 5 * PS_PER_US);
	set_port(bench, 0, 1, false);
	bench_run(bench, bench->now + (waits_us - 10) * PS_PER_US);
	assert_int_equal(bench->log_count[0], 0);
	set_port(bench, 0, 1, true);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench->log_count[0], 1);
	assert_int_equal(bench->log[0][0].kind, COMPLETION_SENT);
	assert_int_equal(data_seen(0, 0), 0);
	close_done(bench);
}

static void it_goes_on_when_another_plane_is_allowed(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	deny_plane(bench, 0, 0);
	assert_int_equal(bench_post(bench, 0, 0, 40 * 1024, 1), 0);
	set_port(bench, 0, 1, false);
	bench_run(bench, bench->now + 500 * PS_PER_US);
	allow_plane(bench, 0, 0);
	bench_run(bench, bench->now + 100 * PS_PER_US);
	assert_int_equal(bench->log_count[0], 1);
	assert_int_equal(data_seen(0, 0), 40);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(counters_of(bench, 0)->qps_failed, 0);
	close_done(bench);
}

static void the_wait_begins_with_the_post(void **state)
{
	(void)state;
	struct bench *bench = open_two(2);
	deny_plane(bench, 0, 0);
	set_port(bench, 0, 1, false);
	bench_run(bench, bench->now + PS_PER_MS);
	assert_int_equal(endpoint_wake_at(bench->ends[0]), PS_NEVER); // nobody waits
	assert_int_equal(bench_post(bench, 0, 0, 1024, 1), 0);
	ends_after_all_tries(bench, bench->now);
	bench_close(bench);
}

static void the_wait_begins_when_the_last_plane_is_denied(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	assert_int_equal(bench_post(bench, 0, 0, 4000 * 1024, 1), 0);
	set_port(bench, 0, 1, false);
	bench_run(bench, bench->now + 50 * PS_PER_US);
	deny_plane(bench, 0, 0);
	assert_int_equal(bench->log_count[0], 0);
	ends_after_all_tries(bench, bench->now);
	bench_close(bench);
}

static void ports_that_lead_nowhere_do_not_prolong_it(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	deny_plane(bench, 0, 0);
	assert_int_equal(bench_post(bench, 0, 0, 1024, 1), 0);
	set_port(bench, 0, 1, false);
	ps_t from = bench->now;
	for (uint32_t i = 0; i < 20; i++) {
		set_port(bench, 0, 0, i % 2);
		bench_run(bench, bench->now + 100 * PS_PER_US);
	}
	ends_after_all_tries(bench, from);
	bench_close(bench);
}

// What was said of one port is lost, and then there is no port to say it again by.
static void a_request_that_cannot_be_repeated_is_made_anew_in_the_light(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	drops_left = 1;
	assert_int_equal(bench_post(bench, 0, 0, 4 * 1024, 1), 0);
	set_port(bench, 0, 1, false);
	bench_run(bench, bench->now + 30 * PS_PER_US);
	assert_int_equal(bench->log_count[0], 1);
	assert_int_equal(counters_of(bench, 0)->requests_sent, 1);
	set_port(bench, 0, 0, false);
	bench_run(bench, BENCH_TO_THE_END);
	assert_false(endpoint_has_work(bench->ends[0]));
	assert_int_equal(counters_of(bench, 0)->requests_sent, 1);
	set_port(bench, 0, 0, true);
	send_all(bench, 0, 4 * 1024);
	assert_int_equal(bench->log_count[0], 2);
	assert_int_equal(counters_of(bench, 0)->requests_sent, 2);
	assert_int_equal(counters_of(bench, 0)->responses_received, 1);
	close_done(bench);
}

static void who_waits_for_ever_in_the_light_does_so_in_the_dark(void **state)
{
	(void)state;
	struct transport_config config = status_config();
	config.rto_doublings = RTO_DOUBLINGS_FOREVER;
	struct bench *bench = open_with(&config, 1);
	set_port(bench, 0, 0, false);
	set_port(bench, 0, 1, false);
	assert_int_equal(bench_post(bench, 0, 0, 40 * 1024, 1), 0);
	bench_run(bench, bench->now + 1000 * PS_PER_S);
	assert_int_equal(counters_of(bench, 0)->qps_failed, 0);
	set_port(bench, 0, 0, true);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench->log_count[0], 1);
	assert_int_equal(bench->log[0][0].kind, COMPLETION_SENT);
	close_done(bench);
}
