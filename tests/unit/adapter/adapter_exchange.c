// SPDX-License-Identifier: Apache-2.0
// What two ends tell each other, byte by byte, and which ends do not become a connection.
#include "adapter.h"

#include <time.h>

#include "adapter_rig.h"

// One adapter with one open QP.
struct end {
	struct adapter *adapter;
	void *memory;
	uint32_t qpn;
	struct adapter_exchange exchange;
	struct refusal refusal;
};

static struct end make_end(const struct adapter_config *config)
{
	struct end end = {0};
	size_t bytes = adapter_bytes(config, &end.refusal);
	assert_int_not_equal(bytes, 0);
	end.memory = aligned_alloc(ADAPTER_ALIGN, bytes);
	assert_int_equal(adapter_create(&end.adapter, end.memory, bytes, config, &end.refusal), 0);
	assert_int_equal(adapter_open(end.adapter, &end.qpn, &end.exchange), 0);
	return end;
}

static struct adapter_config config_of(uint32_t nic, uint8_t ip_version)
{
	struct adapter_config config = rig_config();
	wire_config_default(ip_version, &config.wire);
	config.nic = nic;
	return config;
}

static void an_exchange_has_this_layout(void **state)
{
	static const uint8_t head[] = {'w', 'e', 'f', 't', 1, 9, 2, 6};
	static const uint8_t gid[] = {0xfd, 0x77, 0x65, 0x66, 0x74, 0, 0, 0,
				      0,    0,	  0,	0,    0,    1, 2, 4};
	static const uint8_t numbers[] = {0, 0, 4, 0, 0, 0, 0, 32, 0, 0, 1, 0, 0x12, 0xb7};
	static const uint8_t rest[14] = {0, 126, 0xff, 0xff, 2, 0, 0, 1, 2, 4};
	struct adapter_config config = config_of(0x10203, 6);
	struct end end = make_end(&config);
	uint8_t bytes[64];
	memcpy(bytes, &end.exchange, sizeof(bytes));
	assert_memory_equal(bytes, head, sizeof(head));
	assert_memory_equal(bytes + 8, gid, sizeof(gid));
	assert_memory_equal(bytes + 24, "\0\1\2\3\0\0\0\3\0", 9); // NIC, QPN, high byte of PSN
	assert_memory_equal(bytes + 36, numbers, sizeof(numbers));
	assert_memory_equal(bytes + 50, rest, sizeof(rest)); // charge, P_Key, MAC, reserved
	free(end.memory);
}

static void ipv4_addresses_are_mapped(void **state)
{
	static const uint8_t gid[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 198, 18, 0, 8};
	struct adapter_config config = config_of(7, 4);
	struct end end = make_end(&config);
	assert_memory_equal(end.exchange.gid, gid, sizeof(gid));
	assert_int_equal(end.exchange.ip_version, 4);
	free(end.memory);
}

static void what_is_written_is_read(void **state)
{
	struct adapter_config config = config_of(77, 6);
	config.qp_max = 3;
	config.transport.trim_nack = false;
	config.wire.port = WIRE_PORT_OTHER;
	struct end end = make_end(&config);
	struct adapter_end facts;
	uint32_t psns[3];
	for (uint32_t i = 0; i < 3; i++) {
		if (i > 0)
			assert_int_equal(adapter_open(end.adapter, &end.qpn, &end.exchange), 0);
		assert_int_equal(end.qpn, 3 + i); // 0, 1 and 2 are of no QP
		assert_int_equal(adapter_exchange_read(&end.exchange, &facts, &end.refusal), 0);
		assert_memory_equal(facts.gid, end.exchange.gid, 16);
		assert_int_equal(facts.nic, 77);
		assert_int_equal(facts.qpn, end.qpn);
		assert_int_equal(facts.mtu, 1024);
		assert_int_equal(facts.wimm_max, 32);
		assert_int_equal(facts.mpr, 256);
		assert_int_equal(facts.planes, 2);
		assert_int_equal(facts.udp_port, WIRE_PORT_OTHER);
		assert_int_equal(facts.ip_version, 6);
		assert_int_equal(facts.capabilities, ADAPTER_ACK);
		psns[i] = facts.first_psn;
	}
	assert_true(psns[0] != psns[1] && psns[1] != psns[2]);
	assert_int_equal(adapter_open(end.adapter, &end.qpn, &end.exchange), -ENOBUFS);
	free(end.memory);
}

static void other_versions_and_other_bytes_are_refused(void **state)
{
	struct adapter_config config = config_of(1, 6), other = config_of(2, 6);
	struct end end = make_end(&config), peer = make_end(&other);
	struct adapter_end facts;
	for (uint32_t version = 0; version < 256; version++) {
		struct adapter_exchange exchange = peer.exchange;
		exchange.version = (uint8_t)version;
		int wanted = version == ADAPTER_EXCHANGE_VERSION ? 0 : -EPROTO;
		assert_int_equal(adapter_exchange_read(&exchange, &facts, &end.refusal), wanted);
		if (wanted != 0) {
			assert_int_equal(
				adapter_connect(end.adapter, end.qpn, &exchange, 0, &end.refusal),
				-EPROTO);
			assert_non_null(strstr(end.refusal.text, "version"));
		}
	}
	static const uint8_t from[] = {0, 3, 7, 28, 32};
	for (uint32_t i = 0; i < sizeof(from); i++) { // magic, IP version, beyond 24 bits
		struct adapter_exchange exchange = peer.exchange;
		((uint8_t *)&exchange)[from[i]] ^= 0x40;
		assert_int_equal(adapter_exchange_read(&exchange, &facts, &end.refusal), -EPROTO);
	}
	assert_int_equal(adapter_state(end.adapter, end.qpn), ADAPTER_INIT);
	struct adapter_exchange exchange = peer.exchange; // of a later minor version
	exchange.reserved[0] = 1;
	assert_int_equal(adapter_connect(end.adapter, end.qpn, &exchange, 0, &end.refusal), 0);
	free(end.memory);
	free(peer.memory);
}

// What a peer says is not trusted: neither the least nor the most of a field does harm.
static void numbers_of_a_peer_that_cannot_be_are_refused(void **state)
{
	enum { QPN_AT = 28, MTU_AT = 36, WIMM_AT = 40, MPR_AT = 44, BYTES = 4 };
	static const struct {
		uint32_t at, value;
		const char *why; // NULL: it is taken
	} cases[] = {
		{QPN_AT, 0, "QPN 0, which is reserved: 3 at least"},
		{QPN_AT, 2, "QPN 2"},
		{QPN_AT, 3, NULL},
		{QPN_AT, 0xffffff, NULL},
		{QPN_AT, 0x1000000, "QPN 16777216"},
		{MTU_AT, 0, "MTU of 0: must be 256 to 65535"},
		{MTU_AT, 1, "MTU of 1: must be 256 to 65535"},
		{MTU_AT, 255, "MTU of 255"},
		{MTU_AT, 65536, "MTU of 65536"},
		{MTU_AT, UINT32_MAX, "MTU of 4294967295"},
		{MTU_AT, 256, NULL},
		{MTU_AT, 65535, NULL},
		{WIMM_AT, 0, "0 immediates"},
		{WIMM_AT, 1, NULL},
		{WIMM_AT, UINT32_MAX, NULL},
		{MPR_AT, 0, "MPR 0"},
		{MPR_AT, 1, NULL},
		{MPR_AT, UINT32_MAX, NULL},
	};
	struct adapter_config config = config_of(1, 6), other = config_of(2, 6);
	static const uint8_t much[UINT16_MAX];
	struct adapter_write write = {.local = much, .bytes = sizeof(much)};
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct end end = make_end(&config), peer = make_end(&other);
		uint8_t frame[9216];
		for (uint32_t byte = 0; byte < BYTES; byte++)
			((uint8_t *)&peer.exchange)[cases[i].at + byte] =
				(uint8_t)(cases[i].value >> (24 - 8 * byte));
		int rc = adapter_connect(end.adapter, end.qpn, &peer.exchange, 0, &end.refusal);
		assert_int_equal(rc, cases[i].why ? -EPROTO : 0);
		if (cases[i].why && !strstr(end.refusal.text, cases[i].why))
			fail_msg("'%s' does not say '%s'", end.refusal.text, cases[i].why);
		if (rc == 0) {
			assert_int_equal(adapter_post(end.adapter, end.qpn, &write, 0), 0);
			assert_true(adapter_pull(end.adapter, 0, frame, sizeof(frame), 0) > 0);
		}
		free(end.memory);
		free(peer.memory);
	}
}

// Whether two ends refuse each other, with a word of the reason.
static void refuse_pair(const struct adapter_config *here, const struct adapter_config *there,
			const char *why)
{
	struct end end = make_end(here), peer = make_end(there);
	assert_int_equal(adapter_connect(end.adapter, end.qpn, &peer.exchange, 0, &end.refusal),
			 -EINVAL);
	if (!strstr(end.refusal.text, why))
		fail_msg("'%s' does not say '%s'", end.refusal.text, why);
	assert_int_equal(adapter_state(end.adapter, end.qpn), ADAPTER_INIT);
	free(end.memory);
	free(peer.memory);
}

static void ends_that_do_not_fit_are_not_connected(void **state)
{
	struct adapter_config here = config_of(1, 6), there = config_of(2, 6);
	there.transport.planes = 4;
	refuse_pair(&here, &there, "planes");
	there = config_of(2, 6);
	there = config_of(2, 4);
	refuse_pair(&here, &there, "IPv");
	there = config_of(2, 6);
	there.wire.port = WIRE_PORT_OTHER;
	refuse_pair(&here, &there, "UDP port");
	there = config_of(2, 6);
	there.wire.ipv6_prefix ^= UINT64_C(1) << 40;
	refuse_pair(&here, &there, "another address");
}

static void the_smaller_limits_are_agreed(void **state)
{
	struct adapter_config here = config_of(1, 6), there = config_of(2, 6);
	struct qp_view views[2];
	here.transport.payload_bytes = 512;
	here.transport.wimm_max = 64;
	there.transport.mpr = 512;
	struct end end = make_end(&here), peer = make_end(&there);
	assert_int_equal(adapter_connect(end.adapter, end.qpn, &peer.exchange, 0, &end.refusal), 0);
	assert_int_equal(adapter_connect(peer.adapter, peer.qpn, &end.exchange, 0, &peer.refusal),
			 0);
	assert_int_equal(adapter_query(end.adapter, end.qpn, &views[0]), 0);
	assert_int_equal(adapter_query(peer.adapter, peer.qpn, &views[1]), 0);
	for (uint32_t side = 0; side < 2; side++) {
		assert_int_equal(views[side].state, QP_RTS);
		assert_int_equal(views[side].mtu, 512);
		assert_int_equal(views[side].mpr, 256);
		assert_int_equal(views[side].wimm_max, 32);
	}
	assert_int_equal(views[0].psn_next, views[1].psn_wanted);
	free(end.memory);
	free(peer.memory);
}

static void a_reset_qp_is_connected_again(void **state)
{
	struct adapter_config here = config_of(1, 6), there = config_of(2, 6);
	struct end end = make_end(&here), peer = make_end(&there);
	struct adapter_write write = {.local = "x", .bytes = 1};
	struct adapter_exchange again;
	struct completion done;
	struct qp_view view;
	assert_int_equal(adapter_reset(end.adapter, end.qpn + 1, &again), -EINVAL);
	assert_int_equal(adapter_query(end.adapter, end.qpn + 1, &view), -EINVAL);
	assert_int_equal(adapter_connect(end.adapter, end.qpn, &peer.exchange, 0, &end.refusal), 0);
	assert_int_equal(adapter_post(end.adapter, end.qpn, &write, 0), 0);
	assert_int_equal(adapter_reset(end.adapter, end.qpn, &again), 0);
	assert_int_equal(adapter_poll(end.adapter, &done, 1), 0);
	assert_int_equal(adapter_state(end.adapter, end.qpn), ADAPTER_INIT);
	assert_int_equal(adapter_post(end.adapter, end.qpn, &write, 0), -ENOTCONN);
	assert_memory_not_equal(again.first_psn, end.exchange.first_psn, 4);
	assert_int_equal(adapter_connect(end.adapter, end.qpn, &peer.exchange, 0, &end.refusal), 0);
	assert_int_equal(adapter_post(end.adapter, end.qpn, &write, 0), 0);
	free(end.memory);
	free(peer.memory);
}

static double cpu_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// CPU time that it takes per QP to connect so many with one NIC and to reset them all.
static double reset_s(uint32_t qps, bool is_backwards)
{
	struct adapter_config config = config_of(1, 6), other = config_of(2, 6);
	config.qp_max = qps;
	config.transport.mpr = 64;
	config.transport.sends_max = 1;
	config.transport.ev_count = 2;
	struct end end = make_end(&config), peer = make_end(&other);
	struct adapter_exchange exchange = peer.exchange;
	for (uint32_t i = 0; i < qps; i++) {
		if (i > 0)
			adapter_open(end.adapter, &end.qpn, &end.exchange);
		uint32_t qpn = i + ADAPTER_QPN_FIRST;
		exchange.qpn[1] = (uint8_t)(qpn >> 16);
		exchange.qpn[2] = (uint8_t)(qpn >> 8);
		exchange.qpn[3] = (uint8_t)qpn;
		assert_int_equal(adapter_connect(end.adapter, end.qpn, &exchange, 0, &end.refusal),
				 0);
	}
	double before = cpu_s();
	for (uint32_t i = 0; i < qps; i++) {
		uint32_t number = is_backwards ? qps - 1 - i : i;
		assert_int_equal(adapter_reset(end.adapter, number + ADAPTER_QPN_FIRST, &exchange),
				 0);
	}
	double took = cpu_s() - before;
	assert_int_equal(adapter_connect(end.adapter, end.qpn, &peer.exchange, 0, &end.refusal), 0);
	free(end.memory);
	free(peer.memory);
	return took / qps;
}

// Whoever is reset is found no more by its peer's frames, and all others are.
static void peers_are_told_apart_while_some_leave(void **state)
{
	(void)state;
	enum { QPS = 200 };
	struct adapter_config config = config_of(1, 6), other = config_of(2, 6);
	config.qp_max = QPS;
	config.transport.mpr = 64;
	struct end end = make_end(&config), peer = make_end(&other);
	struct adapter_exchange exchange = peer.exchange, again;
	struct rng rng = rng_of(1, RNG_TEST, 0);
	bool is_there[QPS] = {false};
	for (uint32_t i = 1; i < QPS; i++)
		adapter_open(end.adapter, &end.qpn, &end.exchange);
	for (uint32_t turn = 0; turn < 3000; turn++) {
		uint32_t i = rng_below(&rng, QPS), qpn = i + ADAPTER_QPN_FIRST;
		exchange.qpn[3] = (uint8_t)qpn;
		is_there[i] = !is_there[i];
		assert_int_equal(
			is_there[i] ? adapter_connect(end.adapter, qpn, &exchange, 0, &end.refusal)
				    : adapter_reset(end.adapter, qpn, &again),
			0);
		for (uint32_t at = 0; at < QPS; at++) {
			uint32_t nic = host_find(&end.adapter->hosts, exchange.gid);
			const struct connection *connection = connection_of(end.adapter, nic,
									    at + ADAPTER_QPN_FIRST);
			assert_int_equal(connection != NULL, is_there[at]);
			assert_true(!connection || connection == &end.adapter->connections[at]);
		}
	}
	free(end.memory);
	free(peer.memory);
}

// 32 times as many QPs made each reset 32 times as long. A process whose CPU time is limited may
// have a clock that goes by ticks, and the few QPs take less than one.
static void to_reset_many_qps_takes_each_no_longer(void **state)
{
	enum { FEW = 512, MANY = 16384 };
	const double ticks_s = 0.02;
	for (uint32_t is_backwards = 0; is_backwards < 2; is_backwards++)
		assert_true(reset_s(MANY, is_backwards) <
			    10 * reset_s(FEW, is_backwards) + ticks_s / MANY);
}

static void states_follow_each_other(void **state)
{
	struct adapter_config config = config_of(1, 6), other = config_of(2, 6);
	config.qp_max = other.qp_max = 2;
	struct end end = make_end(&config), peer = make_end(&other);
	struct adapter_write write = {.local = "x", .bytes = 1};
	struct adapter_exchange second;
	uint32_t qpn;
	assert_int_equal(adapter_state(end.adapter, end.qpn), ADAPTER_INIT);
	assert_int_equal(adapter_state(end.adapter, end.qpn + 1), ADAPTER_RESET);
	assert_int_equal(adapter_state(end.adapter, 1000), ADAPTER_RESET);
	assert_int_equal(adapter_post(end.adapter, end.qpn, &write, 0), -ENOTCONN);
	assert_int_equal(adapter_connect(end.adapter, end.qpn + 1, &peer.exchange, 0, &end.refusal),
			 -EINVAL);
	assert_int_equal(adapter_connect(end.adapter, end.qpn, &peer.exchange, 0, &end.refusal), 0);
	assert_int_equal(adapter_state(end.adapter, end.qpn), ADAPTER_RTS);
	assert_int_equal(adapter_post(end.adapter, end.qpn, &write, 0), 0);
	assert_int_equal(adapter_state(end.adapter, end.qpn), ADAPTER_RTS);
	assert_int_equal(adapter_connect(end.adapter, end.qpn, &peer.exchange, 0, &end.refusal),
			 -EISCONN);
	assert_int_equal(adapter_open(end.adapter, &qpn, &second), 0);
	assert_int_equal(adapter_connect(end.adapter, qpn, &peer.exchange, 0, &end.refusal),
			 -EADDRINUSE);
	assert_int_equal(adapter_state(end.adapter, qpn), ADAPTER_INIT);
	free(end.memory);
	free(peer.memory);
}

static void bad_posts_are_refused(void **state)
{
	struct adapter_config config = config_of(1, 6), other = config_of(2, 6);
	struct end end = make_end(&config), peer = make_end(&other);
	struct adapter_write write = {.local = "x", .bytes = 1};
	assert_int_equal(adapter_connect(end.adapter, end.qpn, &peer.exchange, 0, &end.refusal), 0);
	assert_int_equal(adapter_post(end.adapter, end.qpn + 1, &write, 0), -EINVAL);
	assert_int_equal(
		adapter_post(end.adapter, end.qpn, &(struct adapter_write){.local = "x"}, 0),
		-EINVAL);
	assert_int_equal(adapter_post(end.adapter, end.qpn, &(struct adapter_write){.bytes = 1}, 0),
			 -EINVAL);
	for (uint32_t i = 0; i < config.transport.sends_max; i++)
		assert_int_equal(adapter_post(end.adapter, end.qpn, &write, 0), 0);
	assert_int_equal(adapter_post(end.adapter, end.qpn, &write, 0), -ENOBUFS);
	free(end.memory);
	free(peer.memory);
}
