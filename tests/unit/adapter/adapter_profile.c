// SPDX-License-Identifier: Apache-2.0
// QPs that have paths and congestion control of their own: seen in the frames that leave and in
// what is in flight. What of it is refused.
#include "adapter.h"

#include "adapter_rig.h"

#define PATHS 8u
#define WINDOW 20000u

static struct adapter_config profile_config(void)
{
	struct adapter_config config = rig_config();
	config.wire.entropy = WIRE_ENTROPY_STEV; // frames carry all 32 bits
	config.transport.ev_profiles_max = 2;
	config.transport.cc_profiles_max = 2;
	return config;
}

// Connects QP `qp` of both sides anew, with these profiles.
static void join(struct rig *rig, uint32_t qp, const uint32_t evs[2], const uint32_t ccs[2])
{
	for (uint32_t side = 0; side < 2; side++) {
		struct rig_side *own = &rig->sides[side];
		assert_int_equal(adapter_reset(own->adapter, own->qpns[qp], &own->exchanges[qp]),
				 0);
		assert_int_equal(adapter_choose(own->adapter, own->qpns[qp], evs[side], ccs[side],
						&rig->refusal),
				 0);
	}
	for (uint32_t side = 0; side < 2; side++)
		assert_int_equal(
			adapter_connect(rig->sides[side].adapter, rig->sides[side].qpns[qp],
					&rig->sides[1 - side].exchanges[qp], 0, &rig->refusal),
			0);
}

static void make_paths(struct rig *rig, uint32_t side, uint32_t number,
		       const struct adapter_path *paths, uint32_t count)
{
	assert_int_equal(
		adapter_ev_profile(rig->sides[side].adapter, number, paths, count, &rig->refusal),
		0);
}

// Two values on both ports of one side, others on the ports of the other side, and more of them.
static const struct adapter_path here[] = {{7, 1}, {7, 0}, {9, 0}, {9, 1}};
static const struct adapter_path there[PATHS] = {{1000, 0}, {1001, 0}, {1002, 0}, {1003, 0},
						 {1000, 1}, {2001, 1}, {2002, 1}, {2003, 1}};

struct seen {
	uint32_t counts[2][PATHS]; // frames by sender and path
	uint32_t others;
};

static uint32_t place_in(const struct adapter_path *paths, uint32_t count, uint32_t ev,
			 uint32_t plane)
{
	uint32_t i = 0;
	while (i < count && (paths[i].ev != ev || paths[i].plane != plane))
		i++;
	return i;
}

// Counts the frames that are on the way, by their paths.
static void look(const struct rig *rig, struct seen *seen)
{
	for (uint32_t i = 0; i < rig->flying; i++) {
		const struct flight *flight = &rig->flights[i];
		struct packet packet = rig_packet_of(rig, flight);
		uint32_t from = 1 - flight->to, most = from == 0 ? 4 : PATHS;
		uint32_t at = place_in(from == 0 ? here : there, most, packet.ev, packet.plane);
		if (packet.opcode == PACKET_ENDPOINT_REQUEST ||
		    packet.opcode == PACKET_ENDPOINT_RESPONSE)
			continue; // of the ports, not of a QP
		if (at == most)
			seen->others++;
		else
			seen->counts[from][at]++;
	}
}

static struct rig *open_with_paths(void)
{
	struct adapter_config config = profile_config();
	struct rig *rig = rig_open(&config, 1, 5);
	make_paths(rig, 0, 2, here, 4);
	make_paths(rig, 1, 1, there, PATHS);
	join(rig, 0, (const uint32_t[]){2, 1}, (const uint32_t[]){0, 0});
	rig_prepare(rig, 300, 20000);
	return rig;
}

static void each_end_sends_over_its_own_paths(void **state)
{
	(void)state;
	struct rig *rig = open_with_paths();
	struct seen seen = {0};
	rig->in_switch.addresses = WIRE_ADDRESSES_BY_RULE; // frames tell their planes
	while (rig->now < 100 * PS_PER_US) {
		rig_run(rig, rig->now + PS_PER_US / 2);
		look(rig, &seen);
	}
	assert_int_equal(seen.others, 0);
	for (uint32_t i = 0; i < 4; i++)
		assert_true(seen.counts[0][i] > 0);
	for (uint32_t i = 0; i < PATHS; i++)
		assert_true(seen.counts[1][i] > 0);
	for (uint32_t i = 0; i < 4; i++) { // told as they were given: plane by plane in turn
		struct adapter_path path;
		assert_int_equal(
			adapter_path(rig->sides[0].adapter, rig->sides[0].qpns[0], i, &path), 0);
		assert_int_equal(path.plane, i % 2);
		assert_int_equal(path.ev, i < 2 ? 7 : 9);
	}
	rig_run(rig, 10 * PS_PER_S);
	rig_check_done(rig);
	rig_close(rig);
}

static enum ev_state state_of(const struct rig *rig, uint32_t ev, uint32_t plane)
{
	enum ev_state told = EV_DENIED;
	const struct adapter_path path = {ev, plane};
	assert_int_equal(
		adapter_path_state(rig->sides[0].adapter, rig->sides[0].qpns[0], &path, &told), 0);
	return told;
}

static void one_of_two_paths_with_a_value_is_denied(void **state)
{
	(void)state;
	struct rig *rig = open_with_paths();
	struct adapter *adapter = rig->sides[0].adapter;
	struct seen seen = {0};
	const struct adapter_path path = {7, 1}, none = {1000, 1};
	enum ev_state told;
	rig->in_switch.addresses = WIRE_ADDRESSES_BY_RULE;
	assert_int_equal(adapter_path_deny(adapter, &none), -ENOENT);
	assert_int_equal(adapter_path_deny(adapter, &path), 0);
	assert_int_equal(state_of(rig, 7, 1), EV_DENIED);
	assert_int_equal(state_of(rig, 7, 0), EV_GOOD);
	assert_int_equal(adapter_ev_state(adapter, rig->sides[0].qpns[0], 7, &told), 0);
	assert_int_equal(told, EV_GOOD); // one of them is
	while (rig->now < 60 * PS_PER_US) {
		rig_run(rig, rig->now + PS_PER_US / 2);
		look(rig, &seen);
	}
	assert_int_equal(seen.counts[0][0], 0);
	assert_true(seen.counts[0][1] > 0);
	assert_int_equal(adapter_ev_deny(adapter, 7), 0); // wherever it is
	assert_int_equal(state_of(rig, 7, 0), EV_DENIED);
	assert_int_equal(adapter_ev_deny(adapter, 9), -EBUSY); // then none is left
	assert_int_equal(state_of(rig, 9, 1), EV_GOOD);
	assert_int_equal(adapter_path_allow(adapter, &path), 0);
	assert_int_equal(state_of(rig, 7, 1), EV_GOOD);
	assert_int_equal(state_of(rig, 7, 0), EV_DENIED);
	assert_int_equal(adapter_ev_deny(adapter, 9), 0);
	rig_run(rig, 10 * PS_PER_S);
	rig_check_done(rig);
	rig_close(rig);
}

static void lists_that_cannot_be_are_refused(void **state)
{
	(void)state;
	struct adapter_config config = profile_config();
	struct rig *rig = rig_open(&config, 1, 5);
	struct adapter *adapter = rig->sides[0].adapter;
	static const struct adapter_path twice[] = {{7, 0}, {8, 1}, {7, 0}, {9, 1}};
	static const struct adapter_path uneven[] = {{7, 0}, {8, 0}, {9, 0}, {9, 1}};
	static const struct adapter_path three[] = {{1, 0}, {2, 0}, {3, 0}, {1, 1}, {2, 1}, {3, 1}};
	static const struct adapter_path beyond[] = {{7, 0}, {8, 2}};
	static const struct adapter_path many[256];
	const struct {
		uint32_t number;
		const struct adapter_path *paths;
		uint32_t count;
		const char *why;
	} cases[] = {
		{0, here, 4, "EV profile 0: there are 1 to 2"},
		{3, here, 4, "EV profile 3: there are 1 to 2"},
		{1, NULL, 4, "0 paths: must be 1 to"},
		{1, here, 0, "0 paths: must be 1 to"},
		{1, many, 256, "256 paths: must be 1 to"},
		{1, here, 3, "3 paths on 2 planes"},
		{1, uneven, 4, "more than 2 of 4 paths are on plane 0"},
		{1, three, 6, "the same power of two"},
		{1, beyond, 2, "path 1 is on plane 2: there are 2"},
		{1, twice, 4, "are both 7"},
	};
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(adapter_ev_profile(adapter, cases[i].number, cases[i].paths,
						    cases[i].count, &rig->refusal),
				 -EINVAL);
		if (!strstr(rig->refusal.text, cases[i].why))
			fail_msg("'%s' does not say '%s'", rig->refusal.text, cases[i].why);
	}
	rig_close(rig);
}

static void ports_of_ipv4_are_ephemeral(void **state)
{
	(void)state;
	struct adapter_config config = rig_config();
	wire_config_default(4, &config.wire);
	config.transport.ev_profiles_max = 1;
	struct rig *rig = rig_open(&config, 1, 5);
	assert_int_equal(adapter_ev_profile(rig->sides[0].adapter, 1, here, 4, &rig->refusal),
			 -EINVAL);
	assert_non_null(strstr(rig->refusal.text, "a UDP port of 49152 and up"));
	rig_close(rig);
}

static void profiles_are_chosen_before_a_qp_is_connected(void **state)
{
	(void)state;
	struct adapter_config config = profile_config();
	struct rig *rig = rig_open(&config, 1, 5);
	struct rig_side *own = &rig->sides[0];
	struct adapter *adapter = own->adapter;
	struct cc_config cc = config.transport.cc;
	make_paths(rig, 0, 1, here, 4);
	assert_int_equal(adapter_cc_profile(adapter, 1, &cc, &rig->refusal), 0);
	assert_int_equal(adapter_choose(adapter, own->qpns[0], 1, 0, &rig->refusal), -EISCONN);
	assert_int_equal(adapter_reset(adapter, own->qpns[0], &own->exchanges[0]), 0);
	assert_int_equal(adapter_choose(adapter, own->qpns[0] + 1, 1, 0, &rig->refusal), -EINVAL);
	assert_int_equal(adapter_choose(adapter, own->qpns[0], 2, 0, &rig->refusal), -EINVAL);
	assert_int_equal(adapter_choose(adapter, own->qpns[0], 0, 2, &rig->refusal), -EINVAL);
	assert_int_equal(adapter_choose(adapter, own->qpns[0], 0, 3, &rig->refusal), -EINVAL);
	assert_int_equal(adapter_choose(adapter, own->qpns[0], 1, 1, &rig->refusal), 0);
	make_paths(rig, 0, 1, here, 2); // not in use yet
	assert_int_equal(adapter_connect(adapter, own->qpns[0], &rig->sides[1].exchanges[0], 0,
					 &rig->refusal),
			 0);
	assert_int_equal(adapter_ev_profile(adapter, 1, here, 4, &rig->refusal), -EBUSY);
	assert_int_equal(adapter_cc_profile(adapter, 1, &cc, &rig->refusal), -EBUSY);
	assert_int_equal(adapter_reset(adapter, own->qpns[0], &own->exchanges[0]), 0);
	make_paths(rig, 0, 1, here, 4);
	cc.name = "rccc";
	assert_int_equal(adapter_cc_profile(adapter, 1, &cc, &rig->refusal), -EINVAL);
	cc.name = "none";
	assert_int_equal(adapter_cc_profile(adapter, 1, &cc, &rig->refusal), -EINVAL);
	assert_int_equal(adapter_cc_profile(adapter, 3, &cc, &rig->refusal), -EINVAL);
	rig_close(rig);
}

// One QP with a fixed window, one with NSCC that may open its own ten times as far, one with what
// the adapter has: none is ever further out than its own lets it be, and each uses its own.
static void each_qp_obeys_its_own_window(void **state)
{
	(void)state;
	struct adapter_config config = profile_config();
	struct rig *rig = rig_open(&config, 3, 5);
	struct cc_config cc[] = {
		{.name = "fixed", .window_bytes = WINDOW},
		{.name = "nscc", .base_rtt_ps = 10 * PS_PER_US, .max_cwnd_bytes = 10 * WINDOW}};
	for (uint32_t side = 0; side < 2; side++)
		for (uint32_t i = 0; i < 2; i++)
			assert_int_equal(adapter_cc_profile(rig->sides[side].adapter, i + 1, &cc[i],
							    &rig->refusal),
					 0);
	for (uint32_t qp = 0; qp < 3; qp++)
		join(rig, qp, (const uint32_t[]){0, 0}, (const uint32_t[]){(qp + 1) % 3, 0});
	rig->mark_ppm = 20000;
	rig_prepare(rig, 300, 40000);
	uint32_t most[3] = {0}, windows[3] = {0};
	while (rig->now < 200 * PS_PER_US) {
		rig_run(rig, rig->now + PS_PER_US / 5);
		for (uint32_t qp = 0; qp < 3; qp++) {
			struct qp_view view;
			assert_int_equal(
				adapter_query(rig->sides[0].adapter, rig->sides[0].qpns[qp], &view),
				0);
			most[qp] = most[qp] > view.flight_bytes ? most[qp] : view.flight_bytes;
			windows[qp] = windows[qp] > view.window_bytes ? windows[qp]
								      : view.window_bytes;
		}
	}
	assert_int_equal(windows[0], WINDOW);
	assert_int_equal(windows[1], 10 * WINDOW);
	assert_true(windows[2] > 12 * WINDOW); // 1.5 bandwidth-delay products of the adapter
	for (uint32_t qp = 0; qp < 3; qp++)
		assert_true(most[qp] <= windows[qp]);
	assert_true(most[0] > WINDOW * 3 / 4);
	assert_true(most[1] > 2 * WINDOW);
	assert_true(most[2] > 2 * WINDOW);
	rig_run(rig, 10 * PS_PER_S);
	rig_check_done(rig);
	rig_close(rig);
}
