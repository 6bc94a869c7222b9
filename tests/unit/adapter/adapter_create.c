// SPDX-License-Identifier: Apache-2.0
// The memory of an adapter, and what it cannot be.
#include "adapter_rig.h"

#include "adapter.h" // what it drew

static void its_memory_is_enough_and_not_twice_what_it_draws(void **state)
{
	struct rng rng = rng_of(1, RNG_TEST, 0);
	for (int i = 0; i < 60; i++) {
		struct refusal refusal;
		struct adapter_config config = rig_config();
		config.qp_max = 1 + rng_below(&rng, 40);
		config.completion_max = 1 + rng_below(&rng, 1000);
		config.transport.planes = 1u << rng_below(&rng, 5);
		config.transport.mpr = 64u << rng_below(&rng, 8);
		config.transport.sends_max = 1 + rng_below(&rng, 200);
		config.transport.wimm_max = 32 + rng_below(&rng, 200);
		config.transport.regions_max = rng_below(&rng, 100);
		size_t bytes = adapter_bytes(&config, &refusal);
		assert_int_not_equal(bytes, 0);
		uint8_t *memory = aligned_alloc(ADAPTER_ALIGN, bytes + ADAPTER_ALIGN);
		memset(memory, 0xee, bytes + ADAPTER_ALIGN);
		struct adapter *adapter = NULL;
		assert_int_equal(adapter_create(&adapter, memory, bytes, &config, &refusal), 0);
		assert_in_range(adapter->arena.used, bytes / 2, bytes);
		for (size_t at = bytes; at < bytes + ADAPTER_ALIGN; at++)
			assert_int_equal(memory[at], 0xee);
		free(memory);
	}
}

static void one_byte_less_is_refused(void **state)
{
	struct refusal refusal;
	struct adapter_config config = rig_config();
	struct adapter *adapter = NULL;
	size_t bytes = adapter_bytes(&config, &refusal);
	uint8_t *memory = aligned_alloc(ADAPTER_ALIGN, bytes + ADAPTER_ALIGN);
	assert_int_equal(adapter_create(&adapter, memory, bytes - 1, &config, &refusal), -ENOMEM);
	assert_non_null(strstr(refusal.text, "are needed"));
	assert_int_equal(adapter_create(&adapter, memory + 8, bytes, &config, &refusal), -EINVAL);
	assert_int_equal(adapter_create(&adapter, NULL, bytes, &config, &refusal), -EINVAL);
	assert_null(adapter);
	free(memory);
}

static void nothing_is_drawn_after_its_making(void **state)
{
	struct adapter_config config = rig_config();
	struct rig *rig = rig_open(&config, 2, 3);
	size_t used = rig->sides[0].adapter->arena.used;
	assert_true(rig->sides[0].adapter->arena.is_sealed);
	rig_prepare(rig, 20, 5000);
	rig->loss_ppm = 30000;
	rig_run(rig, PS_PER_S);
	rig_check_done(rig);
	assert_int_equal(rig->sides[0].adapter->arena.used, used);
	for (uint32_t side = 0; side < 2; side++) // all packets are back
		assert_int_equal(packet_pool_taken(&rig->sides[side].adapter->packets), 0);
	rig_close(rig);
}

static void refuse_one(const struct adapter_config *config, const char *why)
{
	struct refusal refusal = {.text = ""};
	struct adapter *adapter = NULL;
	static _Alignas(ADAPTER_ALIGN) uint8_t memory[64];
	assert_int_equal(adapter_bytes(config, &refusal), 0);
	if (!strstr(refusal.text, why))
		fail_msg("'%s' does not say '%s'", refusal.text, why);
	assert_int_equal(adapter_create(&adapter, memory, sizeof(memory), config, &refusal),
			 -EINVAL);
	assert_null(adapter);
}

static void what_cannot_be_is_refused_with_its_reason(void **state)
{
	struct adapter_config config = rig_config();
	config.qp_max = 0;
	refuse_one(&config, "QPs");
	config = rig_config();
	config.qp_max = 65537;
	refuse_one(&config, "QPs");
	config = rig_config();
	config.completion_max = 0;
	refuse_one(&config, "completions");
	config = rig_config();
	config.plane_bps = 0;
	refuse_one(&config, "bit/s");
	config = rig_config();
	config.transport.kind = TRANSPORT_RC;
	refuse_one(&config, "MRC");
	config = rig_config();
	config.transport.planes = 0;
	refuse_one(&config, "planes");
	config = rig_config();
	config.transport.planes = 3;
	refuse_one(&config, "entropy values");
	config = rig_config();
	config.transport.mpr = 100;
	refuse_one(&config, "mpr");
	config = rig_config();
	config.transport.payload_bytes = 0;
	refuse_one(&config, "payload");
	config = rig_config();
	config.transport.payload_bytes = 70000;
	refuse_one(&config, "70000");
	config = rig_config();
	config.transport.payload_bytes = UINT32_MAX;
	refuse_one(&config, "payload");
	config = rig_config();
	config.transport.payload_bytes = 255;
	refuse_one(&config, "MTU of 255: must be 256 or more");
	config = rig_config();
	config.transport.cc.name = "none such";
	refuse_one(&config, "congestion control");
	config = rig_config();
	config.transport.sends_max = 0;
	refuse_one(&config, "work requests");
	config = rig_config();
	config.wire.ip_version = 5;
	refuse_one(&config, "");
	config = rig_config();
	config.nic = UINT32_MAX;
	refuse_one(&config, "addresses");
}

static void a_configuration_need_not_outlive_its_use(void **state)
{
	char name[] = "nscc";
	struct adapter_config *config = malloc(sizeof(*config));
	struct rig *rig;
	*config = rig_config();
	config->transport.cc.name = name;
	rig = rig_open(config, 1, 4);
	memset(name, 'x', sizeof(name) - 1);
	memset(config, 0xee, sizeof(*config));
	free(config);
	rig_prepare(rig, 10, 5000);
	rig->loss_ppm = 50000;
	rig_run(rig, PS_PER_S);
	rig_check_done(rig);
	rig_close(rig);
}

static void regions_are_registered_once(void **state)
{
	struct adapter_config config = rig_config();
	config.transport.regions_max = 3;
	struct rig *rig = rig_open(&config, 1, 5);
	struct adapter *adapter = rig->sides[0].adapter;
	uint8_t memory[16];
	assert_int_equal(adapter_register(adapter, 9, memory, 0, 16), 0);
	assert_int_equal(adapter_register(adapter, 9, memory, 0, 16), -EEXIST);
	assert_int_equal(adapter_register(adapter, 3, NULL, 0, 16), -EINVAL);
	assert_int_equal(adapter_register(adapter, 3, memory, 0, 0), -EINVAL);
	assert_int_equal(adapter_register(adapter, 3, memory, UINT64_MAX - 14, 16), -EINVAL);
	assert_int_equal(adapter_register(adapter, 3, memory, UINT64_MAX - 15, 16), 0);
	assert_int_equal(adapter_register(adapter, 5, memory, 77, 16), 0);
	assert_int_equal(adapter_register(adapter, 4, memory, 77, 16), -ENOSPC);
	assert_int_equal(adapter_unregister(adapter, 4), -ENOENT);
	assert_int_equal(adapter_unregister(adapter, 5), 0);
	assert_int_equal(adapter_unregister(adapter, 5), -ENOENT);
	for (uint32_t rkey = 10; rkey < 1000; rkey++) { // its place is free each time
		assert_int_equal(adapter_register(adapter, rkey, memory, 77, 16), 0);
		assert_int_equal(adapter_unregister(adapter, rkey), 0);
	}
	assert_int_equal(adapter_register(adapter, 3, memory, 77, 16), -EEXIST);
	rig_close(rig);
}

// The limits that its refusals tell are themselves allowed.
static void the_limits_are_allowed(void **state)
{
	static const uint64_t rates[] = {999999, 1000000, 10000000000000, 10000000000001};
	struct refusal refusal;
	for (uint32_t i = 0; i < 4; i++) {
		struct adapter_config config = rig_config();
		config.plane_bps = rates[i];
		assert_int_equal(adapter_bytes(&config, &refusal) != 0, i == 1 || i == 2);
	}
	for (uint32_t more = 0; more < 2; more++) {
		struct adapter_config config = rig_config();
		config.completion_max = (1u << 24) + more;
		assert_int_equal(adapter_bytes(&config, &refusal) != 0, !more);
		config = rig_config();
		config.qp_max = 65536 + more;
		assert_int_equal(adapter_bytes(&config, &refusal) != 0, !more);
	}
}

// Round trips are measured with time stamps: frames have them whatever the program asked for.
static void frames_have_time_stamps(void **state)
{
	struct adapter_config config = rig_config();
	struct wire_config reader = config.wire;
	struct packet packet;
	struct wire_view view;
	uint8_t frame[9216];
	config.wire.has_tseth = false;
	reader.has_tseth = true;
	struct rig *rig = rig_open(&config, 1, 6);
	struct adapter_write write = {.local = "x", .bytes = 1, .rkey = RIG_RKEY, .va = RIG_VA};
	ps_t now = 5 * 128 * PS_PER_NS;
	assert_int_equal(adapter_post(rig->sides[0].adapter, ADAPTER_QPN_FIRST, &write, now), 0);
	int bytes = adapter_pull(rig->sides[0].adapter, 0, frame, sizeof(frame), now);
	assert_int_equal(wire_parse(&reader, frame, (size_t)bytes, &packet, &view), WIRE_FINE);
	assert_int_equal(packet.timestamp, 5);
	assert_int_equal(packet.payload_bytes, 1);
	rig_close(rig);
}
