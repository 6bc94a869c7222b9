// SPDX-License-Identifier: Apache-2.0
// SLEEK over random wires: whatever they lose, hold back, double, trim or mark, nothing goes again
// by SLEEK unless a SACK told of that many packets out of order, or a probe came back, and it was
// not acknowledged since; where neither happens nothing goes again at all. What is lost at the end
// of a message is repaired without the timer. A failing seed is run again by
//   WEFT_SLEEK_FIRST=<seed> WEFT_SLEEK_COUNT=1 <this program>
#include "../seeds.h"
#include "../unit/transport/transport_bench.h"

#define FULL 1088u
#define PAYLOAD 1024u
#define BASE (3 * PS_PER_US)
#define MESSAGES 20u

// What gave SLEEK a reason, and until when it may act on it.
static struct {
	uint32_t limit; // packets out of order
	uint64_t seen;	// went again so far
	uint32_t until; // PSN behind the last that may go again; open until the first does
	ps_t given_at;	// when the last reason left its sender
	bool is_given, is_acted, has_been;
} reason;

static void note_reason(struct bench *bench, const struct packet *packet)
{
	if (packet->opcode != PACKET_SACK || packet->source != 1)
		return;
	if (packet->u.sack.ooo_count < reason.limit && !packet->u.sack.is_probe)
		return;
	reason.is_given = reason.has_been = true;
	reason.is_acted = false;
	reason.given_at = bench->now;
}

// A reason holds until what was sent when it was acted on is acknowledged, and while it may still
// be on its way.
static void note_end(const struct bench *bench)
{
	const struct qp *qp = endpoint_qp(bench->ends[0], 0);
	ps_t way_ps = bench->delay_ps + bench->jitter_ps + PS_PER_US;
	if (reason.is_given && bench->now - reason.given_at > way_ps && !reason.is_acted) {
		reason.is_acted = true;
		reason.until = qp->psn_next;
	}
	if (reason.is_acted && psn_distance(qp->una, reason.until) >= 0)
		reason.is_given = reason.is_acted = false;
}

static void judge(struct bench *bench, struct packet *packet)
{
	uint64_t count = endpoint_counters(bench->ends[0])->rtx[RTX_SLEEK];
	if (count != reason.seen && !reason.is_given)
		fail_msg("PSN %u went again by SLEEK without a reason", packet->psn);
	reason.seen = count;
	note_reason(bench, packet);
	note_end(bench);
}

static struct transport_config sleek_config(struct rng *rng)
{
	struct transport_config config = bench_config();
	config.path_policy = PATH_ROTATE; // no probes but SLEEK's
	config.sleek = true;
	config.rto_ps = 20 * PS_PER_MS;
	config.cc.window_bytes = (2 + rng_below(rng, 40)) * FULL;
	return config;
}

static void open_reasons(struct bench *bench)
{
	uint32_t packets = bench->config.cc.window_bytes * 3 / 2 / PAYLOAD;
	memset(&reason, 0, sizeof(reason));
	reason.limit = packets > 5 ? packets : 5;
	bench->on_send = judge;
}

static void draw_wires(struct bench *bench, struct rng *rng)
{
	if (rng_below(rng, 2) == 0)
		bench->loss_ppm = rng_below(rng, 20000);
	if (rng_below(rng, 2) == 0)
		bench->jitter_ps = (ps_t)rng_below(rng, 8000) * PS_PER_NS;
	if (rng_below(rng, 4) == 0)
		bench->trim_ppm = rng_below(rng, 20000);
	if (rng_below(rng, 4) == 0)
		bench->control_loss_ppm = rng_below(rng, 20000);
	if (rng_below(rng, 4) == 0)
		bench->duplicate_ppm = rng_below(rng, 20000);
	bench->mark_ppm = rng_below(rng, 2) * 100000;
}

struct sums {
	uint64_t again, probes, timeouts, quiet, lost;
};

static void run_seed(uint64_t seed, struct sums *sums)
{
	struct rng rng = rng_of(seed, RNG_TEST, 1);
	struct transport_config config = sleek_config(&rng);
	struct bench *bench = bench_open(&config, 1, 0xffff00 + (uint32_t)seed, seed);
	uint64_t bytes = 0;
	open_reasons(bench);
	draw_wires(bench, &rng);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		uint32_t message_bytes = 1 + rng_below(&rng, 100 * PAYLOAD);
		assert_int_equal(bench_post(bench, 0, 0, message_bytes, 0), 0);
		bytes += message_bytes;
	}
	bench_run(bench, BENCH_TO_THE_END);
	const struct transport_counters *of = endpoint_counters(bench->ends[0]);
	assert_int_equal(of->messages_sent, MESSAGES);
	assert_int_equal(endpoint_counters(bench->ends[1])->payload_bytes_placed, bytes);
	if (!reason.has_been)
		assert_int_equal(of->rtx[RTX_SLEEK], 0);
	bench_check_empty(bench);
	sums->again += of->rtx[RTX_SLEEK];
	sums->probes += of->probes_sent;
	sums->timeouts += of->rtx[RTX_TIMEOUT];
	sums->quiet += !reason.has_been;
	sums->lost += bench->lost;
	bench_close(bench);
}

static void nothing_goes_again_without_a_reason(void **state)
{
	(void)state;
	uint64_t first = number("WEFT_SLEEK_FIRST", 1), count = number("WEFT_SLEEK_COUNT", 400);
	struct sums sums = {0};
	for (uint64_t seed = first; seed < first + count; seed++) {
		seed_begin("WEFT_SLEEK", seed);
		run_seed(seed, &sums);
	}
	seeds_end();
	printf("again %llu, probes %llu, timeouts %llu, without a reason %llu, lost %llu\n",
	       (unsigned long long)sums.again, (unsigned long long)sums.probes,
	       (unsigned long long)sums.timeouts, (unsigned long long)sums.quiet,
	       (unsigned long long)sums.lost);
	if (count >= 400) { // the worlds were of all kinds, and the timer was hardly needed
		assert_true(sums.again > 1000 && sums.probes > 100 && sums.quiet > 20);
		assert_true(sums.timeouts * 100 < sums.lost);
	}
}

// ---------------------------------------------------------------- tails

static uint32_t drop_from, drop_to; // PSNs whose first sending is lost

static bool drops_tail(struct bench *bench, const struct packet *packet)
{
	(void)bench;
	bool is_first = packet->klass == PACKET_CLASS_DATA && packet->opcode != PACKET_PROBE &&
		!(packet->bth & PACKET_RTX);
	return is_first && packet->psn >= drop_from && packet->psn < drop_to;
}

// A message of n packets whose last k are lost: a probe leaves a base round trip and the target
// after the last SACK, and its answer repairs them. Where nothing of it came, no SACK can.
static void a_lost_tail_is_repaired_without_the_timer(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct rng rng = rng_of(seed, RNG_TEST, 2);
		struct transport_config config = sleek_config(&rng);
		uint32_t packets = 8 + rng_below(&rng, 30);
		config.cc.window_bytes = 40 * FULL; // all at once
		config.sack_bytes = 1;
		struct bench *bench = bench_open(&config, 1, 0, seed);
		drop_to = packets;
		drop_from = 1 + rng_below(&rng, packets - 1);
		bench->drops = drops_tail;
		bench_post(bench, 0, 0, packets * PAYLOAD, 1);
		// its lines twice, three ways there and back, and what the probe waits
		ps_t line_ps = (ps_t)packets * FULL * BENCH_PS_PER_BYTE;
		bench_run(bench, 2 * line_ps + 6 * bench->delay_ps + 2 * BASE);
		const struct transport_counters *of = endpoint_counters(bench->ends[0]);
		assert_int_equal(of->messages_sent, 1);
		assert_int_equal(of->rtx[RTX_TIMEOUT], 0);
		assert_int_equal(of->rtx[RTX_SLEEK], packets - drop_from);
		bench_close(bench);
	}
}
