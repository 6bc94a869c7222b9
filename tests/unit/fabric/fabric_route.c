// SPDX-License-Identifier: Apache-2.0
// Routes as pure functions: exact division, even spread, and what has no way.

#include "fabric_rig.h"

#include "topology/route.h"

static uint32_t magic_quotient(uint32_t value, uint32_t span)
{
	struct route route = {.span = span};
	route_init(&route, 1, 1);
	return route_quotient(value, route.span_magic);
}

static void division_is_exact_at_the_edges_of_every_small_span(void **)
{
	for (uint32_t span = 1; span <= 2000; span++) {
		for (uint32_t k = 0; k < 50; k++) {
			uint32_t last = UINT32_MAX / span - k; // highest quotients err first
			assert_int_equal(magic_quotient(k * span, span), k);
			assert_int_equal(magic_quotient(k * span + span - 1, span), k);
			assert_int_equal(magic_quotient(last * span, span), last);
			assert_int_equal(magic_quotient(last * span - 1, span), last - 1);
		}
		assert_int_equal(magic_quotient(UINT32_MAX, span), UINT32_MAX / span);
	}
}

static void division_is_exact_for_random_values_and_spans(void **)
{
	struct rng rng = rng_of(7, RNG_TEST, 0);
	for (uint32_t i = 0; i < 2000000; i++) {
		uint32_t shift = 1 + rng_below(&rng, 31);
		uint32_t span = 1 + ((uint32_t)rng_next(&rng) >> shift);
		uint32_t value = (uint32_t)rng_next(&rng);
		if (magic_quotient(value, span) != value / span)
			fail_msg("%u / %u", value, span);
	}
	assert_int_equal(magic_quotient(UINT32_MAX, UINT32_C(1) << 31), 1);
}

static struct route up_route(uint32_t up_count, uint32_t id)
{
	struct route route = {.low = 8,
			      .high = 16,
			      .span = 1,
			      .down_links = 1,
			      .up_first = 8,
			      .up_count = up_count};
	route_init(&route, 3, id);
	return route;
}

// Chi-square of `draws` over `cells` against the uniform, in thousandths, so that no float is
// needed: sum (n - e)^2 / e.
static uint64_t chi_square_milli(const uint32_t *counts, uint32_t cells, uint32_t draws)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < cells; i++) {
		int64_t off = (int64_t)counts[i] * cells - draws;
		sum += (uint64_t)(off * off) * 1000 / ((uint64_t)draws * cells);
	}
	return sum;
}

// 64 cells have 63 degrees of freedom: the 99.9 % point is 103.4, of the lower side 34.6 (0.1 %).
static void entropy_spreads_one_flow_evenly_over_the_up_ports(void **)
{
	for (uint32_t id = 0; id < 8; id++) {
		struct route route = up_route(64, id);
		uint32_t counts[64] = {0};
		for (uint32_t ev = 0; ev < 64000; ev++) {
			struct packet packet = {.source = 9, .target = 77, .ev = ev};
			counts[route_port(&route, &packet) - 8]++;
		}
		assert_in_range(chi_square_milli(counts, 64, 64000), 30000, 115000);
	}
}

static void flows_with_one_entropy_spread_evenly_too(void **)
{
	struct route route = up_route(64, 5);
	uint32_t counts[64] = {0};
	for (uint32_t source = 0; source < 8; source++) {
		for (uint32_t target = 16; target < 8016; target++) {
			struct packet packet = {.source = source, .target = target};
			counts[route_port(&route, &packet) - 8]++;
		}
	}
	assert_in_range(chi_square_milli(counts, 64, 64000), 30000, 115000);
}

// The EVs of IPv4: 256 ports in a row per flow, of 64 rows. 8 up ports get 12800 packets each; 3 %
// are four deviations.
static void entropy_of_16_bits_spreads_evenly_over_the_up_ports(void **)
{
	for (uint32_t id = 0; id < 8; id++) {
		struct route route = up_route(8, id);
		struct rng rng = rng_of(11, RNG_TEST, id);
		uint32_t counts[8] = {0};
		for (uint32_t flow = 0; flow < 400; flow++) {
			uint32_t upper = 0xc000 | rng_below(&rng, 64) << 8;
			for (uint32_t i = 0; i < 256; i++) {
				struct packet packet = {.source = 8 + flow % 8,
							.target = 16 + flow,
							.ev = upper | i};
				counts[route_port(&route, &packet) - 8]++;
			}
		}
		for (uint32_t port = 0; port < 8; port++)
			assert_in_range(counts[port], 12416, 13184);
	}
}

// All that one flow can draw: 16384 values over 64 ports, judged as above.
static void all_entropy_of_16_bits_spreads_one_flow_evenly(void **)
{
	for (uint32_t id = 0; id < 8; id++) {
		struct route route = up_route(64, id);
		uint32_t counts[64] = {0};
		for (uint32_t ev = 0xc000; ev < 0x10000; ev++) {
			struct packet packet = {.source = 9, .target = 77, .ev = ev};
			counts[route_port(&route, &packet) - 8]++;
		}
		assert_in_range(chi_square_milli(counts, 64, 16384), 30000, 115000);
	}
}

// Two switches must not choose alike, or the second tier sees only a part of its ports.
static void switches_choose_independently(void **)
{
	struct route first = up_route(8, 1), second = up_route(8, 2);
	uint32_t counts[64] = {0};
	for (uint32_t ev = 0; ev < 64000; ev++) {
		struct packet packet = {.source = 1, .target = 99, .ev = ev};
		uint32_t a = route_port(&first, &packet) - 8, b = route_port(&second, &packet) - 8;
		counts[a * 8 + b]++;
	}
	assert_in_range(chi_square_milli(counts, 64, 64000), 30000, 115000);
}

// How evenly switch `second` spreads the flows that switch `first` sends out of its first port.
// Each flow keeps one entropy value: ECMP per flow.
static uint64_t chi_behind(const struct route *first, const struct route *second)
{
	uint32_t counts[16] = {0}, flows = 0;
	for (uint32_t source = 0; flows < 16000; source++) {
		struct packet packet = {.source = 1000 + source, .target = 77, .ev = 5};
		if (route_port(first, &packet) != first->up_first)
			continue;
		counts[route_port(second, &packet) - second->up_first]++;
		flows++;
	}
	return chi_square_milli(counts, 16, 16000);
}

// 16 cells have 15 degrees of freedom: the 99.9 % point is 37.7. With one salt for both, all flows
// that took one port at the first switch would take one at the second, too.
static void tiers_do_not_polarise_flows(void **)
{
	for (uint32_t id = 0; id < 16; id++) {
		struct route first = up_route(16, id), second = up_route(16, id + 1);
		assert_in_range(chi_behind(&first, &second), 1000, 42000);
		assert_true(chi_behind(&first, &first) > 1000000); // the control
	}
}

static void a_target_below_goes_down_whatever_its_entropy(void **)
{
	struct route route = up_route(4, 1);
	for (uint32_t ev = 0; ev < 1000; ev++) {
		for (uint32_t target = 8; target < 16; target++) {
			struct packet packet = {.target = target, .ev = ev};
			assert_int_equal(route_port(&route, &packet), target - 8);
		}
		struct packet above = {.target = 16, .ev = ev}, below = {.target = 7, .ev = ev};
		assert_in_range(route_port(&route, &above), 8, 11);
		assert_in_range(route_port(&route, &below), 8, 11);
	}
}

static void every_member_of_a_bundle_is_used(void **)
{
	struct route route = {.high = 64, .span = 8, .down_links = 3};
	route_init(&route, 3, 1);
	uint32_t counts[24] = {0};
	for (uint32_t ev = 0; ev < 3000; ev++) {
		struct packet packet = {.target = 42, .ev = ev};
		counts[route_port(&route, &packet)]++;
	}
	for (uint32_t port = 0; port < 24; port++) {
		if (port / 3 == 42 / 8)
			assert_in_range(counts[port], 900, 1100);
		else
			assert_int_equal(counts[port], 0);
	}
}

static void a_target_outside_has_no_way_at_the_top(void **)
{
	struct route route = {.high = 64, .span = 8, .down_links = 1};
	route_init(&route, 3, 1);
	struct packet packet = {.target = 64};
	assert_int_equal(route_port(&route, &packet), ROUTE_NONE);
}

// As switches ask that have one link to each below: all edges of groups, and what is not below.
static void a_plain_route_leads_where_any_does(void **)
{
	struct rng rng = rng_of(9, RNG_TEST, 0);
	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t shift = 8 + rng_below(&rng, 24);
		uint32_t span = 1 + ((uint32_t)rng_next(&rng) >> shift);
		uint32_t groups = 1 + rng_below(&rng, 1 << 13), most = (1u << 24) / span;
		uint32_t low = rng_below(&rng, 3) * span;
		groups = groups < most ? groups : most;
		struct route route = {.low = low,
				      .high = low + groups * span,
				      .span = span,
				      .down_links = 1,
				      .up_first = groups,
				      .up_count = i % 5};
		route_init(&route, 3, i);
		assert_true(route.is_plain);
		uint32_t edge = low + rng_below(&rng, groups + 1) * span;
		for (uint32_t target = edge - 1; target != edge + 2; target++) {
			struct packet packet = {.source = i, .target = target, .ev = i * 7};
			assert_int_equal(route_port_plain(&route, &packet, ROUTE_NONE),
					 route_port(&route, &packet));
		}
	}
}

static void bundles_and_source_routes_are_not_plain(void **)
{
	struct route route = {.high = 64, .span = 8, .down_links = 2};
	route_init(&route, 3, 1);
	assert_false(route.is_plain);
	route = (struct route){.high = 64, .span = 8, .down_links = 1, .is_static = true};
	route_init(&route, 3, 1);
	assert_false(route.is_plain);
}
