// SPDX-License-Identifier: Apache-2.0
// What one QP lost, answers of another QP to the same peer avoid, for as long as it is bad.
#include "../transport_status.h"

#include "../../../../lib/transport/endpoint/control.h"
#include "../../../../lib/transport/path/control_path.h"
#include "../../../../lib/transport/path/probe.h"

static struct qp *qp_of(struct bench *bench, uint32_t number)
{
	return endpoint_qp(bench->ends[0], number);
}

// QP `number` loses a packet on that EV.
static void lose(struct bench *bench, uint32_t number, uint32_t index)
{
	struct qp *qp = qp_of(bench, number);
	assert_int_not_equal(path_lose(&qp->path, index, 0), PATH_SAME);
	control_path_lost(bench->ends[0], qp);
}

static struct path_set *known_to(struct bench *bench, uint32_t number)
{
	return control_path_known(bench->ends[0], qp_of(bench, number));
}

static void an_answer_avoids_what_another_qp_lost(void **state)
{
	(void)state;
	struct bench *bench = open_two(2);
	assert_ptr_equal(known_to(bench, 0), &qp_of(bench, 0)->path);
	lose(bench, 1, 4);
	const struct path_set *path = &qp_of(bench, 1)->path;
	for (uint32_t i = 0; i < 200; i++) {
		struct packet packet = {.plane = 0};
		control_route(bench->ends[0], qp_of(bench, 0), &packet);
		uint32_t index = path_index(path, packet.ev);
		assert_int_not_equal(index, PATH_NO_EV);
		assert_int_not_equal(index, 4);
		assert_int_equal(packet.plane, 0);
	}
	close_done(bench);
}

static void whatever_retires_a_path_tells_the_others(void **state)
{
	(void)state;
	struct bench *bench = open_two(2);
	probe_lose(bench->ends[0], qp_of(bench, 1), 4, 0);
	assert_ptr_equal(known_to(bench, 0), &qp_of(bench, 1)->path);
	close_done(bench);
}

static void who_lost_something_itself_goes_by_that(void **state)
{
	(void)state;
	struct bench *bench = open_two(2);
	lose(bench, 0, 2);
	lose(bench, 1, 4);
	assert_ptr_equal(known_to(bench, 0), &qp_of(bench, 0)->path);
	assert_ptr_equal(known_to(bench, 1), &qp_of(bench, 1)->path);
	close_done(bench);
}

static void who_knows_less_goes_by_who_knows_more(void **state)
{
	(void)state;
	struct bench *bench = open_two(2);
	lose(bench, 1, 4);
	lose(bench, 1, 6);
	lose(bench, 0, 2); // as a lost probe of a QP that only receives
	assert_ptr_equal(known_to(bench, 0), &qp_of(bench, 1)->path);
	assert_ptr_equal(known_to(bench, 1), &qp_of(bench, 1)->path);
	close_done(bench);
}

// What own data lost is certain, however much probes of another QP seem to have lost.
static void what_data_lost_counts_before_what_probes_guess(void **state)
{
	(void)state;
	struct bench *bench = open_two(2);
	lose(bench, 0, 2);
	lose(bench, 0, 4);
	assert_int_equal(bench_post(bench, 0, 1, 1000, 0), 0);
	lose(bench, 1, 6);
	assert_ptr_equal(known_to(bench, 0), &qp_of(bench, 1)->path);
	assert_ptr_equal(known_to(bench, 1), &qp_of(bench, 1)->path);
	bench_run(bench, BENCH_TO_THE_END);
	close_done(bench);
}

static void a_path_that_came_back_is_used_again(void **state)
{
	(void)state;
	struct bench *bench = open_two(2);
	lose(bench, 1, 4);
	assert_ptr_equal(known_to(bench, 0), &qp_of(bench, 1)->path);
	assert_int_equal(path_probed(&qp_of(bench, 1)->path, 4, false, 1), PATH_CHANGED);
	path_plane_alive(&qp_of(bench, 1)->path, 0);
	assert_ptr_equal(known_to(bench, 0), &qp_of(bench, 0)->path);
	close_done(bench);
}

static void a_qp_that_failed_or_left_says_nothing(void **state)
{
	(void)state;
	struct bench *bench = open_two(2);
	lose(bench, 1, 4);
	qp_of(bench, 1)->state = QP_ERROR;
	assert_ptr_equal(known_to(bench, 0), &qp_of(bench, 0)->path);
	qp_of(bench, 1)->state = QP_RTS;
	assert_ptr_equal(known_to(bench, 0), &qp_of(bench, 1)->path);
	status_leave(bench->ends[0], 1);
	assert_ptr_equal(known_to(bench, 0), &qp_of(bench, 0)->path);
	assert_ptr_equal(known_to(bench, 1), &qp_of(bench, 1)->path);
	status_join(bench->ends[0], 1);
	assert_ptr_equal(known_to(bench, 0), &qp_of(bench, 0)->path);
	close_done(bench);
}

// What is denied, or drawn from other EVs, is not for others.
static void a_qp_with_evs_of_its_own_says_nothing(void **state)
{
	(void)state;
	struct bench *bench = open_two(2);
	lose(bench, 1, 4);
	struct path_set *path = &qp_of(bench, 1)->path;
	path->denied = 1;
	assert_ptr_equal(known_to(bench, 0), &qp_of(bench, 0)->path);
	path->denied = 0;
	const struct path_shape other = *path->shape, *shape = path->shape;
	path->shape = &other;
	assert_ptr_equal(known_to(bench, 0), &qp_of(bench, 0)->path);
	path->shape = shape;
	assert_ptr_equal(known_to(bench, 0), path);
	close_done(bench);
}

static void a_plane_held_dead_is_not_answered_on(void **state)
{
	(void)state;
	struct bench *bench = open_two(2);
	struct path_set *path = &qp_of(bench, 0)->path;
	assert_int_equal(path_control_plane(path, 1), 1);
	for (uint32_t i = 0; i < PATH_PLANE_LOSSES; i++)
		path_lose(path, 1 + i * path->shape->planes, 0);
	assert_true(path->planes[1].is_closed);
	assert_int_not_equal(path_control_plane(path, 1), 1);
	path_plane_alive(path, 1);
	assert_int_equal(path_control_plane(path, 1), 1);
	for (uint32_t plane = 0; plane < path->shape->planes; plane++)
		path->planes[plane].is_closed = true;
	assert_int_equal(path_control_plane(path, 1), 1); // somewhere it has to go
	for (uint32_t plane = 0; plane < path->shape->planes; plane++)
		path->planes[plane].is_closed = false;
	close_done(bench);
}
