// SPDX-License-Identifier: Apache-2.0
// Tests of the table for people: one table as a whole, and what other runs must and must not say.

#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "result_events.h"
#include "sections/sections.h"

static struct fake *(*const fakes[])(void) = {
	fake_ring,	 fake_sample,  fake_flows,    fake_watched, fake_unharmed,
	fake_unfinished, fake_silence, fake_emulated, fake_unpaced, fake_paused,
	fake_program,	 fake_jobs,    fake_skipped};
#define FAKE_COUNT (sizeof(fakes) / sizeof(*fakes))

static char *table_of(const struct fake *fake)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);
	assert_non_null(to);
	report_table(to, &fake->input);
	fclose(to);
	return text;
}

static void says(const char *text, const char *what)
{
	if (strstr(text, what) == NULL)
		fail_msg("the table lacks \"%s\":\n%s", what, text);
}

static void says_not(const char *text, const char *what)
{
	if (strstr(text, what) != NULL)
		fail_msg("the table has \"%s\":\n%s", what, text);
}

static const char golden[] =
	"ring-16: finished at 50.00 ms of virtual time, digest 0123456789abcdef\n"
	"\n"
	"What ran\n"
	"  traffic ring, seed 18446744073709551615\n"
	"  16 NICs x 2 planes of 100.0 Gb/s, base round trip 8.123 us, 12 switches\n"
	"  whole job: 1 of 1 groups, 2 of 2 buckets, 15 of 15 ring steps per loop;\n"
	"  1,000,000 of 1,000,000 data packets (planned), for 1.016 GB of 1.016 GB of buffers\n"
	"  1,000,000 data packets sent\n"
	"\n"
	"Goodput (payload received over the fabric, while traffic ran: 40.00 ms)\n"
	"  total 800.0 Gb/s, per receiving NIC 100.0 Gb/s (8 of 16 NICs received), 4.000 GB in "
	"all\n"
	"\n"
	"Collectives (slowest group; extrapolated where not all ring steps ran)\n"
	"  label              kind             buffer    x  groups    steps      time error        "
	"busbw GB/s\n"
	"  first              all_reduce     1.000 GB    1     1/1    30/30  20.00 ms exact        "
	"   93.750\n"
	"  second             all_gather     16.00 MB    1     1/1    15/15  25.00 ms exact        "
	"    0.600\n"
	"\n"
	"Message latency in us (posted to completed at the sender)\n"
	"  pair                 count           p50           p99         p99.9           max\n"
	"  same_rack                0                                             no messages\n"
	"  same_t0                200        19.903        29.711        29.900        29.900\n"
	"  across_t1           20,000        21.999        31.807        31.983        31.999\n"
	"\n"
	"Congestion\n"
	"  ECN marks                               25,000    2.500 % of data packets\n"
	"  trims in the core                        1,000    0.100 % of data packets\n"
	"  trims at the last hop                      600    0.060 % of data packets\n"
	"  retransmitted                            2,000    0.200 % of data packets\n"
	"    retransmitted (NACK)                   1,500\n"
	"    retransmitted (timeout)                    0\n"
	"    retransmitted (hole)                     500\n"
	"    retransmitted (ACK)                        0\n"
	"  deepest data queue                    270.0 kB\n"
	"\n"
	"Drops\n"
	"  queue_full                                  40\n"
	"  random_loss                                 60\n"
	"  unknown_qp                                   3\n"
	"\n"
	"Planes (wire bytes of data)\n"
	"    0:  2.200 GB    1:  1.800 GB\n"
	"  max/mean - 1: 10.000 % over planes, 20.000 % over NICs and planes; Jain 0.9901\n"
	"\n"
	"Run\n"
	"  packets: sent 1,200,000 = delivered 1,199,900 + dropped 100 + held 0\n"
	"  speed: 2,000,000 data packets/s, 10.0 M hops/s, 100.0 ns per hop (CPU time)\n"
	"  0.62 s wall, 0.50 s CPU, peak memory 96.00 MiB\n"
	"\n"
	"Assumptions\n"
	"  calibrated\n"
	"    - forward time of a chunk: 5.3 ms\n"
	"  assumed\n"
	"    - cable lengths: 5 m to the rack's switches and 50 m above them, because no source "
	"gives any; 5\n"
	"      ns a metre\n"
	"  fact\n"
	"    - planes: 2\n"
	"\n"
	"Files in out: result.json, trace.json\n"
	"  message_same_t0.hdr\n"
	"  message_across_t1.hdr\n"
	"Reproduce with: weft sim ring-16.yaml --seed 18446744073709551615\n"
	"weft 0.1.0 (abc)\n";

static void a_whole_run_gives_this_table(void **)
{
	struct fake *fake = fake_ring();
	fake->input.out_dir = "out";
	char *text = table_of(fake);
	assert_string_equal(text, golden);
	free(text);
	fake_free(fake);
}

static void no_line_is_longer_than_100_columns(void **)
{
	for (size_t i = 0; i < FAKE_COUNT; i++) {
		struct fake *fake = fakes[i]();
		memset(fake->buckets[0].label, 'w', sizeof(fake->buckets[0].label) - 1);
		char *text = table_of(fake), *rest = text;
		for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n"))
			if (strlen(line) > 100)
				fail_msg("%s", line);
		free(text);
		fake_free(fake);
	}
}

static void a_sample_says_what_it_cannot_give(void **)
{
	struct fake *fake = fake_sample();
	char *text = table_of(fake);
	says(text, "sample: 2 of 32 groups, 2 of 22 buckets, 12 of 255 ring steps per loop;");
	says(text,
	     "17.2 M of 51,000 M data packets (planned), for 1.112 GB of 32.00 GB of buffers\n");
	says(text, "trunks thinned to 2 of 32");
	says(text, "not in this run: messages of pp between hosts");
	says(text, "12/510  16.00 ms +- 250.0 us");
	says(text,
	     "same_rack                0                                             "
	     "no messages\n");
	says(text,
	     "same_t0                200        19.903                  "
	     "not valid in this sample\n");
	says(text,
	     "across_t1           20,000        21.999        31.807    "
	     "not valid in this sample\n");
	says(text, "2.500 % of data packets (indication)");
	says(text, "deepest data queue           not valid in this sample");
	says_not(text, "31.999"); // the largest latency that was seen
	says_not(text, "31.983"); // p99.9 of what ran
	says_not(text, "270.0 kB");
	free(text);
	fake_free(fake);
}

static void a_partial_run_says_so_at_the_top(void **)
{
	struct fake *fake = fake_flows();
	for (int is_short = 0; is_short < 2; is_short++) {
		fake->input.is_short = is_short;
		char *text = table_of(fake);
		says(text,
		     "flows-4: limit at 3.000 ms of virtual time, digest 0123456789abcdef\n"
		     "PARTIAL RESULT: the workload is not complete");
		says(text, "raise limits.packets.");
		says(text, "Flow completion time");
		free(text);
	}
	fake_free(fake);
	fake = fake_unfinished();
	char *text = table_of(fake);
	says(text, "PARTIAL RESULT");
	says(text, "0/1    15/15 not finished\n");
	free(text);
	fake_free(fake);
}

static void a_whole_run_does_not_call_itself_partial(void **)
{
	struct fake *fake = fake_ring();
	char *text = table_of(fake);
	says_not(text, "PARTIAL");
	says_not(text, "BROKEN");
	says_not(text, "not valid");
	free(text);
	fake_free(fake);
}

static void a_lost_packet_breaks_the_result_in_every_table(void **)
{
	struct fake *fake = fake_ring();
	fake->input.run.delivered--;
	for (int is_short = 0; is_short < 2; is_short++) {
		fake->input.is_short = is_short;
		char *text = table_of(fake);
		says(text, "sent 1,200,000 IS NOT delivered 1,199,899 + dropped 100 + held 0");
		says(text, "BROKEN RESULT");
		free(text);
	}
	fake_free(fake);
}

static void a_lossless_fabric_says_who_was_paused(void **)
{
	struct fake *fake = fake_paused();
	char *text = table_of(fake);
	says(text, "Shared buffer of a switch\n");
	says(text, "                800.0 kB\n");
	says(text, "Priority flow control\n  xoff                              alpha x free\n");
	says(text, "headroom of an in-port                30.00 kB   to 40.00 kB\n");
	says(text, "most headroom used                    12.35 kB\n");
	says(text, "    t0 0 > nic 0 plane 0                      25 pauses, 4.000 ms\n");
	says(text, "    and 1 more\n");
	says(text, "DEADLOCK: 2 ports wait for each other for good\n");
	says(text,
	     "    t0 0 > nic 0 plane 0 waits for\n    nic 1 plane 0 > t0 0 waits for the first\n");
	says(text, " + pauses 130 = delivered ");
	says(text, " + pauses 75 + dropped ");
	says(text, "switches sent 130 pause frames, and took 75; NICs are delivered the rest\n");
	free(text);
	fake_free(fake);
	fake = fake_ring();
	text = table_of(fake);
	says_not(text, "Priority flow control");
	says_not(text, "Shared buffer");
	free(text);
	fake_free(fake);
}

static void refused_packets_are_told_by_reason_where_there_are_any(void **)
{
	struct fake *fake = fake_ring();
	char *text = table_of(fake);
	says_not(text, "Refused");
	free(text);
	fake->outcome.transport.refused[REFUSED_KEY] = 12345;
	fake->outcome.transport.refused[REFUSED_NACK] = 7;
	text = table_of(fake);
	says(text,
	     "Refused by their target: nothing placed, no window moved\n"
	     "  key                                     12,345\n"
	     "  nack                                         7\n\n");
	free(text);
	fake_free(fake);
}

static void the_short_table_leaves_the_details_out(void **)
{
	struct fake *fake = fake_ring();
	fake->input.is_short = true;
	char *text = table_of(fake);
	says(text, "ring-16: finished");
	says(text, "total 800.0 Gb/s");
	says(text, "93.750");
	says_not(text, "What ran");
	says_not(text, "Drops");
	says_not(text, "Again");
	free(text);
	fake_free(fake);
}

static void the_slowest_of_equal_buckets_is_shown(void **)
{
	struct fake *fake = fake_sample();
	fake->buckets[1] = fake->buckets[0];
	fake->collectives[1].whole_ps = 17 * PS_PER_MS;
	fake->collectives[1].busbw_bytes_per_s = UINT64_C(80000000000);
	fake->collectives[2] = (struct outcome_collective){.bucket = 1};
	fake->outcome.collective_count = 3;
	char *text = table_of(fake);
	says(text, "2/3   12/510  17.00 ms +- 0 ps");
	says(text, "80.000\n");
	says_not(text, "16.00 ms");
	free(text);
	fake_free(fake);
}

static void many_kinds_of_collectives_are_cut_and_counted(void **)
{
	enum { many = 50 };
	static struct bucket buckets[many];
	static struct outcome_collective collectives[many];
	struct fake *fake = fake_ring();
	for (uint32_t i = 0; i < many; i++) {
		buckets[i] = fake->buckets[0];
		buckets[i].bytes += i;
		collectives[i] = fake->collectives[0];
		collectives[i].bucket = i;
	}
	fake->world.job.buckets = buckets;
	fake->world.job.bucket_count = many;
	fake->outcome.collectives = collectives;
	fake->outcome.collective_count = many;
	char *text = table_of(fake);
	says(text, "and 10 more in result.json\n");
	free(text);
	fake_free(fake);
}

static const char golden_emulated[] =
	"\n"
	"Real frames\n"
	"  12 net_ring ports, 192 queues, one cable each\n"
	"  16,384 buffers of 4,352 bytes (68.00 MiB)\n"
	"  frames: sent 5,000,000 = received 5,000,000, as the ports counted\n"
	"  payload: 4,000,000,000 bytes arrived as they were sent\n"
	"  frames dropped as damaged\n"
	"    bad ICRC                               1,500\n"
	"    cut in payload                             2\n"
	"\n"
	"Pace (wall time)\n"
	"  1 us of the fabric takes 86.20 us here (dilation 86.2, found by a calibration run), 1 "
	"lane\n"
	"                           count        p50        p99      p99.9        max\n"
	"  lateness             1,000,000       0 ps   12.03 us   12.03 us   5.600 ms\n"
	"  gaps                 3,000,000   40.00 ns   40.00 ns   40.00 ns   7.800 ms\n"
	"  lateness: how long after the end of its window a frame was handed over\n"
	"  gaps: between two looks at the clock, for work or for a stall of the host\n"
	"\n"
	"Run\n";

static void frames_and_pace_have_these_sections(void **)
{
	struct fake *fake = fake_emulated();
	fake->input.out_dir = "out";
	char *text = table_of(fake);
	says(text, golden_emulated);
	says(text, "message_across_t1.hdr\n  lateness_ns.hdr\n  gap_ns.hdr\n");
	says(text, "\nout/ring.pcapng: 1,234,567 frames captured, 3 lost\n");
	says(text, "\nout/ring.csv: 1,234,567 packets logged, 3 lost\n");
	free(text);
	fake_free(fake);
}

// Without the parts of its own, the table is that of the same run in virtual time.
static void frames_and_pace_change_no_other_line(void **)
{
	struct fake *fake = fake_emulated();
	fake->input.out_dir = "out";
	fake->input.pace = (struct report_pace){0};
	fake->input.ports = (struct report_ports){0};
	fake->input.taps = (struct report_taps){0};
	char *text = table_of(fake);
	assert_string_equal(text, golden);
	free(text);
	fake_free(fake);
}

static void wrong_payload_is_told_in_every_table(void **)
{
	struct fake *fake = fake_emulated();
	for (int is_short = 0; is_short < 2; is_short++) {
		fake->input.is_short = is_short;
		fake->input.ports.payload_bytes_wrong = 0;
		char *text = table_of(fake);
		says_not(text, "WRONG");
		free(text);
		fake->input.ports.payload_bytes_wrong = 4096;
		text = table_of(fake);
		says(text, "  WRONG PAYLOAD: 4,096 bytes are not what was sent\n");
		free(text);
	}
	fake_free(fake);
}

static void ports_that_disagree_are_told_apart(void **)
{
	struct fake *fake = fake_emulated();
	fake->input.ports.received -= 7;
	char *text = table_of(fake);
	says(text, "sent 5,000,000, received 4,999,993, missed 0, as the ports counted\n");
	says(text, "LOST FRAMES");
	free(text);
	fake->input.ports.received += 7;
	fake->input.ports.missed = 1;
	text = table_of(fake);
	says(text, "LOST FRAMES");
	free(text);
	fake->input.ports.missed = 0;
	fake->input.ports.cables_per_queue_max = 3;
	fake->input.ports.bad_count = 0;
	text = table_of(fake);
	says_not(text, "LOST FRAMES");
	says(text, "192 queues, up to 3 cables share a queue\n");
	says(text, "no frame was dropped as damaged\n");
	free(text);
	fake_free(fake);
}

static void a_run_that_waits_for_no_clock_says_so(void **)
{
	struct fake *fake = fake_emulated();
	struct hist none;
	check(hist_init(&none, &fake->arena, 2, 1000) == 0);
	fake->input.pace.dilation_milli = 0;
	fake->input.pace.lateness_ns = &none;
	fake->input.pace.lanes = 4;
	char *text = table_of(fake);
	says(text, "as fast as possible: nothing waited for the clock, 4 lanes\n");
	says_not(text, "lateness");
	says(text, "  gaps                 3,000,000");
	free(text);
	fake_free(fake);
}

static void the_short_table_has_the_pace_in_one_line(void **)
{
	struct fake *fake = fake_emulated();
	fake->input.is_short = true;
	char *text = table_of(fake);
	says(text, "\nPace: dilation 86.2, p99 of lateness 12.03 us\n");
	says_not(text, "Real frames");
	says_not(text, "gaps");
	says_not(text, "captured");
	free(text);
	fake_free(fake);
}

static void a_sentence_shows_each_figure_in_its_unit(void **)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);
	json_t *of = json_pack("{s{ss si} si si si sI sf sn ss}", "who", "name", "nic", "number",
			       1234, "wait_ps", 1500, "wait_ns", 1500, "bytes", 4096, "count",
			       (json_int_t)12345678, "share", 0.125, "none", "none_reason",
			       "no packets");
	assert_non_null(to);
	table_say(to, of,
		  "{who.name} {who.number} {who.number:plain}: {wait_ps}, {wait_ns:,10}, {bytes}, "
		  "{bytes:grouped} B, {bytes:memory}, {count}, {count:short}, {share}, {none}, 5 % "
		  "{");
	fclose(to);
	assert_string_equal(text,
			    "nic 1,234 1234: 1.500 ns,   1.500 us, 4.096 kB, 4,096 B, 4.000 KiB, "
			    "12,345,678, 12.3 M, 12.500 %, no packets, 5 % ");
	free(text);
	json_decref(of);
}
