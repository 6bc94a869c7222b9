// SPDX-License-Identifier: Apache-2.0
// Closed forms of one queue: bursts, waiting, marks, trims. s = a full packet on the line, M its
// bytes, A those of a trimmed one.
//
//   a burst     of b bytes from each of n: the queue's peak is (n - 1) b
//   M/D/1       wait W in the mean: rho s / (2 (1 - rho)), its variance: rho s^2 / (3 (1 - rho)) +
//   W^2;
//               n D/D/1 waits less
//   a window    n k packets out, of which the round trip without waiting holds base / s; the rest
//               waits, and each is marked with p = (q - low) / (high - low)
//   overload    of x lines on one, trimmed headers first: data have g = (1 - x A/M) / (1 - A/M),
//   the
//               share 1 - g / x is trimmed; no data from x = M/A on
//   a first     window of W packets from each of n into a queue of Q: trims t with
//   window      t (1 - A/M) = (n - 1) W - Q

#include <math.h>

#include <weft/core/rng.h>

#include "form.h"
#include "validate.h"

#define FABRIC(nics, delay) \
	"name: queues\n" \
	"fabric: {topology: leaf-spine, nics: " nics ", nics_per_t0: " nics ", t1_count: 1, " \
	"link_rate: 100Gb/s, nic_delay: " delay ", trunk_delay: 1us, switch_delay: 0ns}\n"
#define TRANSPORT \
	"transport: {payload: 4086B, header: 64B, control: 64B, evs: 16, path: rotate, rto: " \
	"20ms, " \
	"sack_bytes: 1B, completion: sack, hole_age: off}\n"
#define DEEP "queue: {bytes: 64MB, ecn: false, trim: false}\n"

static const struct way below = {2, false};
static const char *const none[] = {NULL};

// Traffic of `senders` NICs, from NIC 0 on, to NIC `to`.
static void flows_to(char *ret, size_t bytes, const char *head, uint32_t senders, uint32_t to,
		     const char *size)
{
	size_t used = (size_t)snprintf(ret, bytes, "%straffic: {kind: flows, flows: [", head);
	for (uint32_t from = 0; from < senders; from++)
		used += (size_t)snprintf(ret + used, bytes - used,
					 "%s{from: %u, to: %u, bytes: %s}", from > 0 ? ", " : "",
					 from, to, size);
	snprintf(ret + used, bytes - used, "]}\n");
}

// ---------------------------------------------------------------- a burst

static int burst(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	static struct single_run single;
	char text[2048];
	struct claim claim = claim_of("burst-peak-of-8", "(n - 1) b wait", 7 * 50 * (double)FULL, 0,
				      "exact");
	claim.unit = "bytes";
	if (!choice_takes(choice, claim.name))
		return 0;
	flows_to(text, sizeof(text),
		 FABRIC("16", "1us") TRANSPORT DEEP "cc: {algorithm: fixed, window: 8MB}\n", 8, 15,
		 "204300B");
	int rc = single_run_whole(&single, text, none, NULL, refusal);
	if (rc < 0)
		return rc;
	claim.measured = (double)single.outcome->fabric.queue_bytes_max;
	single_run_end(&single);
	claims_add(claims, &claim);
	return 0;
}

// ---------------------------------------------------------------- waiting

#define SOURCES 63
#define PACKETS 16000
#define BATCHES 10
#define LINE_BYTES 48 // of a matrix

// Packets of one flow each, sources in turn, to NIC 63; gaps by chance, or the same for all.
static void arrivals(char *ret, double load, uint32_t seed, bool is_periodic)
{
	double gap = (double)way_line(&below, FULL) / load, at = 0, phases[SOURCES];
	struct rng rng = rng_of(seed, RNG_WORKLOAD, 77);
	for (uint32_t i = 0; i < SOURCES; i++)
		phases[i] = (double)(rng_next(&rng) >> 11) * 0x1p-53 * gap * SOURCES;
	size_t used = (size_t)sprintf(ret, "Nodes 64\nConnections %u\n", PACKETS);
	for (uint32_t i = 0; i < PACKETS; i++) {
		double chance = (double)((rng_next(&rng) >> 11) + 1) * 0x1p-53;
		at += -log(chance) * gap;
		double start = is_periodic ? phases[i % SOURCES] + i / SOURCES * gap * SOURCES : at;
		used += (size_t)sprintf(ret + used, "%u->63 start %llu size %u\n", i % SOURCES,
					(unsigned long long)start, PAYLOAD);
	}
}

static double md1_wait(double load)
{
	return load / (2 * (1 - load));
}

static double md1_variance(double load)
{
	return load / (3 * (1 - load)) + md1_wait(load) * md1_wait(load);
}

// What the packets of a run waited, in packets' times.
struct wait {
	double mean, square; // square: of the distance from what M/D/1 waits
};

static int wait_measure(double load, uint32_t seed, bool is_periodic, struct wait *ret,
			struct refusal *refusal)
{
	static struct single_run single;
	static char matrix[PACKETS * LINE_BYTES];
	static ps_t times[PACKETS];
	static const char text[] = FABRIC("64", "1us") TRANSPORT DEEP
		"cc: {algorithm: fixed, window: 8MB}\n"
		"traffic: {kind: matrix, matrix: as-given}\n";
	arrivals(matrix, load, seed, is_periodic);
	int rc = single_run_whole(&single, text, none, matrix, refusal);
	if (rc < 0)
		return rc;
	single_run_flow_times(&single, times);
	single_run_end(&single);
	*ret = (struct wait){0};
	for (uint32_t i = 0; i < PACKETS; i++) {
		double wait = (double)(times[i] - form_flow_ps(&below, PAYLOAD)) /
			(double)way_line(&below, FULL);
		double off = wait - md1_wait(load);
		ret->mean += wait / PACKETS;
		ret->square += off * off / PACKETS;
	}
	return 0;
}

// Mean and three standard errors of BATCHES figures.
static void claim_batches(struct claim *claim, const double *figures)
{
	double sum = 0, squares = 0;
	for (uint32_t i = 0; i < BATCHES; i++) {
		sum += figures[i];
		squares += figures[i] * figures[i];
	}
	claim->measured = sum / BATCHES;
	double variance = squares / BATCHES - claim->measured * claim->measured;
	claim->tolerance = 3 * sqrt(variance / (BATCHES - 1));
}

static int waits_of(const struct choice *choice, uint32_t percent, bool is_periodic,
		    struct claims *claims, struct refusal *refusal)
{
	double load = percent / 100.0, means[BATCHES], squares[BATCHES];
	struct claim mean = claim_of("", "M/D/1", md1_wait(load), 0,
				     "3 standard errors of 10 runs");
	struct claim square = claim_of("", "M/D/1", md1_variance(load), 0,
				       "3 standard errors of 10 runs");
	snprintf(mean.name, sizeof(mean.name), "wait-of-%s-arrivals-%u",
		 is_periodic ? "periodic" : "random", percent);
	snprintf(square.name, sizeof(square.name), "wait-of-random-arrivals-%u-variance", percent);
	if (!choice_takes(choice, mean.name) && !choice_takes(choice, square.name))
		return 0;
	for (uint32_t batch = 0; batch < BATCHES; batch++) {
		struct wait wait;
		int rc = wait_measure(load, batch + 1, is_periodic, &wait, refusal);
		if (rc < 0)
			return rc;
		means[batch] = wait.mean;
		squares[batch] = wait.square;
	}
	claim_batches(&mean, means);
	claim_batches(&square, squares);
	if (is_periodic) {
		mean.bound = CLAIM_AT_MOST;
		mean.tolerance = 0;
		snprintf(mean.why, sizeof(mean.why), "periods wait less");
	}
	mean.unit = "packets";
	square.unit = "packets2";
	if (choice_takes(choice, mean.name))
		claims_add(claims, &mean);
	if (!is_periodic)
		claims_add(claims, &square);
	return 0;
}

static int waits(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	int rc = waits_of(choice, 50, false, claims, refusal);
	if (rc == 0)
		rc = waits_of(choice, 80, false, claims, refusal);
	if (rc == 0)
		rc = waits_of(choice, 90, false, claims, refusal);
	return rc < 0 ? rc : waits_of(choice, 80, true, claims, refusal);
}

// ---------------------------------------------------------------- marks

static int marks(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	static struct single_run single;
	static const uint32_t windows[] = {20, 32, 44}; // packets of each of two
	for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
		double base = (double)form_flow_ps(&below, PAYLOAD) /
			(double)way_line(&below, FULL);
		double share = (2 * windows[i] - base - 10) / 100, packets = 20000;
		char name[64], window[64], text[2048];
		snprintf(name, sizeof(name), "marks-with-%u-packets-out", 2 * windows[i]);
		snprintf(window, sizeof(window), "cc.window=%uB", windows[i] * FULL);
		if (!choice_takes(choice, name))
			continue;
		flows_to(text, sizeof(text),
			 FABRIC("16", "1us") TRANSPORT
			 "queue: {bytes: 1MB, ecn_low: 41500B, ecn_high: 456500B, ecn_last_hop: "
			 "true, trim_bytes: 64B}\n"
			 "cc: {algorithm: fixed}\n",
			 2, 15, "40860000B");
		const char *const sets[] = {window, NULL};
		int rc = single_run_whole(&single, text, sets, NULL, refusal);
		if (rc < 0)
			return rc;
		struct claim claim = claim_of(name, "a held queue", 100 * share,
					      1 + 300 * sqrt(share * (1 - share) / packets),
					      "a packet of 100; 3 standard errors");
		claim.unit = "%";
		claim.measured = 100 * (double)single.outcome->fabric.marked / packets;
		single_run_end(&single);
		claims_add(claims, &claim);
	}
	return 0;
}

// ---------------------------------------------------------------- trims

static int overload_of(const struct choice *choice, uint32_t lines, struct claims *claims,
		       struct refusal *refusal)
{
	char text[8192], name[64];
	struct trial_counts early, late;
	double header = (double)ACK / FULL;
	double share = fmax(0, (1 - lines * header) / (1 - header));
	snprintf(name, sizeof(name), "overload-of-%u-data", lines);
	struct claim data = claim_of(name, "headers go first", 100 * share, 0.5, "half of 100");
	snprintf(name, sizeof(name), "overload-of-%u-trimmed", lines);
	struct claim trims = claim_of(name, "headers go first", 100 * (1 - share / lines), 0.5,
				      "half of 100");
	data.unit = trims.unit = "%";
	if (!choice_takes(choice, data.name) && !choice_takes(choice, trims.name))
		return 0;
	flows_to(text, sizeof(text),
		 FABRIC("80", "1us") TRANSPORT
		 "queue: {bytes: 83000B, ecn: false, trim_bytes: 64B}\n"
		 "cc: {algorithm: fixed, window: 8MB}\n",
		 lines, 79, "1GB");
	int rc = trial_counts_until(text, "limits.time=300us", &early, refusal);
	if (rc == 0)
		rc = trial_counts_until(text, "limits.time=1300us", &late, refusal);
	if (rc < 0)
		return rc;
	double whole = late.received - early.received, trimmed = late.trimmed - early.trimmed;
	data.measured = 100 * whole * (double)way_line(&below, FULL) / (double)PS_PER_MS;
	trims.measured = 100 * trimmed / (trimmed + whole);
	claims_add(claims, &data);
	claims_add(claims, &trims);
	return 0;
}

static int overload(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	static const uint32_t lines[] = {2, 8, 32, 70};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof(lines) / sizeof(*lines); i++)
		rc = overload_of(choice, lines[i], claims, refusal);
	return rc;
}

// Cut off before the first packet that was sent again comes: delays of 5 us.
static int first_window(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	char text[2048];
	struct trial_counts passed;
	double trims = (7 * 25 - 30) / (1 - (double)ACK / FULL);
	struct claim claim = claim_of("first-window-of-8", "what neither line nor queue takes",
				      trims, 8, "a packet of each: who comes first");
	claim.unit = "packets";
	if (!choice_takes(choice, claim.name))
		return 0;
	flows_to(text, sizeof(text),
		 FABRIC("16", "5us") TRANSPORT
		 "queue: {bytes: 124500B, ecn: false, trim_bytes: 64B}\n"
		 "cc: {algorithm: fixed, window: 8MB}\n",
		 8, 15, "102150B");
	int rc = trial_counts_until(text, "limits.time=16us", &passed, refusal);
	if (rc < 0)
		return rc;
	claim.measured = passed.trimmed;
	claims_add(claims, &claim);
	return 0;
}

int queues_run(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	static int (*const parts[])(const struct choice *, struct claims *, struct refusal *) = {
		burst, waits, marks, overload, first_window};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof(parts) / sizeof(*parts); i++)
		rc = parts[i](choice, claims, refusal);
	return rc;
}
