// SPDX-License-Identifier: Apache-2.0
// Ports of an adapter that go down and come back, as its program tells: what leaves by them, what
// frames tell the peer, and what is refused.
#include "adapter_rig.h"

static struct rig *open_rig(uint32_t count)
{
	struct adapter_config config = rig_config();
	struct rig *rig = rig_open(&config, 2, 7);
	rig_prepare(rig, count, 20000);
	return rig;
}

// The wire of a plane goes dark or has light again; side 0's program sees it at once.
static void set_wire(struct rig *rig, uint32_t plane, bool is_up)
{
	uint32_t bit = UINT32_C(1) << plane;
	rig->dark = is_up ? rig->dark & ~bit : rig->dark | bit;
	assert_int_equal(adapter_port(rig->sides[0].adapter, plane, is_up, rig->now), 0);
}

static const struct transport_counters *counters_of(const struct rig *rig, uint32_t side)
{
	return adapter_transport(rig->sides[side].adapter);
}

static void both_ends_leave_a_plane_and_come_back(void **state)
{
	(void)state;
	struct rig *rig = open_rig(400);
	rig_run(rig, 50 * PS_PER_US);
	assert_true(rig->pulled[0][1] > 10 && rig->pulled[1][1] > 10);
	set_wire(rig, 1, false);
	uint64_t own = rig->pulled[0][1];
	rig_run(rig, rig->now + 5 * PS_PER_US); // the peer hears of it
	uint64_t peers = rig->pulled[1][1], lost = rig->lost;
	rig_run(rig, rig->now + 100 * PS_PER_US);
	assert_int_equal(rig->pulled[0][1], own);
	assert_int_equal(rig->pulled[1][1], peers);
	assert_int_equal(rig->lost, lost);
	set_wire(rig, 1, true);
	rig_run(rig, rig->now + 20 * PS_PER_US);
	assert_true(rig->pulled[0][1] > own && rig->pulled[1][1] > peers);
	rig_run(rig, 10 * PS_PER_S);
	rig_check_done(rig);
	assert_int_equal(counters_of(rig, 0)->port_downs, 1);
	assert_int_equal(counters_of(rig, 0)->requests_sent, 2);
	assert_int_equal(counters_of(rig, 0)->responses_received, 2);
	assert_int_equal(counters_of(rig, 1)->requests_received, 2);
	assert_int_equal(rig->refused, 0);
	rig_close(rig);
}

// Pulls the next frame of `side` and hands it over.
static struct packet pass(struct rig *rig, uint32_t side, uint32_t plane)
{
	uint8_t frame[9216];
	struct packet packet;
	struct wire_view view;
	int length = adapter_pull(rig->sides[side].adapter, plane, frame, sizeof(frame), rig->now);
	assert_true(length > 0);
	assert_int_equal(wire_parse(&rig->in_switch, frame, (size_t)length, &packet, &view),
			 WIRE_FINE);
	assert_int_equal(
		adapter_feed(rig->sides[1 - side].adapter, frame, (size_t)length, rig->now), 0);
	return packet;
}

static void a_request_and_its_response_are_frames(void **state)
{
	(void)state;
	struct rig *rig = open_rig(1);
	rig_post(rig, 0);
	set_wire(rig, 0, false);
	struct packet request = pass(rig, 0, 1);
	assert_int_equal(request.opcode, PACKET_ENDPOINT_REQUEST);
	assert_int_equal(request.u.request.op, PACKET_REQUEST_PORT_STATUS);
	assert_int_equal(request.u.request.port_status_mask, 2);
	assert_int_equal(request.qpn, PACKET_ENDPOINT_QPN);
	struct packet response = pass(rig, 1, 1);
	assert_int_equal(response.opcode, PACKET_ENDPOINT_RESPONSE);
	assert_int_equal(response.psn & PACKET_REQUEST_ID_MASK, request.psn);
	assert_int_equal(counters_of(rig, 0)->responses_received, 1);
	set_wire(rig, 0, true);
	rig_run(rig, PS_PER_S);
	rig_check_done(rig);
	rig_close(rig);
}

static void without_a_port_nothing_is_pulled_until_one_is_back(void **state)
{
	(void)state;
	struct rig *rig = open_rig(20);
	rig_run(rig, 10 * PS_PER_US);
	set_wire(rig, 0, false);
	set_wire(rig, 1, false);
	uint64_t first = rig->pulled[0][0], second = rig->pulled[0][1];
	rig_run(rig, rig->now + 300 * PS_PER_US);
	assert_int_equal(rig->pulled[0][0], first);
	assert_int_equal(rig->pulled[0][1], second);
	set_wire(rig, 1, true);
	rig_run(rig, rig->now + 40 * PS_PER_MS);
	assert_int_equal(rig->pulled[0][0], first);
	set_wire(rig, 0, true);
	rig_run(rig, 10 * PS_PER_S);
	rig_check_done(rig);
	rig_close(rig);
}

static void without_a_port_for_all_tries_writes_come_back(void **state)
{
	(void)state;
	struct rig *rig = open_rig(1);
	rig_post(rig, 0);
	set_wire(rig, 0, false);
	set_wire(rig, 1, false);
	rig_run(rig, 10 * PS_PER_S);
	for (uint32_t qp = 0; qp < 2; qp++) {
		assert_int_equal(rig->sides[0].streams[qp].flushed, 1);
		assert_int_equal(adapter_state(rig->sides[0].adapter, rig->sides[0].qpns[qp]),
				 ADAPTER_ERROR);
	}
	rig_close(rig);
}

static void what_is_known_changes_nothing(void **state)
{
	(void)state;
	struct rig *rig = open_rig(1);
	set_wire(rig, 1, true);
	assert_int_equal(counters_of(rig, 0)->port_downs, 0);
	set_wire(rig, 1, false);
	set_wire(rig, 1, false);
	assert_int_equal(counters_of(rig, 0)->port_downs, 1);
	set_wire(rig, 1, true);
	rig_run(rig, PS_PER_S);
	rig_check_done(rig);
	assert_int_equal(counters_of(rig, 0)->requests_sent, 0); // nothing was posted meanwhile
	rig_close(rig);
}

static void a_port_that_is_not_there_is_refused(void **state)
{
	(void)state;
	struct rig *rig = open_rig(1);
	assert_int_equal(adapter_port(rig->sides[0].adapter, 2, false, 0), -EINVAL);
	assert_int_equal(adapter_port(rig->sides[0].adapter, UINT32_MAX, false, 0), -EINVAL);
	assert_int_equal(counters_of(rig, 0)->port_downs, 0);
	rig_close(rig);
}

static void without_port_status_the_call_is_refused(void **state)
{
	(void)state;
	struct adapter_config config = rig_config();
	config.transport.port_status = false;
	struct rig *rig = rig_open(&config, 1, 1);
	assert_int_equal(adapter_port(rig->sides[0].adapter, 0, false, 0), -EINVAL);
	rig_close(rig);
}

static void paths_without_states_need_it_off(void **state)
{
	(void)state;
	struct adapter_config config = rig_config();
	struct refusal refusal = {0};
	config.transport.path_policy = PATH_ROTATE;
	assert_int_equal(adapter_bytes(&config, &refusal), 0);
	assert_non_null(strstr(refusal.text, "port status"));
	config.transport.port_status = false;
	assert_int_not_equal(adapter_bytes(&config, &refusal), 0);
}
