// SPDX-License-Identifier: Apache-2.0
// The formulas behind a scenario's `expect`. They know the configuration and arithmetic, and
// nothing of how endpoints or switches work: what a run measures is held against them, so they
// share no code with what is measured. Sources of the formulas: docs/howto/run-a-drill.md.

#include <weft/result/expect.h>

#include <math.h>
#include <string.h>

#include <weft/result/number.h>

#define CREDIT_BYTES 64 // payload of a credit: NCCL's entry in the sender's FIFO

// What the formulas are made of.
struct terms {
	const struct scenario_expect *expectation;
	double planes, rate_bps;
	double cut;		    // bytes that a cut-through switch reads; 0 = all
	double payload, header;	    // bytes of a packet
	double control, sack_bytes; // bytes of a SACK; received bytes that cause one
	double slice;		    // bytes of a ring's write
	double lost, time_down;	    // planes; share of time
	double loss;		    // share of packets that one cable takes
	uint32_t links;		    // cables on the longest way
	double switch_ns, trunk_ns; // latencies
	double shortest;	    // bytes of the shortest flow
	double paths;		    // of a QP
	double grey, trunks;	    // links above one T0: those that are grey, all in all planes
	double window_s, retry_s;
	double queue;	      // bytes of a full one
	double flows, pairs;  // QPs between two neighbours of a ring; such pairs
	double hole_s, rtt_s; // age of a hole that is held lost; base round trip
	struct text rate, loss_text, down_text;
};

// Cables on the longest way.
static uint32_t links_of(const struct world *world)
{
	return world->topology.links_max;
}

static double shortest_flow(const struct world *world)
{
	uint64_t shortest = UINT64_MAX;
	for (uint32_t i = 0; i < world->flow_count; i++)
		if (world->flows[i].bytes < shortest)
			shortest = world->flows[i].bytes;
	return world->flow_count == 0 ? 0 : (double)shortest;
}

static void terms_of(struct terms *ret, const struct report_input *input, uint32_t index)
{
	const struct world *world = input->world;
	const struct scenario_expect *expectation = &world->scenario->expectations[index];
	const struct ring_config *ring = &world->scenario->traffic.ring;
	const struct fabric_config *fabric = &world->scenario->fabric;
	double payload = world->scenario->transport.payload_bytes;
	*ret = (struct terms){
		.expectation = expectation,
		.planes = fabric->planes,
		.rate_bps = (double)fabric->link_rate_bps,
		.payload = payload,
		.header = world->scenario->transport.header_bytes,
		.control = world->scenario->transport.control_bytes,
		.sack_bytes = world->scenario->transport.sack_bytes,
		.slice = (double)ring->chunk_bytes_max / ring->slices,
		.lost = expectation->planes,
		.time_down = expectation->time_ppb / 1e9,
		.loss = expectation->loss_ppb / 1e9,
		.links = links_of(world),
		.switch_ns = (double)fabric->switch_delay_ps / PS_PER_NS,
		.cut = fabric->cut_bytes,
		.trunk_ns = (double)fabric->trunk_delay_ps / PS_PER_NS,
		.shortest = shortest_flow(world),
		.paths = world->scenario->transport.ev_count,
		.grey = expectation->links,
		.trunks = (double)fabric->planes * fabric->t1_count * fabric->bundle,
		.window_s = (double)(expectation->until_ps - expectation->from_ps) / PS_PER_S,
		.queue = (double)world->topology.queue_bytes,
		.flows = (double)ring->channels * world->scenario->qps_per_connection,
		.pairs = ring->ranks,
		.hole_s = (double)world->transport.hole_age_ps / PS_PER_S,
		.rtt_s = (double)world->topology.base_rtt_ps / PS_PER_S,
		.retry_s = (double)world->scenario->transport.path_retry_ps / PS_PER_S,
	};
	number_rate(&ret->rate, ret->rate_bps);
	number_share(&ret->loss_text, ret->loss);
	number_share(&ret->down_text, ret->time_down);
}

// ---------------------------------------------------------------- formulas

// Each writes itself, with numbers, to `text` and returns its value.
typedef double formula_fn(const struct terms *terms, char *text, size_t bytes);

// All planes carry full packets back to back.
static double one_way(const struct terms *t, char *text, size_t bytes)
{
	snprintf(text, bytes, "%.0f planes x %s x %.0f B / (%.0f + %.0f) B", t->planes, t->rate.at,
		 t->payload, t->payload, t->header);
	return t->planes * t->rate_bps * t->payload / (t->payload + t->header);
}

// A ring of two: writes of a slice each way, so that lines carry answers to what comes the other
// way: SACKs, and the ACK of the whole write; and for each slice a credit, whose payload counts,
// with a SACK and an ACK.
static double ring_writes(const struct terms *t, char *text, size_t bytes)
{
	double packets = ceil(t->slice / t->payload) + 1;
	double answers = ceil(t->slice / t->sack_bytes) + 1 + 2;
	double good = t->slice + CREDIT_BYTES;
	snprintf(text, bytes,
		 "%.0f planes x %s x (%.0f + %d) B / (%.0f + %.0f x %.0f + %.0f x %.0f) B",
		 t->planes, t->rate.at, t->slice, CREDIT_BYTES, good, packets, t->header, answers,
		 t->control);
	return t->planes * t->rate_bps * good / (good + packets * t->header + answers * t->control);
}

static double planes_left(const struct terms *t, char *text, size_t bytes)
{
	double whole = one_way(t, text, bytes);
	size_t used = strlen(text);
	snprintf(text + used, bytes - used, " x (%.0f - %.0f) / %.0f", t->planes, t->lost,
		 t->planes);
	return whole * (t->planes - t->lost) / t->planes;
}

static double planes_flapping(const struct terms *t, char *text, size_t bytes)
{
	double whole = one_way(t, text, bytes);
	size_t used = strlen(text);
	snprintf(text + used, bytes - used, " x (%.0f - %.0f x %s) / %.0f", t->planes, t->lost,
		 t->down_text.at, t->planes);
	return whole * (t->planes - t->lost * t->time_down) / t->planes;
}

// What is lost is sent again and takes its time again.
static double loss_repaired(const struct terms *t, char *text, size_t bytes)
{
	double whole = one_way(t, text, bytes);
	size_t used = strlen(text);
	snprintf(text + used, bytes - used, " x (1 - %s)^%u", t->loss_text.at, t->links);
	return whole * pow(1 - t->loss, t->links);
}

static double loss_on_way(const struct terms *t, char *text, size_t bytes)
{
	snprintf(text, bytes, "1 - (1 - %s)^%u cables", t->loss_text.at, t->links);
	return 1 - pow(1 - t->loss, t->links);
}

// ---------------------------------------------------------------- hashed flows

#define FLOWS_MAX 1024 // of busiest_plane(), as scenario_expect.c has it

static double chance_of(uint32_t hits, uint32_t tries, double chance)
{
	if (chance >= 1)
		return hits == tries;
	return exp(lgamma(tries + 1.0) - lgamma(hits + 1.0) - lgamma(tries - hits + 1.0) +
		   hits * log(chance) + (tries - hits) * log1p(-chance));
}

// The chance that no plane gets more than `most` of `flows` that fall on planes by chance: planes
// are filled one after the other, each from what those before have left.
static double chance_of_most(uint32_t flows, uint32_t planes, uint32_t most)
{
	double left[FLOWS_MAX + 1] = {0}, then[FLOWS_MAX + 1];
	left[flows] = 1;
	for (uint32_t plane = 0; plane < planes; plane++) {
		memset(then, 0, sizeof(then));
		for (uint32_t rest = 0; rest <= flows; rest++)
			for (uint32_t hits = 0; left[rest] > 0 && hits <= rest && hits <= most;
			     hits++)
				then[rest - hits] += left[rest] *
					chance_of(hits, rest, 1.0 / (planes - plane));
		memcpy(left, then, sizeof(left));
	}
	return left[0];
}

// What is to be expected of the busiest plane of all pairs of neighbours.
static double busiest_of(uint32_t flows, uint32_t planes, uint32_t pairs)
{
	double expected = 0;
	for (uint32_t most = 0; most < flows; most++) {
		double higher = 1;
		if (most >= flows / planes) // else one must be higher
			higher -= pow(chance_of_most(flows, planes, most), pairs);
		expected += higher;
		if (higher < 1e-6)
			break;
	}
	return expected;
}

// A ring goes as fast as its slowest flow, which is on the busiest plane between two neighbours:
// flows of one path each fall on planes by chance. Spread evenly they would fill all of them.
static double busiest_plane(const struct terms *t, char *text, size_t bytes)
{
	double busiest = busiest_of((uint32_t)t->flows, (uint32_t)t->planes, (uint32_t)t->pairs);
	snprintf(text, bytes,
		 "%.0f flows / %.0f planes / %.2f, the most of them on a plane in %.0f draws",
		 t->flows, t->planes, busiest, t->pairs);
	return t->flows / t->planes / busiest;
}

static double equal(const struct terms *, char *text, size_t bytes)
{
	snprintf(text, bytes, "1");
	return 1;
}

// ---------------------------------------------------------------- ways and grey links

// What of a packet is sent before a switch sends it on.
static double sent_before(const struct terms *t, double bytes)
{
	return t->cut > 0 && t->cut < bytes ? t->cut : bytes;
}

// A message across T1 passes two switches and two trunks more than one below a T0, and so does the
// SACK that completes it: each is stored and forwarded whole, or its head is.
static double two_switches(const struct terms *t, char *text, size_t bytes)
{
	double data_ns = sent_before(t, t->header + t->shortest) * 8e9 / t->rate_bps;
	double ack_ns = sent_before(t, t->control) * 8e9 / t->rate_bps;
	snprintf(text, bytes, "2 x (2 x (%.0f + %.0f) ns + %.2f ns of data + %.2f ns of ACK)",
		 t->switch_ns, t->trunk_ns, data_ns, ack_ns);
	return (4 * (t->switch_ns + t->trunk_ns) + 2 * (data_ns + ack_ns)) / 1e9;
}

// Packets of a sender from one on a path to the next on it: each of its paths has a turn.
static double turn_s(const struct terms *t)
{
	return t->paths * (t->payload + t->header) * 8 / (t->planes * t->rate_bps);
}

// Turns that a path has from a loss until its sender knows of it: the age that makes a hole a loss,
// and the way there and back.
static double blind_turns(const struct terms *t)
{
	return (t->hole_s + t->rtt_s) / turn_s(t);
}

// A path over a grey link is left at its first loss, or a little later: it goes on until that is
// known. In a window from the start on it has n turns.
static double grey_learning(const struct terms *t, char *text, size_t bytes)
{
	double n = t->window_s / turn_s(t), blind = blind_turns(t);
	snprintf(text, bytes,
		 "%.0f of %.0f links x (1 - (1 - %s)^n) x (1 + %.1f x %s) / n, n = %.0f", t->grey,
		 t->trunks, t->loss_text.at, blind, t->loss_text.at, n);
	return t->grey / t->trunks * (1 - pow(1 - t->loss, n)) * (1 + blind * t->loss) / n;
}

// Then it is left alone for a retry time, taken again, and loses a packet after 1 / loss turns: so
// it goes round, and only the turns that it has count.
static double grey_learnt(const struct terms *t, char *text, size_t bytes)
{
	double used_s = turn_s(t) * (1 / t->loss + blind_turns(t));
	snprintf(text, bytes, "%.0f of %.0f links x %s x %.2f ms / (%.2f + %.2f) ms", t->grey,
		 t->trunks, t->loss_text.at, used_s * 1e3, used_s * 1e3, t->retry_s * 1e3);
	return t->grey / t->trunks * t->loss * used_s / (used_s + t->retry_s);
}

static double limit(const struct terms *t, char *text, size_t bytes)
{
	struct text given;
	snprintf(text, bytes, "%s, given", number_time(&given, t->expectation->limit_ps));
	return (double)t->expectation->limit_ps / PS_PER_S;
}

// A loss is known when a packet that was sent a hole's age later is known to be there: the way
// there and back, with a full queue on it, and the wait for a SACK.
static double holes(const struct terms *t, char *text, size_t bytes)
{
	double sack_s = t->sack_bytes * 8 / (t->planes * t->rate_bps);
	double queue_s = t->queue * 8 / t->rate_bps;
	snprintf(text, bytes, "%.2f us hole_age + %.2f us RTT + %.2f us queue + %.2f us SACK",
		 t->hole_s * 1e6, t->rtt_s * 1e6, queue_s * 1e6, sack_s * 1e6);
	return t->hole_s + t->rtt_s + queue_s + sack_s;
}

// Of a link: in two rounds each path that leads over it has had a turn.
static double holes_of_all(const struct terms *t, char *text, size_t bytes)
{
	double one = holes(t, text, bytes);
	size_t used = strlen(text);
	snprintf(text + used, bytes - used, " + 2 x %.2f us", turn_s(t) * 1e6);
	return one + 2 * turn_s(t);
}

static double capacity_left(const struct terms *t, char *text, size_t bytes)
{
	struct text taken;
	snprintf(text, bytes, "1 - %s of the capacity",
		 number_share(&taken, t->expectation->lost_ppb / 1e9));
	return 1 - t->expectation->lost_ppb / 1e9;
}

static const struct {
	const char *name;
	formula_fn *formula;
} formulas[EXPECT_FORMULA_COUNT] = {
	[EXPECT_ONE_WAY] = {"one_way", one_way},
	[EXPECT_RING_WRITES] = {"ring_writes", ring_writes},
	[EXPECT_PLANES_LEFT] = {"planes_left", planes_left},
	[EXPECT_PLANES_FLAPPING] = {"planes_flapping", planes_flapping},
	[EXPECT_LOSS_REPAIRED] = {"loss_repaired", loss_repaired},
	[EXPECT_LOSS_ON_WAY] = {"loss_on_way", loss_on_way},
	[EXPECT_BUSIEST_PLANE] = {"busiest_plane", busiest_plane},
	[EXPECT_EQUAL] = {"equal", equal},
	[EXPECT_TWO_SWITCHES] = {"two_switches", two_switches},
	[EXPECT_GREY_LEARNING] = {"grey_learning", grey_learning},
	[EXPECT_GREY_LEARNT] = {"grey_learnt", grey_learnt},
	[EXPECT_LIMIT] = {"limit", limit},
	[EXPECT_HOLES] = {"holes", holes},
	[EXPECT_HOLES_OF_ALL] = {"holes_of_all", holes_of_all},
	[EXPECT_CAPACITY_LEFT] = {"capacity_left", capacity_left},
};

const char *expect_formula_name(enum expect_formula formula)
{
	return formula < EXPECT_FORMULA_COUNT ? formulas[formula].name : "unknown";
}

void expect_formula(struct expect_row *ret, const struct report_input *input, uint32_t index)
{
	struct terms terms;
	terms_of(&terms, input, index);
	ret->expected = formulas[ret->formula].formula(&terms, ret->text, sizeof(ret->text));
}
