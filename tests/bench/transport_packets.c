// SPDX-License-Identifier: Apache-2.0
// Two endpoints without a fabric between them, for counting what a packet costs at either end:
// docs/measuring.md says how. Nothing is lost or reordered; messages of 1 MiB or of one packet.
#include <stdio.h>

#include "../unit/transport/transport_bench.h"

#define MESSAGES 64u
#define PACKET_PS (341 * PS_PER_NS) // 100 Gb/s
#define ON_THE_WAY 16u		    // packets between the ends: a round trip of 5.5 us

static struct transport_config config_of(void)
{
	struct transport_config config = bench_config();
	config.planes = 1;
	config.payload_bytes = 4096;
	config.header_bytes = 162;
	config.control_bytes = 178;
	config.ev_count = 256;
	config.mpr = 4096;
	config.sack_bytes = 16384;
	config.completion = COMPLETION_BY_ACK;
	config.rto_ps = 262 * PS_PER_US;
	config.cc.name = "nscc";
	config.cc.mtu_bytes = 4258;
	config.cc.rate_bps = 100000000000;
	config.cc.base_rtt_ps = 10 * PS_PER_US;
	return config;
}

// What the sender does for the next packet, and for what came back.
static __attribute__((noinline)) uint32_t at_sender(struct bench *bench, uint32_t answer)
{
	if (answer != PACKET_NONE) {
		endpoint_receive(bench->ends[0], answer, bench->now, &bench->out);
		return PACKET_NONE;
	}
	return endpoint_next(bench->ends[0], 0, bench->now, &bench->out);
}

// What the receiver does with a packet, and for its answers.
static __attribute__((noinline)) uint32_t at_receiver(struct bench *bench, uint32_t packet)
{
	if (packet != PACKET_NONE)
		endpoint_receive(bench->ends[1], packet, bench->now, &bench->out);
	return endpoint_next(bench->ends[1], 0, bench->now, &bench->out);
}

static void transfer(struct bench *bench, uint32_t messages, uint32_t bytes)
{
	uint32_t way[ON_THE_WAY] = {PACKET_NONE}, at = 0;
	uint32_t posted = 0, packets = 0, done = 0;
	while (done < messages) {
		while (posted < messages && bench_post(bench, 0, 0, bytes, posted % 1000 + 1) == 0)
			posted++;
		uint32_t arrived = way[at];
		way[at] = at_sender(bench, PACKET_NONE);
		packets += way[at] != PACKET_NONE;
		at = (at + 1) % ON_THE_WAY;
		bench->now += PACKET_PS;
		for (uint32_t answer = at_receiver(bench, arrived); answer != PACKET_NONE;
		     answer = at_receiver(bench, PACKET_NONE))
			at_sender(bench, answer);
		bench->log_count[0] = bench->log_count[1] = 0;
		bench_poll(bench, 0);
		bench_poll(bench, 1);
		done += bench->log_count[0];
	}
	const struct transport_counters *sender = endpoint_counters(bench->ends[0]);
	const struct transport_counters *target = endpoint_counters(bench->ends[1]);
	assert_int_equal(sender->data_packets, packets);
	assert_int_equal(target->payload_bytes_placed, (uint64_t)messages * bytes);
	for (int reason = 0; reason < RTX_REASON_COUNT; reason++)
		assert_int_equal(sender->rtx[reason], 0);
	printf("%u messages of %u bytes: %u packets, %u SACKs, %u ACKs\n", messages, bytes, packets,
	       (uint32_t)target->sacks_sent, (uint32_t)target->acks_sent);
}

static void packets_of_long_messages(void **state)
{
	(void)state;
	struct transport_config config = config_of();
	struct bench *bench = bench_open(&config, 1, 0, 1);
	transfer(bench, MESSAGES, 1u << 20);
	bench_close(bench);
}

static void packets_of_short_messages(void **state)
{
	(void)state;
	struct transport_config config = config_of();
	struct bench *bench = bench_open(&config, 1, 0, 1);
	transfer(bench, 64 * MESSAGES, 4096);
	bench_close(bench);
}

// Any word on the command line: the short ones, so that each kind can be counted alone.
int main(int argc, char **argv)
{
	(void)argv;
	const struct CMUnitTest longs[] = {cmocka_unit_test(packets_of_long_messages)};
	const struct CMUnitTest shorts[] = {cmocka_unit_test(packets_of_short_messages)};
	return argc > 1 ? cmocka_run_group_tests(shorts, NULL, NULL)
			: cmocka_run_group_tests(longs, NULL, NULL);
}
