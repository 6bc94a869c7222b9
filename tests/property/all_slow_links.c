// SPDX-License-Identifier: Apache-2.0
// A permutation fills slow lines as it fills fast ones: over one plane and several, with each of
// MRC's controls, at rates from 1 to 400 Gb/s. On a slow line a bandwidth-delay product is a few
// packets, and sizes made by it alone took the queues that sprayed packets make by chance for
// congestion. RoCE takes one path, so it is asked where there is one: below one switch.
#include "../rig.h"

#define PAYLOAD 4096.
#define SEEDS 3
#define RC_SHARE_LEAST 0.97

struct control {
	const char *name;
	double share_least; // of the payload rate; the mean of seeds of the slowest flow
};

static struct rig rig;
static char text[1024];
static const double rates_gbps[] = {1, 10, 25, 50, 100, 400};
#define RATES (sizeof(rates_gbps) / sizeof(*rates_gbps))

static const struct control controls[] = {
	{"nscc", 0.92}, {"fixed", 0.92},     {"mprdma", 0.9}, {"dctcp", 0.89},
	{"rccc", 0.9},	{"nscc_rccc", 0.89}, {"swift", 0.7},
};

// The share of the payload rate that the slowest flow had.
static double slowest_share(double line_bps, double bytes)
{
	rig_run(&rig, text, NULL);
	const struct world *world = &rig.world_instance.world;
	assert_int_equal(rig.run.end, RUN_DONE);
	double frame = PAYLOAD + world->transport.header_bytes;
	double took_s = (double)(rig.outcome->end_ps - world->topology.base_rtt_ps) * 1e-12;
	world_instance_free(&rig.world_instance);
	return bytes * frame / PAYLOAD * 8 / line_bps / took_s;
}

static double mrc_share(const struct control *control, double gbps, uint32_t planes, uint32_t seed)
{
	double bytes = 400 * PAYLOAD * planes;
	snprintf(
		text, sizeof(text),
		"name: slow\nseed: %u\nfabric: {nics: 32, planes: %u, nics_per_t0: 8, t1_count: 8, "
		"link_rate: %gGb/s}\ncc: {algorithm: %s}\n"
		"traffic: {kind: permutation, bytes: %.0fB}\n",
		seed, planes, gbps, control->name, bytes);
	return slowest_share(gbps * 1e9 * planes, bytes);
}

static void ask(const struct control *control, double gbps, uint32_t planes)
{
	double sum = 0;
	for (uint32_t seed = 1; seed <= SEEDS; seed++)
		sum += mrc_share(control, gbps, planes, seed);
	if (sum / SEEDS < control->share_least)
		fail_msg("%s, %g Gb/s, planes: %u: %.3f of the line", control->name, gbps, planes,
			 sum / SEEDS);
}

static void a_permutation_fills_slow_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(controls) / sizeof(*controls); i++)
		for (size_t rate = 0; rate < RATES; rate++)
			for (uint32_t planes = 1; planes <= 4; planes *= 2)
				ask(&controls[i], rates_gbps[rate], planes);
}

static void roce_fills_slow_lines(void **state)
{
	(void)state;
	for (size_t rate = 0; rate < RATES; rate++) {
		double bytes = 400 * PAYLOAD;
		snprintf(text, sizeof(text),
			 "name: slow\nfabric: {nics: 32, nics_per_t0: 32, t1_count: 0, link_rate: "
			 "%gGb/s}\ntransport: {kind: rc}\ncc: {algorithm: dcqcn}\n"
			 "traffic: {kind: permutation, bytes: %.0fB}\n",
			 rates_gbps[rate], bytes);
		double share = slowest_share(rates_gbps[rate] * 1e9, bytes);
		if (share < RC_SHARE_LEAST)
			fail_msg("RoCE, %g Gb/s: %.3f of the line", rates_gbps[rate], share);
	}
}
