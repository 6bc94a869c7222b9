// SPDX-License-Identifier: Apache-2.0
// What is counted in one place must agree with what is counted in another. Random small worlds are
// run to their end; then every identity that holds exactly is checked: those of every world, those
// of worlds that lost nothing, and those of flows. A failing seed is run again by
//   WEFT_COUNTERS_FIRST=<seed> WEFT_COUNTERS_COUNT=1 <this program>

#include "../random_world.h"

// How often each kind of world came: a generator that never makes trims tests nothing about them.
struct seen {
	uint32_t worlds, clean, clean_trims, clean_marks, lossy, rings, duplicates, timeouts;
};

static const struct traffic_range usual = {1, 1000, 150000};

static void add_world(struct text *text, uint64_t seed)
{
	struct rng rng = rng_of(seed, RNG_TEST, 1);
	uint32_t planes = 1u << pick(&rng, 0, 2), t0s = pick(&rng, 1, 4), per_t0 = t0s == 1 ? 8 : 4;
	uint32_t nics = per_t0 * t0s;
	text->used = 0;
	add(text, "name: counters\nseed: %llu\n", (unsigned long long)seed);
	add(text, "fabric: {nics: %u, nics_per_t0: %u, t1_count: %u, planes: %u}\n", nics, per_t0,
	    pick(&rng, 1, 4), planes);
	uint32_t evs = planes << pick(&rng, 0, 4), rto_us = pick(&rng, 60, 200);
	add(text, "transport: {evs: %u, rto: %uus, payload: %uB}\n", evs, rto_us,
	    pick(&rng, 0, 1) ? 1024 : 4096);
	if (pick(&rng, 0, 3) > 0) {
		uint32_t bytes = pick(&rng, 9000, 60000);
		add(text, "queue: {bytes: %uB, trim: %s, ecn_last_hop: %s}\n", bytes,
		    pick(&rng, 0, 3) > 0 ? "true" : "false", t0s == 1 ? "true" : "false");
	}
	add(text, "cc: {algorithm: %s}\n", pick(&rng, 0, 2) > 0 ? "nscc" : "fixed");
	add_some_traffic(text, &rng, nics, &usual);
	if (pick(&rng, 0, 2) == 0)
		add(text, "faults: [{kind: loss, at: all, probability: 0.%u%%}]\n",
		    pick(&rng, 1, 9));
	else if (pick(&rng, 0, 3) == 0)
		add(text,
		    "faults: [{kind: link_down, at: {nic: %u, plane: 0}, from: 5us, until: "
		    "80us}]\n",
		    pick(&rng, 0, nics - 1));
	add_wire(text, &rng);
}

static uint64_t sum(const uint64_t *values, uint32_t count)
{
	uint64_t all = 0;
	for (uint32_t i = 0; i < count; i++)
		all += values[i];
	return all;
}

static uint64_t dropped(const struct rig *rig)
{
	return sum(rig->run.dropped, DROP_REASON_COUNT) +
		sum(rig->outcome->fabric.dropped, DROP_REASON_COUNT);
}

// The identities of every world that ran to its end.
static void check_packets(const struct rig *rig)
{
	const struct transport_counters *of = &rig->outcome->transport;
	const struct fabric_counters *fabric = &rig->outcome->fabric;
	const struct run *run = &rig->run;
	// Some of what was made found no room, or no light, and never left: no data are among it.
	uint64_t made = of->data_packets + of->sacks_sent + of->nacks_sent + of->acks_sent +
		of->probes_sent + of->requests_sent + of->responses_sent;
	assert_int_equal(made, run->sent + of->answers_dropped);
	assert_int_equal(run->sent, run->delivered + dropped(rig));
	// A trimmed probe that kept its number counts as a trim and as a probe.
	uint64_t received = of->data_received + of->trims_received + of->sacks_received +
		of->nacks_received + of->acks_received + of->probes_received +
		of->requests_received + of->responses_received + of->no_qp;
	assert_in_range(run->delivered, received - of->probes_received, received);
	assert_int_equal(of->responses_sent, of->requests_received);
	assert_true(of->responses_received <= of->responses_sent);
	assert_int_equal(run->hops, run->sent + sum(fabric->forwarded, PACKET_CLASS_COUNT));
	assert_int_equal(run->data_packets, of->data_packets);
	assert_int_equal(run->data_hops, of->data_packets + fabric->forwarded[PACKET_CLASS_DATA]);
	// Each number of a sequence is sent once as new and received once as new.
	assert_int_equal(of->data_packets - sum(of->rtx, RTX_REASON_COUNT),
			 of->data_received - of->duplicates - of->out_of_window);
	assert_int_equal(of->payload_bytes_new, of->payload_bytes_placed);
	assert_true(of->trims_received <= fabric->trimmed);
	assert_true(of->trims_last_hop <= fabric->trimmed_last_hop);
	assert_true(fabric->trimmed_last_hop <= fabric->trimmed);
	assert_true(of->marks_received <= fabric->marked);
	assert_true(of->nacks_sent <= of->trims_received);
	if (rig->world_instance.world.transport.kind == TRANSPORT_MRC &&
	    rig->world_instance.world.transport.trim_nack)
		assert_int_equal(of->nacks_sent, of->trims_new); // each has its NACK, nothing else
	assert_true(of->trims_new <= of->trims_received);
	assert_true(of->rtx[RTX_NACK] <= of->nacks_received);
	assert_true(of->acks_sent <= of->messages_sent + of->duplicates + of->trims_received);
	assert_int_equal(fabric->dropped[DROP_NO_ROUTE] + of->no_qp + transport_refused(of), 0);
	assert_int_equal(of->qps_failed, 0);
}

static void check_bytes(const struct rig *rig)
{
	const struct transport_counters *of = &rig->outcome->transport;
	const struct transport_config *config = &rig->world_instance.world.transport;
	uint64_t header_bytes = of->data_packets * config->header_bytes;
	assert_int_equal(sum(of->plane_bytes, PLANES_MAX), of->data_bytes);
	for (uint32_t i = 0; i < PLANES_MAX; i++) {
		assert_true(rig->outcome->plane_bytes_nic_max[i] <= of->plane_bytes[i]);
		if (i >= config->planes)
			assert_int_equal(of->plane_bytes[i], 0);
	}
	assert_true(of->data_bytes >= header_bytes + of->payload_bytes_new);
	assert_true(of->data_bytes <= header_bytes + of->payload_bytes_new +
			    sum(of->rtx, RTX_REASON_COUNT) * config->payload_bytes);
}

// Where nothing was lost, what one end made is what the other end got.
static void check_clean(const struct rig *rig)
{
	const struct transport_counters *of = &rig->outcome->transport;
	const struct fabric_counters *fabric = &rig->outcome->fabric;
	assert_int_equal(of->sacks_sent, of->sacks_received);
	assert_int_equal(of->nacks_sent, of->nacks_received);
	assert_int_equal(of->acks_sent, of->acks_received);
	assert_int_equal(of->rtx[RTX_ACK], 0);
	assert_int_equal(of->trims_received, fabric->trimmed);
	assert_int_equal(of->trims_last_hop, fabric->trimmed_last_hop);
	// A packet may be marked at each switch on its way; below one switch it is marked once.
	if (rig->world_instance.world.topology.nics == rig->world_instance.world.topology.t0_nics)
		assert_in_range(fabric->marked, of->marks_received,
				of->marks_received + of->probes_received);
	assert_in_range(of->data_received + of->trims_received, of->data_packets,
			of->data_packets + of->probes_received); // some of which were trimmed
	if (fabric->trimmed == 0) {
		assert_int_equal(of->nacks_sent, 0);
		assert_int_equal(of->rtx[RTX_NACK], 0);
	}
}

static void check_messages(const struct rig *rig, bool is_ring)
{
	const struct outcome *outcome = rig->outcome;
	uint64_t total = 0;
	for (int pair = 0; pair < PAIR_CLASS_COUNT; pair++) {
		const struct hist *hist = &outcome->message_ns[pair];
		assert_int_equal(sum(hist->counts, hist->cells), hist->total);
		assert_int_equal(hist->over, 0);
		total += hist->total;
	}
	assert_int_equal(sum(outcome->flow_ns.counts, outcome->flow_ns.cells),
			 outcome->flow_ns.total);
	assert_int_equal(total, outcome->transport.messages_received);
	if (is_ring) {
		assert_int_equal(outcome->flow_ns.total, 0);
		// Credits are writes without a word to the receiver.
		assert_int_equal(outcome->transport.messages_sent,
				 outcome->transport.messages_received + outcome->credits_sent);
		return;
	}
	assert_int_equal(total, rig->world_instance.world.flow_count);
	assert_int_equal(outcome->flow_ns.total, total);
	assert_int_equal(outcome->transport.messages_sent, total);
	assert_int_equal(outcome->credits_sent, 0);
}

static void note(struct seen *seen, const struct rig *rig, bool is_ring)
{
	bool is_clean = dropped(rig) == 0;
	seen->worlds++;
	seen->clean += is_clean;
	seen->lossy += !is_clean;
	seen->clean_trims += is_clean && rig->outcome->fabric.trimmed > 0;
	seen->clean_marks += is_clean && rig->outcome->fabric.marked > 0 &&
		rig->world_instance.world.topology.nics ==
			rig->world_instance.world.topology.t0_nics;
	seen->rings += is_ring;
	seen->duplicates += rig->outcome->transport.duplicates > 0;
	seen->timeouts += rig->outcome->transport.rtx[RTX_TIMEOUT] > 0;
}

static void a_seed_is_the_same_world_with_every_compiler(void **)
{
	static struct text text;
	uint64_t digest = 0;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		add_world(&text, seed);
		digest = text_digest(digest, &text);
	}
	assert_int_equal(digest, UINT64_C(0x795b0d2f28ca35bb));
}

static void what_one_side_counts_the_other_side_counts(void **state)
{
	static struct rig rig;
	static struct text text;
	struct seen seen = {0};
	uint64_t first = number("WEFT_COUNTERS_FIRST", 1);
	uint64_t count = number("WEFT_COUNTERS_COUNT", 800);
	for (uint64_t seed = first; seed < first + count; seed++) {
		add_world(&text, seed);
		seed_begin("WEFT_COUNTERS", seed);
		if (getenv("WEFT_COUNTERS_PRINT") != NULL)
			puts(text.at);
		rig_run(&rig, text.at, NULL);
		bool is_ring = rig.outcome->collective_count > 0;
		assert_int_equal(rig.run.end, RUN_DONE);
		assert_true(rig.run.is_drained);
		check_packets(&rig);
		check_bytes(&rig);
		check_messages(&rig, is_ring);
		if (dropped(&rig) == 0)
			check_clean(&rig);
		note(&seen, &rig, is_ring);
		world_instance_free(&rig.world_instance);
	}
	seeds_end();
	printf("%u worlds: %u clean (%u with trims, %u with marks below one switch), %u lossy, %u "
	       "rings, %u with "
	       "duplicates, %u with timeouts\n",
	       seen.worlds, seen.clean, seen.clean_trims, seen.clean_marks, seen.lossy, seen.rings,
	       seen.duplicates, seen.timeouts);
	if (count >= 800)
		assert_true(seen.clean_trims > 5 && seen.clean_marks > 5 && seen.lossy > 20 &&
			    seen.rings > 20 && seen.duplicates > 5 && seen.timeouts > 5);
}
