// SPDX-License-Identifier: Apache-2.0
// What tests that draw worlds from a seed share: the text of a scenario as it grows, and draws. Two
// draws never stand in the arguments of one call: C leaves their order open.
#pragma once

#include "rig.h"
#include "seeds.h"

#define TEXT_BYTES 8192

struct text {
	char at[TEXT_BYTES];
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(text->at + text->used, TEXT_BYTES - text->used, format, arguments);
	va_end(arguments);
	assert_true(length >= 0 && text->used + (size_t)length < TEXT_BYTES);
	text->used += (size_t)length;
}

// Of this text and all before it (FNV-1a). What a generator draws from its first seeds has one
// digest with every compiler.
__attribute__((unused)) static uint64_t text_digest(uint64_t digest, const struct text *text)
{
	for (size_t i = 0; i < text->used; i++)
		digest = (digest ^ (uint8_t)text->at[i]) * UINT64_C(0x100000001b3);
	return digest;
}

// Uniform in [low, high].
static uint32_t pick(struct rng *rng, uint32_t low, uint32_t high)
{
	return low + rng_below(rng, high - low + 1);
}

// One of two words.
__attribute__((unused)) static const char *flag(struct rng *rng)
{
	return pick(rng, 0, 1) ? "true" : "false";
}

// One world of three has the entropy values of IPv4 frames. Drawn last: the rest stays as it was.
__attribute__((unused)) static void add_wire(struct text *text, struct rng *rng)
{
	if (pick(rng, 0, 2) == 0)
		add(text, "wire: {ip: 4}\n");
}

// How packets and requests are acknowledged; keys of section transport. Drawn without moving the
// dice: the rest stays as it was.
__attribute__((unused)) static void add_acknowledgement(struct text *text, const struct rng *rng,
							bool has_offers)
{
	uint64_t bits = rng_mix(rng->state ^ 0x61636b);
	add(text, "  completion: %s\n  rtt: %s\n  service_time: %s\n", bits & 3 ? "ack" : "sack",
	    bits & 4 ? "local" : "stamp", bits & 8 ? "true" : "false");
	if (has_offers && bits & 16)
		add(text, "  dynamic_mpr: true\n  mpr_budget: 1024\n");
}

// Losses in a row, and a host that stalls: elements of a list of faults, of which `count` are
// there. Drawn without moving the dice: the rest stays as it was.
__attribute__((unused)) static void add_rare_faults(struct text *text, const struct rng *rng,
						    uint32_t count)
{
	uint64_t bits = rng_mix(rng->state ^ 0x7374616c6c);
	bool has_burst = (bits & 7) == 0, has_stall = (bits >> 3 & 7) == 0;
	uint32_t from = bits >> 6 & 15, length = 5 + (bits >> 10 & 31);
	if (count == 0 && (has_burst || has_stall))
		add(text, "faults:\n");
	if (has_burst)
		add(text,
		    "  - {kind: burst, at: all, from: %uus, until: %uus, probability: 0.0%02u, "
		    "burst: %u}\n",
		    from, from + length, 1 + (unsigned)(bits >> 15 & 63),
		    1 + (unsigned)(bits >> 21 & 31));
	if (has_stall)
		add(text, "  - {kind: stall, at: {host: 0}, from: %uus, until: %uus, queue: %u}\n",
		    from, from + length, 1 + (unsigned)(bits >> 26 & 127));
}

// How large random traffic may become.
struct traffic_range {
	uint32_t incast_spare; // NICs at least that an incast leaves out
	uint32_t ring_kib_max;
	uint32_t flow_bytes_max;
};

// An incast of two to `senders_max` senders.
__attribute__((unused)) static void add_incast(struct text *text, struct rng *rng,
					       uint32_t senders_max)
{
	uint32_t senders = pick(rng, 2, senders_max), bytes = pick(rng, 1, 150000);
	add(text, "traffic: {kind: incast, senders: %u, bytes: %uB}\n", senders, bytes);
}

// Hosts are joined beside the fabric.
__attribute__((unused)) static void add_scaleup(struct text *text, struct rng *rng,
						uint32_t delay_ns_max)
{
	uint32_t rate = pick(rng, 50, 900), delay_ns = pick(rng, 0, delay_ns_max);
	add(text, "scaleup: {rate: %uGB/s, delay: %uns}\n", rate, delay_ns);
}

// The cable of a NIC is dead for 5 us to `us_max`.
__attribute__((unused)) static void add_link_down(struct text *text, struct rng *rng, uint32_t nics,
						  uint32_t planes, uint32_t from_us,
						  uint32_t us_max)
{
	uint32_t nic = pick(rng, 0, nics - 1), plane = pick(rng, 0, planes - 1);
	add(text, "  - {kind: link_down, at: {nic: %u, plane: %u}, from: %uus, until: %uus}\n", nic,
	    plane, from_us, from_us + pick(rng, 5, us_max));
}

// Depths of queues; keys of section queue.
__attribute__((unused)) static void add_queue_bytes(struct text *text, struct rng *rng,
						    uint32_t bytes_max, uint32_t control_bytes_max)
{
	uint32_t bytes = pick(rng, 9000, bytes_max);
	uint32_t control_bytes = pick(rng, 2000, control_bytes_max);
	add(text, "  bytes: %uB\n  control_bytes: %uB\n", bytes, control_bytes);
}

// One of four kinds of traffic.
__attribute__((unused)) static void add_some_traffic(struct text *text, struct rng *rng,
						     uint32_t nics,
						     const struct traffic_range *range)
{
	switch (pick(rng, 0, 3)) {
	case 0:
		add(text, "traffic: {kind: permutation, bytes: %uB}\n", pick(rng, 1, 300000));
		break;
	case 1:
		add_incast(text, rng, nics - range->incast_spare);
		break;
	case 2:
		add(text, "traffic: {kind: ring, collective: all_reduce, bytes: %uKiB}\n",
		    pick(rng, 32, range->ring_kib_max));
		break;
	default:
		add(text, "traffic:\n  kind: flows\n  flows:\n");
		for (uint32_t i = pick(rng, 1, 20); i > 0; i--) {
			uint32_t from = pick(rng, 0, nics - 1);
			uint32_t to = (from + pick(rng, 1, nics - 1)) % nics;
			uint32_t bytes = pick(rng, 1, range->flow_bytes_max);
			add(text, "    - {from: %u, to: %u, bytes: %uB, start: %uns}\n", from, to,
			    bytes, pick(rng, 0, 20000));
		}
	}
}

// QPs that share each flow of a random world, two to eight in a world of three, as an assignment;
// else, where the least flow has not so many shares, and for rings, no list. Drawn without moving
// the dice: the rest stays as it was. `text` lives as long as the list.
struct shares {
	char text[64];
	const char *sets[2];
	uint32_t qps;
};

__attribute__((unused)) static const char *const *add_shares(struct shares *ret, uint64_t seed,
							     const char *yaml)
{
	static struct scenario scenario;
	struct refusal refusal;
	uint64_t bits = rng_mix(seed ^ 0x73686172);
	*ret = (struct shares){.qps = bits % 3 == 0 ? 2 + (uint32_t)(bits >> 8) % 7 : 1};
	snprintf(ret->text, sizeof(ret->text), "transport.qps_per_connection=%u", ret->qps);
	ret->sets[0] = ret->text;
	if (ret->qps > 1 &&
	    scenario_parse(&scenario, "test", yaml, strlen(yaml), ret->sets, 1, &refusal) == 0 &&
	    scenario.traffic.kind != TRAFFIC_RING)
		return ret->sets;
	ret->qps = 1;
	return NULL;
}

// The run ended as it should, and left nothing in a pool.
__attribute__((unused)) static void check_run_end(const struct rig *rig, enum run_end wanted)
{
	if (rig->run.end != wanted)
		fail_msg("ended as '%s' (%s) at %.3f us, %llu QPs failed",
			 run_end_name(rig->run.end),
			 rig->run.limit_option ? rig->run.limit_option : "",
			 (double)rig->run.now_ps / 1e6,
			 (unsigned long long)rig->outcome->transport.qps_failed);
	assert_true(rig->run.is_drained);
	assert_int_equal(rig->run.held, 0);
	assert_int_equal(packet_pool_taken(&rig->world_instance.world.packets), 0);
	assert_int_equal(rig->world_instance.world.chunks.free_count,
			 rig->world_instance.world.chunks.capacity);
}
