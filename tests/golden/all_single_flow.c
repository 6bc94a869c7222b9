// SPDX-License-Identifier: Apache-2.0
// One flow on an idle network has a closed form, and htsim (UEC's public simulator) prints it to
// all its digits. Completion time = start to the moment the sender holds the cumulative
// acknowledgement. Tolerance: 1 ns.
//
// Store and forward, equal rates, H serialising queues, N packets: T = (N-1 + H-1) s + s_last + D +
// H s_ack + D back.

#include "../rig.h"

struct single {
	const char *bytes;
	uint32_t hops;	 // links: 2 same ToR, 4 same pod, 6 across
	bool is_fast;	 // 800 Gb/s, 0.5 us links and switches; else 100 Gb/s, 1 us links
	double htsim_us; // as htsim printed it
};

static const struct single singles[] = {
	{"4086B", 6, false, 14.0227},	  {"4086B", 4, false, 9.3485},
	{"4086B", 2, false, 4.6742},	  {"40860B", 6, false, 17.0107},
	{"1000000B", 2, false, 85.5966},  {"1000000B", 4, false, 90.2709},
	{"100B", 6, false, 12.1094},	  {"2000000B", 6, false, 176.1995},
	{"4294967B", 6, false, 362.6743}, {"4086B", 6, true, 11.2528},
	{"40860B", 6, true, 11.6263},	  {"4294967B", 6, true, 54.8343},
};

// The closed form in ps.
static ps_t closed_form(const struct single *single)
{
	uint64_t bytes = strtoull(single->bytes, NULL, 10), hops = single->hops;
	uint64_t packets = (bytes + 4085) / 4086, last = bytes - (packets - 1) * 4086 + 64;
	ps_t byte_ps = single->is_fast ? 10 : 80, full = 4150 * byte_ps, ack = 64 * byte_ps;
	ps_t way = single->is_fast ? (ps_t)(hops * 500000 + (hops - 1) * 500000)
				   : (ps_t)(hops * 1000000);
	ps_t there = packets == 1 ? (ps_t)hops * (ps_t)last * byte_ps
				  : (ps_t)(packets - 1 + hops - 1) * full + (ps_t)last * byte_ps;
	return there + way + (ps_t)hops * ack + way;
}

static void run_single(const struct single *single)
{
	static struct rig rig;
	char flow[128], *text = rig_text("htsim-single-flow");
	char *at = strstr(text, "    - {from: 0, to: 15, bytes: 2000000B}");
	assert_non_null(at);
	const char *slow[] = {NULL};
	const char *fast[] = {"fabric.link_rate=800Gb/s", "fabric.nic_delay=500ns",
			      "fabric.trunk_delay=500ns", "fabric.switch_delay=500ns", NULL};
	uint32_t target = single->hops == 2 ? 1 : single->hops == 4 ? 3 : 15;
	snprintf(flow, sizeof(flow), "    - {from: 0, to: %u, bytes: %s}", target, single->bytes);
	size_t tail = strlen("    - {from: 0, to: 15, bytes: 2000000B}");
	char *yaml = malloc(strlen(text) + sizeof(flow));
	sprintf(yaml, "%.*s%s%s", (int)(at - text), text, flow, at + tail);
	rig_run(&rig, yaml, single->is_fast ? fast : slow);
	ps_t measured = rig.outcome->flow_end_ps[0], expected = closed_form(single);
	printf("%10s over %u links: %11.4f us, closed form %11.4f, htsim %9.4f, %lld ps off\n",
	       single->bytes, single->hops, (double)measured / 1e6, (double)expected / 1e6,
	       single->htsim_us, (long long)(measured - expected));
	assert_int_equal(rig.run.end, RUN_DONE);
	assert_true(llabs(measured - expected) <= PS_PER_NS);
	assert_true(llabs(measured - (ps_t)(single->htsim_us * 1e6)) <= PS_PER_NS);
	assert_int_equal(rig.outcome->transport.rtx[RTX_TIMEOUT], 0);
	world_instance_free(&rig.world_instance);
	free(yaml);
	free(text);
}

static void single_flows_take_exactly_as_long_as_the_closed_form(void **state)
{
	for (size_t i = 0; i < sizeof(singles) / sizeof(*singles); i++)
		run_single(&singles[i]);
}
