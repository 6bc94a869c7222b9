// SPDX-License-Identifier: Apache-2.0
// The first figure that is refused, and the last that is not.
#include "adapter_rig.h"

static bool is_taken(const struct adapter_config *config, const char *why)
{
	struct refusal refusal = {.text = ""};
	bool ret = adapter_bytes(config, &refusal) != 0;
	if (!ret && !strstr(refusal.text, why))
		fail_msg("'%s' does not say '%s'", refusal.text, why);
	return ret;
}

static void figures_are_taken_up_to_their_bounds(void **)
{
	static const struct {
		uint64_t bps;
		bool is_taken;
	} rates[] = {
		{999999, false}, {1000000, true}, {10000000000000, true}, {10000000000001, false}};
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		struct adapter_config config = rig_config();
		config.plane_bps = rates[i].bps;
		assert_true(is_taken(&config, "bit/s") == rates[i].is_taken);
	}
	for (uint32_t more = 0; more < 2; more++) {
		struct adapter_config config = rig_config();
		config.receives_max = 32767 + more;
		assert_true(is_taken(&config, "receive requests: must be 0 to 32767") == !more);
		config = rig_config();
		config.qp_max = 65536 + more;
		assert_true(is_taken(&config, "QPs: must be 1 to 65536") == !more);
	}
}

static void each_part_of_a_configuration_is_looked_at(void **)
{
	struct adapter_config config = rig_config();
	config.wire.ip_version = 5;
	assert_false(is_taken(&config, "IP version 5"));
	config = rig_config();
	config.nic = UINT32_MAX;
	assert_false(is_taken(&config, "there are addresses for"));
}

static void what_is_not_said_is_as_documented(void **)
{
	struct adapter_config config;
	adapter_config_default(&config);
	assert_true(config.transport.cc.has_trimming);
	assert_true(config.transport.trim_nack);
	assert_true(config.transport.port_status);
	assert_string_equal(config.transport.cc.name, "nscc");
	assert_int_equal(config.transport.refused, REFUSED_NAK);
	assert_int_equal(config.wire.ip_version, 6);
}
