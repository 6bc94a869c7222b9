// SPDX-License-Identifier: Apache-2.0
// Messages between two adapters over wires that do whatever wires do.
#include "adapter_rig.h"

static void over(const struct adapter_config *config, uint32_t qps, uint32_t count,
		 uint32_t bytes_max, uint64_t seed, void (*set)(struct rig *))
{
	struct rig *rig = rig_open(config, qps, seed);
	rig_prepare(rig, count, bytes_max);
	if (set)
		set(rig);
	rig_run(rig, 10 * PS_PER_S);
	rig_check_done(rig);
	assert_true((rig->loss_ppm == 0) == (rig->lost == 0)); // the wires did what they were to do
	assert_true((rig->duplicate_ppm == 0) == (rig->duplicated == 0));
	assert_true((rig->damage_ppm == 0) == (rig->damaged == 0));
	assert_true((rig->trim_ppm == 0) == (rig->trimmed == 0));
	assert_true(rig->refused <= rig->damaged); // and nothing else is turned away
	rig_close(rig);
}

static void a_message_arrives_with_its_bytes(void **state)
{
	struct adapter_config config = rig_config();
	struct rig *rig = rig_open(&config, 1, 1);
	rig_prepare(rig, 1, 100);
	rig_run(rig, PS_PER_S);
	rig_check_done(rig);
	for (uint32_t side = 0; side < 2; side++) {
		const struct adapter_counters *counters = adapter_counters(
			rig->sides[side].adapter);
		assert_int_equal(counters->bytes_placed, rig->sides[1 - side].streams[0].sizes[0]);
		assert_int_equal(counters->frames_pulled, 3); // the write, SACK and ACK
		assert_int_equal(counters->frames_fed, 3);
		assert_int_equal(counters->bytes_fed,
				 adapter_counters(rig->sides[1 - side].adapter)->bytes_pulled);
	}
	rig_close(rig);
}

static void clean_wires_repeat_nothing(void **state)
{
	struct adapter_config config = rig_config();
	struct rig *rig = rig_open(&config, 2, 2);
	rig_prepare(rig, 100, 9000);
	rig_run(rig, PS_PER_S);
	rig_check_done(rig);
	for (uint32_t side = 0; side < 2; side++) {
		const struct transport_counters *counters = adapter_transport(
			rig->sides[side].adapter);
		assert_int_equal(counters->duplicates, 0);
		for (int reason = 0; reason < RTX_REASON_COUNT; reason++)
			assert_int_equal(counters->rtx[reason], 0);
	}
	rig_close(rig);
}

static void set_loss(struct rig *rig)
{
	rig->loss_ppm = 50000;
}

static void set_jitter(struct rig *rig)
{
	rig->jitter_ps = 20 * PS_PER_US;
}

static void set_duplicates(struct rig *rig)
{
	rig->duplicate_ppm = 300000;
	rig->jitter_ps = 5 * PS_PER_US;
}

static void set_damage(struct rig *rig)
{
	rig->damage_ppm = 100000;
}

static void set_trims(struct rig *rig)
{
	rig->trim_ppm = 200000;
	rig->mark_ppm = 100000;
}

static void set_all(struct rig *rig)
{
	rig->jitter_ps = 10 * PS_PER_US;
	rig->loss_ppm = 20000;
	rig->duplicate_ppm = 50000;
	rig->damage_ppm = 20000;
	rig->trim_ppm = 50000;
	rig->mark_ppm = 50000;
}

static void lost_frames_are_sent_again_from_the_posted_memory(void **state)
{
	struct adapter_config config = rig_config();
	over(&config, 1, 60, 20000, 3, set_loss);
}

static void frames_may_overtake_each_other(void **state)
{
	struct adapter_config config = rig_config();
	over(&config, 2, 60, 9000, 4, set_jitter);
}

static void a_frame_that_comes_twice_is_placed_once(void **state)
{
	struct adapter_config config = rig_config();
	over(&config, 2, 60, 9000, 5, set_duplicates);
}

static void a_damaged_frame_is_never_placed(void **state)
{
	struct adapter_config config = rig_config();
	over(&config, 1, 60, 20000, 6, set_damage);
}

static void trimmed_frames_are_asked_for_again(void **state)
{
	struct adapter_config config = rig_config();
	over(&config, 1, 60, 20000, 7, set_trims);
}

static void each_message_arrives_once_whatever_the_wires_do(void **state)
{
	static const uint32_t planes[] = {1, 2, 4};
	for (uint64_t seed = 0; seed < 24; seed++) {
		struct adapter_config config = rig_config();
		config.transport.planes = planes[seed % 3];
		if (seed % 2 == 1)
			wire_config_default(4, &config.wire);
		if (seed % 3 == 2)
			config.wire.entropy = WIRE_ENTROPY_SRV6;
		if (seed % 3 == 0)
			config.wire.entropy = WIRE_ENTROPY_PORT;
		if (seed % 4 >= 2)
			config.transport.cc.name = "fixed";
		over(&config, 1 + seed % RIG_QPS, 30, 1 + (uint32_t)(seed * 1777), seed, set_all);
	}
}

static void messages_wait_for_room_in_the_queue(void **state)
{
	struct adapter_config config = rig_config();
	config.transport.sends_max = 1;
	over(&config, 1, 50, 3000, 8, set_all);
}

static void defaults_carry_large_messages(void **state)
{
	struct adapter_config config;
	adapter_config_default(&config);
	over(&config, 1, 4, 1 << 20, 9, set_loss);
}
