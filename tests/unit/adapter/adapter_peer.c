// SPDX-License-Identifier: Apache-2.0
// Peers that are told of by plain values: whose addresses follow no rule, and what of them is
// refused. Whole transfers between such ends are in tests/property/adapter_pairs.c.
#include "adapter.h"

#include "adapter_rig.h"

#define FRAME_BYTES 9216

struct end {
	struct adapter_config config;
	struct adapter *adapter;
	void *memory;
	uint32_t qpn;
	struct adapter_exchange exchange;
	struct refusal refusal;
};

// Addresses of end `name` that no rule gives.
static void name_ends(uint8_t name, struct wire_end ends[PLANES_MAX])
{
	for (uint8_t plane = 0; plane < PLANES_MAX; plane++)
		ends[plane] = (struct wire_end){.gid = {0x20, 1, name, [15] = plane},
						.mac = {0x4c, 0, 0, name, 0, plane}};
}

static void open_adapter(struct end *end)
{
	size_t bytes = adapter_bytes(&end->config, &end->refusal);
	assert_int_not_equal(bytes, 0);
	end->memory = aligned_alloc(ADAPTER_ALIGN, bytes);
	assert_int_equal(
		adapter_create(&end->adapter, end->memory, bytes, &end->config, &end->refusal), 0);
	assert_int_equal(adapter_open(end->adapter, &end->qpn, &end->exchange), 0);
}

static void open_end(struct end *end, uint8_t name, uint32_t planes, uint32_t qps)
{
	struct wire_end ends[PLANES_MAX]; // need not outlive the calls
	name_ends(name, ends);
	end->config = rig_config();
	end->config.transport.planes = planes;
	end->config.qp_max = qps;
	end->config.ends = ends;
	open_adapter(end);
	memset(ends, 0xee, sizeof(ends));
}

static struct adapter_peer peer_of(const struct end *own, const struct end *other)
{
	struct adapter_peer peer;
	adapter_peer_default(own->adapter, &peer);
	for (uint32_t plane = 0; plane < own->config.transport.planes; plane++)
		assert_int_equal(adapter_end_of(other->adapter, plane, &peer.ends[plane]), 0);
	peer.qpn = other->qpn;
	return peer;
}

static int join(struct end *own, const struct adapter_peer *peer)
{
	return adapter_connect_peer(own->adapter, own->qpn, peer, 0, &own->refusal);
}

// One byte's frame from one end.
static int pull_one(struct end *from, uint8_t *frame)
{
	struct adapter_write write = {.local = "x", .bytes = 1, .rkey = RIG_RKEY, .va = RIG_VA};
	assert_int_equal(adapter_post(from->adapter, from->qpn, &write, 0), 0);
	int bytes = adapter_pull(from->adapter, 0, frame, FRAME_BYTES, 0);
	assert_true(bytes > 0);
	return bytes;
}

static void what_cannot_be_is_refused(void **state)
{
	(void)state;
	struct end own, other;
	open_end(&own, 1, 2, 1);
	open_end(&other, 2, 2, 1);
	const struct adapter_peer good = peer_of(&own, &other);
	struct {
		struct adapter_peer peer;
		int rc;
		const char *why;
	} cases[] = {
		{good, -EPROTO, "QPN 2, which is reserved"},
		{good, -EPROTO, "QPN 16777216"},
		{good, -EPROTO, "PSNs 16777216 and 0"},
		{good, -EPROTO, "PSNs 0 and 16777216"},
		{good, -EPROTO, "MTU of 255"},
		{good, -EPROTO, "MPR 0"},
		{good, -EPROTO, "0 immediates"},
		{good, -EINVAL, "UDP port 4790"},
		{good, -EINVAL, "not one partition"},
		{good, -EINVAL, "in plane 1 is of IPv4, here it is IPv6"},
		{good, -EINVAL, "in plane 1 belongs to no NIC"},
		{good, -EINVAL, "in plane 0 belongs to no NIC"},
		{good, -EINVAL, "in plane 0 belongs to no NIC"},
		{good, -EINVAL, "the peer has 4 planes, here are 2"},
		{good, -EINVAL, "the peer has 1 planes, here are 2"},
		{good, -EPROTO, "0 planes"},
	};
	cases[0].peer.qpn = 2;
	cases[1].peer.qpn = 1u << 24;
	cases[2].peer.send_psn = 1u << 24;
	cases[3].peer.receive_psn = 1u << 24;
	cases[4].peer.mtu = 255;
	cases[5].peer.mpr = 0;
	cases[6].peer.wimm_max = 0;
	cases[7].peer.udp_port = 4790;
	cases[8].peer.pkey = 0x7fff ^ 1;
	cases[9].peer.ends[1] = (struct wire_end){
		.gid = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 1}};
	cases[10].peer.ends[1].mac[0] = 1; // a group
	cases[11].peer.ends[0].gid[0] = 0xff;
	memset(cases[12].peer.ends[0].gid, 0, 16);
	cases[13].peer.planes = 4;
	cases[14].peer.planes = 1;
	cases[15].peer.planes = 0;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(join(&own, &cases[i].peer), cases[i].rc);
		if (!strstr(own.refusal.text, cases[i].why))
			fail_msg("'%s' does not say '%s'", own.refusal.text, cases[i].why);
		assert_int_equal(adapter_state(own.adapter, own.qpn), ADAPTER_INIT);
	}
	struct wire_end end;
	assert_int_equal(adapter_end_of(own.adapter, 2, &end), -EINVAL);
	assert_int_equal(join(&own, &good), 0);
	assert_int_equal(join(&own, &good), -EISCONN);
	free(own.memory);
	free(other.memory);
}

static void refuse_config(struct adapter_config *config, const char *why)
{
	struct refusal refusal;
	assert_int_equal(adapter_bytes(config, &refusal), 0);
	if (!strstr(refusal.text, why))
		fail_msg("'%s' does not say '%s'", refusal.text, why);
}

static void own_addresses_that_cannot_be_are_refused(void **state)
{
	(void)state;
	struct adapter_config config = rig_config();
	struct wire_end ends[PLANES_MAX];
	struct refusal refusal;
	config.ends = ends;
	name_ends(1, ends);
	config.nic = UINT32_MAX; // says nothing then
	assert_int_not_equal(adapter_bytes(&config, &refusal), 0);
	ends[1] = ends[0];
	refuse_config(&config, "planes 0 and 1 have one GID");
	name_ends(1, ends);
	ends[1].mac[0] |= 1;
	refuse_config(&config, "plane 1 belongs to no NIC");
	name_ends(1, ends);
	config.wire.ip_version = 4;
	refuse_config(&config, "plane 0 is not of IPv4");
	config.wire.ip_version = 6;
	config.wire.entropy = WIRE_ENTROPY_SRV6;
	refuse_config(&config, "SRv6");
}

static void with_one_plane_an_exchange_tells_the_address(void **state)
{
	(void)state;
	struct end own, other;
	uint8_t frame[FRAME_BYTES], memory[1] = {0};
	open_end(&own, 1, 1, 1);
	open_end(&other, 2, 1, 1);
	assert_int_equal(adapter_connect(own.adapter, own.qpn, &other.exchange, 0, &own.refusal),
			 0);
	assert_int_equal(
		adapter_connect(other.adapter, other.qpn, &own.exchange, 0, &other.refusal), 0);
	assert_int_equal(adapter_register(other.adapter, RIG_RKEY, memory, RIG_VA, 1), 0);
	int bytes = pull_one(&own, frame);
	static const uint8_t macs[] = {0x4c, 0, 0, 2, 0, 0, 0x4c, 0, 0, 1, 0, 0};
	assert_memory_equal(frame, macs, sizeof(macs));
	assert_memory_equal(frame + 14 + 8, "\x20\x01\x01", 3); // IPv6 source
	assert_memory_equal(frame + 14 + 24, "\x20\x01\x02", 3);
	assert_int_equal(adapter_feed(other.adapter, frame, (size_t)bytes, 0), 0);
	assert_int_equal(memory[0], 'x');
	free(own.memory);
	free(other.memory);
	open_end(&own, 1, 2, 1);
	open_end(&other, 2, 2, 1);
	assert_int_equal(adapter_connect(own.adapter, own.qpn, &other.exchange, 0, &own.refusal),
			 -EINVAL);
	assert_non_null(strstr(own.refusal.text, "with 2 planes they are to be given one by one"));
	free(own.memory);
	free(other.memory);
}

// Both ways to connect refuse ends with other numbers of planes, at both ends.
static void ends_with_other_planes_are_refused(void **state)
{
	(void)state;
	struct end two, four;
	open_end(&two, 1, 2, 1);
	open_end(&four, 2, 4, 1);
	struct adapter_peer to_four = peer_of(&two, &four), to_two;
	adapter_peer_default(four.adapter, &to_two);
	for (uint32_t plane = 0; plane < 4; plane++)
		assert_int_equal(adapter_end_of(two.adapter, plane % 2, &to_two.ends[plane]), 0);
	to_two.qpn = two.qpn;
	to_four.planes = 4;
	to_two.planes = 2;
	assert_int_equal(join(&two, &to_four), -EINVAL);
	assert_string_equal(two.refusal.text, "the peer has 4 planes, here are 2");
	assert_int_equal(join(&four, &to_two), -EINVAL);
	assert_string_equal(four.refusal.text, "the peer has 2 planes, here are 4");
	assert_int_equal(adapter_connect(two.adapter, two.qpn, &four.exchange, 0, &two.refusal),
			 -EINVAL);
	assert_string_equal(two.refusal.text, "the peer has 4 planes, here are 2");
	assert_int_equal(adapter_connect(four.adapter, four.qpn, &two.exchange, 0, &four.refusal),
			 -EINVAL);
	assert_string_equal(four.refusal.text, "the peer has 2 planes, here are 4");
	free(two.memory);
	free(four.memory);
}

static void another_partition_is_refused_at_once(void **state)
{
	(void)state;
	struct end own, other;
	open_end(&own, 1, 1, 1);
	open_end(&other, 2, 1, 1);
	other.exchange.pkey[1] ^= 1;
	assert_int_equal(adapter_connect(own.adapter, own.qpn, &other.exchange, 0, &own.refusal),
			 -EINVAL);
	assert_non_null(strstr(own.refusal.text, "P_Key"));
	memset(other.exchange.pkey, 0, sizeof(other.exchange.pkey)); // one that does not tell
	assert_int_equal(adapter_connect(own.adapter, own.qpn, &other.exchange, 0, &own.refusal),
			 0);
	free(own.memory);
	free(other.memory);
}

// Nothing covers a MAC that the program writes later.
static void an_unknown_mac_is_left_to_the_program(void **state)
{
	(void)state;
	struct end own, other;
	uint8_t frame[FRAME_BYTES], memory[1] = {0};
	static const uint8_t none[6];
	open_end(&own, 1, 2, 1);
	open_end(&other, 2, 2, 1);
	struct adapter_peer there = peer_of(&own, &other), here = peer_of(&other, &own);
	memset(there.ends[0].mac, 0, sizeof(there.ends[0].mac));
	assert_int_equal(join(&own, &there), 0);
	assert_int_equal(join(&other, &here), 0);
	assert_int_equal(adapter_register(other.adapter, RIG_RKEY, memory, RIG_VA, 1), 0);
	int bytes = pull_one(&own, frame);
	assert_memory_equal(frame, none, sizeof(none));
	memset(frame, 0x4c, sizeof(none));
	assert_int_equal(adapter_feed(other.adapter, frame, (size_t)bytes, 0), 0);
	assert_int_equal(memory[0], 'x');
	free(own.memory);
	free(other.memory);
}

// Addresses that follow from a NIC's number: an exchange may leave the MAC out, and not lie.
static void a_mac_that_is_told_is_that_of_the_number(void **state)
{
	(void)state;
	struct end own = {.config = rig_config()}, other = {.config = rig_config()};
	own.config.nic = 1;
	other.config.nic = 2;
	open_adapter(&own);
	open_adapter(&other);
	struct adapter_exchange told = other.exchange;
	told.mac[5] ^= 1;
	assert_int_equal(adapter_connect(own.adapter, own.qpn, &told, 0, &own.refusal), -EINVAL);
	assert_non_null(strstr(own.refusal.text, "another address"));
	memset(told.mac, 0, sizeof(told.mac));
	assert_int_equal(adapter_connect(own.adapter, own.qpn, &told, 0, &own.refusal), 0);
	free(own.memory);
	free(other.memory);
}

// The right QPN is not enough.
static void frames_of_a_third_are_of_no_qp(void **state)
{
	(void)state;
	struct end own, other, third;
	uint8_t frame[FRAME_BYTES], memory[1] = {0};
	open_end(&own, 1, 2, 1);
	open_end(&other, 2, 2, 1);
	open_end(&third, 3, 2, 1);
	struct adapter_peer here = peer_of(&other, &own), there = peer_of(&third, &other);
	assert_int_equal(join(&other, &here), 0);
	assert_int_equal(join(&third, &there), 0);
	assert_int_equal(adapter_register(other.adapter, RIG_RKEY, memory, RIG_VA, 1), 0);
	int bytes = pull_one(&third, frame);
	assert_int_equal(adapter_feed(other.adapter, frame, (size_t)bytes, 0), 0);
	assert_int_equal(adapter_transport(other.adapter)->no_qp, 1);
	assert_int_equal(memory[0], 0);
	assert_int_equal(adapter_feed(own.adapter, frame, (size_t)bytes, 0), WIRE_FOREIGN_ADDRESS);
	free(own.memory);
	free(other.memory);
	free(third.memory);
}

static void an_address_is_of_one_nic(void **state)
{
	(void)state;
	struct end own, first, second;
	struct adapter_exchange unused;
	uint32_t qpn;
	open_end(&own, 1, 2, 2);
	open_end(&first, 2, 2, 1);
	open_end(&second, 3, 2, 1);
	struct adapter_peer there = peer_of(&own, &first), mixed = peer_of(&own, &second);
	mixed.ends[1] = there.ends[1];
	assert_int_equal(join(&own, &there), 0);
	assert_int_equal(adapter_open(own.adapter, &qpn, &unused), 0);
	assert_int_equal(adapter_connect_peer(own.adapter, qpn, &mixed, 0, &own.refusal),
			 -EADDRINUSE);
	assert_int_equal(adapter_connect_peer(own.adapter, qpn, &there, 0, &own.refusal),
			 -EADDRINUSE); // its QP has one
	assert_int_equal(adapter_reset(own.adapter, own.qpn, &unused), 0);
	assert_int_equal(adapter_connect_peer(own.adapter, qpn, &mixed, 0, &own.refusal), 0);
	assert_int_equal(join(&own, &there), -EADDRINUSE);
	free(own.memory);
	free(first.memory);
	free(second.memory);
}

// NICs come and go: each is found by its addresses as long as a QP leads there, and keeps its
// number; nobody else gets that.
static void hosts_come_and_go(void **state)
{
	(void)state;
	enum { COUNT = 5, NAMES = 40, TURNS = 20000 };
	static _Alignas(64) uint8_t memory[16384];
	struct arena arena;
	struct host_table table;
	struct rng rng = rng_of(3, RNG_TEST, 0);
	uint32_t numbers[NAMES] = {0}, users[NAMES] = {0}, in_use = 0;
	assert_true(host_table_bytes(COUNT, 2, 64) <= sizeof(memory));
	arena_init(&arena, memory, host_table_bytes(COUNT, 2, 64));
	assert_int_equal(host_table_init(&table, &arena, COUNT, 2), 0);
	for (uint32_t turn = 0; turn < TURNS; turn++) {
		uint32_t name = rng_below(&rng, NAMES);
		struct host_given given = {.nic = name};
		name_ends((uint8_t)name, given.ends);
		if (users[name] > 0 && rng_below(&rng, 2) == 0) {
			host_drop(&table, numbers[name]);
			in_use -= --users[name] == 0;
		} else if (users[name] > 0 || in_use < COUNT) {
			uint32_t before = numbers[name];
			assert_int_equal(host_take(&table, &given, &numbers[name]), 0);
			assert_true(users[name] == 0 || numbers[name] == before);
			in_use += users[name]++ == 0;
		}
		for (uint32_t at = 0; at < NAMES; at++) {
			name_ends((uint8_t)at, given.ends);
			uint32_t found = host_find(&table, given.ends[at % 2].gid);
			assert_true(users[at] == 0 || found == numbers[at]);
			assert_true(found == HOST_NONE || host_at(&table, found)->nic == at);
		}
	}
}
