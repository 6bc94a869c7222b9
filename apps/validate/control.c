// SPDX-License-Identifier: Apache-2.0
// Fixed points of congestion control: n long flows into one NIC, after the rates have met. What a
// world does is counted between two instants, or at some, by ending runs there.
//
//   NSCC    a decrease once per round trip takes what the increases of one bring. With e the share
//   of
//           the average delay that is above the target T, n windows that make up (1 + q) BDP, and p
//           the marking probability at a queue of q BDP:
//               gamma (1 + q) / n e = (fi (1 - p) + eta) / BDP        q = T / RTT / (1 - e)
//   Swift   is at rest where the delay is its target, which depends on the window: windows of
//           (base + d) / (n s) packets of s each make up the delay d. A round trip adds a packet to
//           each window, and the first delay above the target takes back 0.8 of what is above.
//   DCQCN   the fluid model of Zhu et al. (CoNEXT 2016) has the rates at rest at this share of
//   marks,
//           for small shares, with R_AI, C and B in packets, tau the interval of CNPs, and T:
//               p^3 = R_AI n^2 / (tau C^2) (1 / B + n / (T C))^2
//           It is at rest while the queue's delay is short against tau: with 32 flows the marks
//           begin at a tenth of the depth, else the queue swings until it runs dry.

#include <math.h>
#include <stdio.h>

#include "validate.h"

#define LINE_BPS 100e9

// ---------------------------------------------------------------- NSCC

#define PACKET 4150.0		  // on the line
#define BDP_OF_CONSTANTS 150000.0 // the network that UEC chose them for
#define FROM_PS (10 * PS_PER_MS)
#define UNTIL_PS (90 * PS_PER_MS)
#define UNTIL "90ms"

static double nscc_queue(uint32_t flows)
{
	const double fi = 5 * PACKET / BDP_OF_CONSTANTS, eta = 0.15 * PACKET / BDP_OF_CONSTANTS;
	const double gamma = 0.8, target = 0.75;
	double queue = target;
	for (int i = 0; i < 1000; i++) { // half steps: it settles
		double marked = fmin(1, fmax(0, (queue - 0.2) / 0.6));
		double excess = flows * (fi * (1 - marked) + eta) / (gamma * (1 + queue));
		queue = (queue + target / (1 - excess)) / 2;
	}
	return queue;
}

// The switch with the bottleneck, and the time integral of the data packets that wait in it from
// FROM_PS to UNTIL_PS: each adds from when it comes, and no more from when it goes. Its first bit
// on the line it has gone; trimmed, too.
struct waiting {
	struct machine machine;
	double integral_ps;
};

static struct waiting waiting;

// What is left of the span at `at`.
static double left_ps(ps_t at)
{
	return (double)(UNTIL_PS - ps_min(UNTIL_PS, ps_max(FROM_PS, at)));
}

static ps_t waiting_run(void *self, const struct inbox *in, ps_t until, struct outbox *out)
{
	struct waiting *it = self;
	for (uint32_t run = 0; run < in->run_count; run++)
		for (uint32_t i = 0; i < in->runs[run].count; i++) {
			const struct arrival *arrival = &in->runs[run].first[i];
			if (packet_at(out->packets, arrival->packet)->wire_bytes == PACKET)
				it->integral_ps += left_ps(arrival->at);
		}
	ps_t next = it->machine.run(it->machine.self, in, until, out);
	for (uint32_t i = 0; i < out->count; i++) {
		const struct packet *packet = packet_at(out->packets, out->departures[i].packet);
		if (packet->wire_bytes == PACKET || (packet->flags & PACKET_TRIMMED))
			it->integral_ps -= left_ps(out->departures[i].start);
	}
	return next;
}

// All NICs are at the first switch.
static void watch_switch(struct single_run *single)
{
	struct world *world = &single->world_instance.world;
	struct machine *machine = &world->machines[world->topology.hosts];
	check(!machine->is_host);
	waiting = (struct waiting){.machine = *machine};
	machine->run = waiting_run;
	machine->self = &waiting;
}

static int measure_queue(const char *text, double *ret, struct refusal *refusal)
{
	static struct single_run single = {.before = watch_switch};
	static const char *const sets[] = {"limits.time=" UNTIL, NULL};
	int rc = single_run_until(&single, text, sets, refusal);
	if (rc < 0)
		return rc;
	double bdp = (double)single.world_instance.world.topology.base_rtt_ps / 8e12 * LINE_BPS;
	*ret = waiting.integral_ps / (double)(UNTIL_PS - FROM_PS) * PACKET / bdp;
	single_run_end(&single);
	return 0;
}

// A world of n flows into one NIC, in windows.
static void write_world(char *text, size_t bytes, const char *algorithm, uint32_t flows)
{
	snprintf(text, bytes,
		 "name: control\n"
		 "fabric: {nics: %u, nics_per_t0: %u, t1_count: 1, nic_delay: 3us, "
		 "switch_delay: 0ns}\n"
		 "queue: {ecn_last_hop: true, trim_bytes: 64B}\n"
		 "transport: {evs: 1, payload: 4086B, header: 64B, control: 64B, "
		 "path: rotate}\n"
		 "cc: {algorithm: %s}\n"
		 "traffic: {kind: incast, senders: %u, bytes: 2GB}\n",
		 flows + 1, flows + 1, algorithm, flows);
}

static int nscc_points(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	static const uint32_t flows[] = {2, 4, 8, 16, 32, 64};
	for (size_t i = 0; i < sizeof(flows) / sizeof(*flows); i++) {
		struct claim claim = {.source = "NSCC's fixed point",
				      .unit = "BDP",
				      .expected = nscc_queue(flows[i]),
				      .why = "10 %; htsim's is 1 to 6 % above"};
		char text[1024];
		snprintf(claim.name, sizeof(claim.name), "nscc-queue-of-%u-flows", flows[i]);
		if (!choice_takes(choice, claim.name))
			continue;
		write_world(text, sizeof(text), "nscc", flows[i]);
		int rc = measure_queue(text, &claim.measured, refusal);
		if (rc < 0)
			return rc;
		claim.tolerance = 0.1 * claim.expected;
		claims_add(claims, &claim);
	}
	return 0;
}

// ---------------------------------------------------------------- Swift

#define BASE_PS 12674240.0 // two links of 3 us, and a packet and its answer on each
#define PACKET_PS (PACKET * 8e12 / LINE_BPS)

// In BDP.
static double swift_queue(uint32_t flows)
{
	const double target = BASE_PS / 2, range = 5 * target;
	const double a = range / (1 / sqrt(0.1) - 1 / sqrt(100)), b = -a / sqrt(100);
	double delay = target;
	for (int i = 0; i < 1000; i++) { // half steps: it settles
		double window = (BASE_PS + delay) / (flows * PACKET_PS);
		double extra = fmin(range, fmax(0, a / sqrt(window) + b));
		delay = (delay + target + extra) / 2;
	}
	return delay / BASE_PS;
}

static int swift_points(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	static const uint32_t flows[] = {2, 4, 8};
	for (size_t i = 0; i < sizeof(flows) / sizeof(*flows); i++) {
		struct claim claim = {.source = "Swift's target delay",
				      .unit = "BDP",
				      .expected = swift_queue(flows[i]),
				      .tolerance = flows[i] * PACKET_PS / BASE_PS,
				      .why = "a round trip of growth"};
		char text[1024];
		snprintf(claim.name, sizeof(claim.name), "swift-queue-of-%u-flows", flows[i]);
		if (!choice_takes(choice, claim.name))
			continue;
		write_world(text, sizeof(text), "swift", flows[i]);
		int rc = measure_queue(text, &claim.measured, refusal);
		if (rc < 0)
			return rc;
		claims_add(claims, &claim);
	}
	return 0;
}

// ---------------------------------------------------------------- DCQCN

#define FULL 4198.0 // bytes of a packet on the line: RoCEv2 over IPv6

static double dcqcn_marks(uint32_t flows)
{
	const double line = LINE_BPS / 8 / FULL, step = line / 1000, bytes = 10e6 / FULL;
	const double tau = 50e-6, timer = 55e-6;
	double pace = 1 / bytes + flows / (timer * line);
	return cbrt(step * flows * flows / (tau * line * line) * pace * pace);
}

static int dcqcn_point(const struct choice *choice, uint32_t flows, struct claims *claims,
		       struct refusal *refusal)
{
	struct claim marks = {.source = "DCQCN's fluid model",
			      .unit = "%",
			      .expected = 100 * dcqcn_marks(flows),
			      .why = "20 %: small shares, dice"};
	struct claim rate = {.source = "the queue never runs dry",
			     .unit = "Gb/s",
			     .expected = LINE_BPS / 1e9,
			     .tolerance = LINE_BPS / 1e11,
			     .why = "1 %"};
	struct trial_counts early, late;
	uint32_t low_kb = flows <= 16 ? 400 : 40;
	char text[1024];
	marks.tolerance = 0.2 * marks.expected;
	snprintf(marks.name, sizeof(marks.name), "dcqcn-marks-of-%u-flows", flows);
	snprintf(rate.name, sizeof(rate.name), "dcqcn-rate-of-%u-flows", flows);
	if (!choice_takes(choice, marks.name) && !choice_takes(choice, rate.name))
		return 0;
	snprintf(text, sizeof(text),
		 "name: dcqcn\n"
		 "fabric: {nics: %u, nics_per_t0: %u, t1_count: 1}\n"
		 "queue: {bytes: 64MiB, ecn_low: %ukB, ecn_high: %ukB, ecn_share: 20%%, "
		 "ecn_last_hop: true, trim: false}\n"
		 "transport: {kind: rc, rto: 40ms}\n"
		 "cc: {algorithm: dcqcn}\n"
		 "traffic: {kind: incast, senders: %u, bytes: 4GB}\n",
		 flows + 1, flows + 1, low_kb, 4 * low_kb, flows);
	int rc = trial_counts_until(text, "limits.time=60ms", &early, refusal);
	if (rc == 0)
		rc = trial_counts_until(text, "limits.time=160ms", &late, refusal);
	if (rc < 0)
		return rc;
	marks.measured = 100 * (late.marked - early.marked) / (late.received - early.received);
	rate.measured = (late.received - early.received) * FULL * 8 / 100e-3 / 1e9;
	if (choice_takes(choice, marks.name))
		claims_add(claims, &marks);
	if (choice_takes(choice, rate.name))
		claims_add(claims, &rate);
	return 0;
}

int control_run(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	static const uint32_t flows[] = {2, 4, 8, 16, 32};
	int rc = nscc_points(choice, claims, refusal);
	if (rc == 0)
		rc = swift_points(choice, claims, refusal);
	for (size_t i = 0; rc == 0 && i < sizeof(flows) / sizeof(*flows); i++)
		rc = dcqcn_point(choice, flows[i], claims, refusal);
	return rc;
}
