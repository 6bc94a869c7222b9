// SPDX-License-Identifier: Apache-2.0
// Who talks to whom, messages and their times, READs, planes of MRC, and memory that is full.

#include "flow_rig.h"

#define NONE -1

static void messages_are_timed_from_their_first_packet_to_the_ack(void **)
{
	const struct flow_report *report = told("F0 M1 L2 +7 A2 O3 O4 +20 A4");
	assert_int_equal(report->messages.count, 3);
	assert_int_equal(report->messages.min_ns, 10000);
	assert_int_equal(report->messages.max_ns, 22000);
	struct flow_lags messages = report->messages;
	assert_int_equal(flow_quantile(&messages, 0.5), 21000);
	const struct flow_stream *stream = &report->streams[0];
	assert_int_equal(stream->begun, 3);
	assert_int_equal(stream->done, 3);
	assert_int_equal(stream->done_bytes, 5 * MTU);
	assert_int_equal(stream->size_min, MTU);
	assert_int_equal(stream->size_max, 3 * MTU);
	assert_int_equal(report->ack.count, 2);
	assert_int_equal(report->ack.max_ns, 21000);
}

// Of MRC a SACK says that packets came; with the ACK a message is done, where ACKs come.
static void messages_of_mrc_end_with_their_ack(void **)
{
	const struct flow_report *report = told("w0 m1 l2 K2 +9 D2 o3 D3 K3 o4 K4");
	assert_int_equal(report->messages.count, 2);
	assert_int_equal(report->messages.min_ns, 1000);
	assert_int_equal(report->messages.max_ns, 13000);
	report = told("w0 m1 l2 K2 +9 o3 K3");
	assert_int_equal(report->messages.count, 2);
	assert_int_equal(report->messages.max_ns, 3000);
	// More than may wait for an ACK.
	report = told("o0 K0 o1 K1 o2 K2 o3 K3 o4 K4 o5 K5 o6 K6 o7 K7 o8 K8 o9 K9 +9 o10 K10");
	assert_int_equal(report->messages.count, 11);
	assert_int_equal(report->messages.max_ns, 1000);
	report = told("o0 D0 o1 K1 o2 K2 o3 K3 o4 K4 o5 K5 o6 K6 o7 K7 o8 K8 o9 K9 D9");
	assert_int_equal(report->messages.count, 10);
	assert_int_equal(report->messages.max_ns, 16000);
}

// Two QPs of one pair that count on side by side: an answer is to what passed, not to what comes
// next; one that was taken for the other's is found out by the first PSN that did not pass there.
static void answers_to_qps_side_by_side_are_told_apart(void **)
{
	const struct flow_report *report = told(
		"F0 M1 F0@18 A1@40 M1@18 A1@41 L2 L2@18 A2@40 A2@41");
	assert_causes(report, NONE);
	assert_int_equal(report->messages.count, 2);
	report = told("F0 M1 F0@18 M1@18 A1@40 M2 A2@40 M2@18 A2@41 L3 A3@40 L3@18 A3@41");
	assert_causes(report, NONE);
	assert_int_equal(report->messages.count, 2);
	assert_causes(told("F0 M1 L3 A2@40 A3@40"), FLOW_CAPTURE, 1, NONE);
	// Both have passed: what came first is answered first, and its NAK is for what it sends
	// again.
	report = told("F0 M1 M2 F0@18 M1@18 M2@18 A1@40 A1@41 M3 N2@40 M2 M3 L3@18 A3@41 A3@40");
	assert_causes(report, FLOW_LOSS_BEHIND, 1, NONE);
	assert_int_equal(report->streams[0].causes[FLOW_LOSS_BEHIND], 1);
	// Answered in another order: who repeats what a NAK wants is whom it was for.
	report = told("F0 M1 F0@18 M1@18 A1@41 A1@40 M2 M2@18 M3 M3@18 N2@41 M2@18 M3@18 L4 A4@40 "
		      "+1 M4@18 L5@18 A5@41");
	assert_causes(report, FLOW_LOSS_BEHIND, 1, NONE);
	assert_int_equal(report->messages.count, 2);
}

// Of MRC the EV that a SACK reflects tells, too.
static void sacks_to_qps_side_by_side_are_told_apart_by_their_ev(void **)
{
	const struct flow_report *report = told(
		"w0~1 m1~2 w0~3@18 m1~4@18 K1~4@41 K0~1@40 +9 m1r~7 K1~7@40");
	assert_causes(report, FLOW_LOSS_BEHIND, 1, NONE);
	assert_int_equal(report->streams[0].causes[FLOW_LOSS_BEHIND], 1);
	report = told("w0~1 m1~2 w0~1@18 m1~2@18 K1~2@41 K1~2@40"); // nobody knows
	assert_causes(report, NONE);
}

// EVs are of 32 bits.
static void packets_are_counted_by_their_ev(void **)
{
	const struct flow_totals *totals = &told("o0~7 o1~65543 o2~7 o2~7r")->totals;
	uint32_t counts[3] = {0};
	for (uint32_t i = 0; i < FLOW_EVS; i++) {
		assert_true(totals->evs[i].packets < 3);
		counts[totals->evs[i].packets]++;
	}
	assert_int_equal(counts[1], 1);
	assert_int_equal(counts[2], 1);
	assert_int_equal(totals->evs_left_out, 0);
	assert_int_equal(totals->source_ports[50000], 3);
	assert_int_equal(totals->planes_left_out, 3); // addresses are not by the rule
}

// A READ ends with the last of its responses, whether another was asked for since or not.
static void reads_end_with_their_last_response(void **)
{
	const struct flow_report *report = told("Q0,4 q0 y1 y2 +5 z3 Q4,4 Q8,1 q4 y5 y6 z7 p8");
	assert_causes(report, NONE);
	assert_int_equal(report->messages.count, 3);
	assert_int_equal(report->messages.min_ns, 5000);
	assert_int_equal(report->messages.max_ns, 9000);
	assert_int_equal(report->unpaired, 0);
	assert_true(report->streams[0].has_reads);
	// A WRITE behind a READ: its holes are losses, for the size of a packet is known by then.
	assert_causes(told("Q0,4 q0 y1 y2 z3 F4 L6 +9 N5 M5 L6 A6"), FLOW_LOSS_BEFORE, 1, NONE);
}

// The requester asks for what it misses.
static void a_read_that_asks_again_lost_a_response_behind(void **)
{
	assert_causes(told("Q0,4 q0 y1 y2 z3 +900 Q2,2 q2 z3"), FLOW_LOSS_BEHIND, 1, NONE);
	assert_causes(told("Q0,4 q0 y1 z3 +900 Q2,2 q2 z3"), FLOW_LOSS_BEFORE, 1, NONE);
	// The last one is missed, and those to the next READ show that it is: one loss.
	assert_causes(told("Q0,4 q0 y1 y2 Q4,4 q4 y5 y6 +900 Q3,1 Q4,4 Q8,4 p3 q4 y5 y6 z7 q8 y9 "
			   "y10 z11"),
		      FLOW_LOSS_BEFORE, 1, NONE);
	// All responses to one READ are.
	assert_causes(told("Q0,1 p0 Q1,1 Q2,1 p2 +900 Q1,1 Q2,1 p1 p2 Q3,1 p3"), FLOW_LOSS_BEFORE,
		      1, NONE);
	assert_causes(told("Q0,2 q0 z1 Q2,3 Q5,2 q5 z6 +900 Q2,3 Q5,2 q2 y3 z4 q5 z6 Q7,1 p7"),
		      FLOW_LOSS_BEFORE, 3, NONE);
}

static void two_qps_are_told_apart_by_their_psns(void **)
{
	const struct flow_report *report = told(
		"F100@1 M101@1 L102@1 F9000@2 L9001@2 A102@7 A9001@8");
	assert_causes(report, NONE);
	assert_int_equal(report->stream_count, 4);
	assert_int_equal(report->streams[0].peer, 3);
	assert_int_equal(report->streams[1].peer, 4);
	assert_int_equal(report->messages.count, 2);
	assert_int_equal(report->ambiguous + report->unpaired, 0);
	// With PSNs that overlap one QP of the pair is taken by the other's answers.
	report = told("O5@1 O5@2 A5@7 A5@8");
	assert_int_equal(report->streams[0].done + report->streams[1].done, 2);
	assert_true(report->ambiguous > 0);
	report = told("F0 A4000000");
	assert_int_equal(report->unpaired, 1);
}

static void a_place_has_streams_of_its_own(void **)
{
	const struct flow_report *report = told("F0 L1 A1 %1 F0 L1 A1");
	assert_causes(report, NONE);
	assert_int_equal(report->stream_count, 4);
	assert_int_equal(report->messages.count, 2);
}

static void a_psn_from_afar_is_another_connection(void **)
{
	const struct flow_report *report = told("F0 M2 F8000000 L8000001 A8000001");
	assert_int_equal(report->restarts, 1);
	assert_causes(report, FLOW_LOSS_BEFORE, 1, NONE);
	assert_int_equal(report->messages.count, 1);
}

static void marks_and_notifications_are_counted(void **)
{
	const struct flow_report *report = told("O0 A0 F1* M2 L3 A3 +4 C0 O4 A4 C0");
	assert_causes(report, NONE);
	assert_int_equal(report->totals.ecn[3], 1);
	assert_int_equal(report->streams[1].cnps, 2);
	assert_int_equal(report->ce_to_cnp.count, 1);
	assert_int_equal(report->ce_to_cnp.max_ns, 8000);
}

// ---------------------------------------------------------------- MRC

static void mrc_repeats_say_why(void **)
{
	assert_causes(told("w0 m2 l3 K0,110 +9 m1r K3"), FLOW_LOSS_BEFORE, 1, NONE);
	assert_causes(told("w0 m1 m2 l3 K0,110 +9 m1r K3<2"), FLOW_LOSS_BEHIND, 1, NONE);
	assert_causes(told("w0 m1t m2 l3 k1 +9 m1r K3"), FLOW_TRIM_BEFORE, 1, NONE);
	assert_causes(told("w0 m1 m2 l3 k1 +9 m1r K3"), FLOW_TRIM_BEHIND, 1, NONE);
	assert_causes(told("w0 m1 m2 l3 K3 +9 m1r K3"), FLOW_TIMEOUT, 1, NONE);
	assert_causes(told("w0 m1! m2 l3 K0,110 +9 m1r K3"), FLOW_CORRUPT_BEFORE, 1, NONE);
	assert_causes(told("w0 m1 m1 m2 l3 K3"), FLOW_DUPLICATE, 1, NONE);
	assert_causes(told("w0 m2 l3 m1 K3"), NONE); // sprayed: no fault
}

// The receiver stood still, and what it then says first was caused by first copies.
static void mrc_repeats_of_what_had_come_are_needless(void **)
{
	const struct flow_report *report = told(
		"w0~1 K0~1 m1~2 m2~3 l3~4 +300 m1r~5 m2r~6 l3r~7 +300 K3~4");
	assert_causes(report, FLOW_TIMEOUT, 3, NONE);
	assert_int_equal(report->repairs[0].cause, FLOW_TIMEOUT);
	assert_int_equal(report->silence_ns, 607000);
	assert_causes(told("w0~1 m1~2 m2~3 l3~4 +300 m1r~5 +300 m1r~6 +300 K1~2"), FLOW_TIMEOUT, 2,
		      NONE);
	// Caused by the repeat: what it brought was lost.
	report = told("w0~1 K0~1 m1~2 m2~3 l3~4 +300 m1r~5 +300 K1~5 K3~4");
	assert_causes(report, FLOW_LOSS_BEHIND, 1, NONE);
	assert_int_equal(report->silence_ns, 0);
	// Both copies have one EV: several at once are none of repeats, two may be.
	assert_causes(told("w0~1 m1~2 m2~3 m3~4 l4~5 +300 m1r~2 m2r~3 m3r~4 l4r~5 +300 K4~5"),
		      FLOW_TIMEOUT, 4, NONE);
	assert_causes(told("w0~1 m1~2 l2~3 +300 m1r~2 l2r~3 +300 K2~3"), FLOW_LOSS_BEHIND, 2, NONE);
}

static void mrc_counts_what_it_repairs(void **)
{
	const struct flow_report *report = told("w0 m1t m2 l3 k1 +9 m1r K3");
	assert_int_equal(report->trim_to_rtx.count, 1);
	assert_int_equal(report->trim_to_rtx.max_ns, 13000);
	assert_int_equal(report->streams[0].trims, 1);
	assert_int_equal(report->streams[0].rtx, 1);
	assert_int_equal(report->streams[1].nacks, 1);
	assert_int_equal(report->streams[1].sacks, 1);
	assert_int_equal(report->messages.count, 1);
	assert_int_equal(report->repairs[0].number, 2);
	assert_int_equal(report->repairs[0].repeat, 6);
}

// More than a fifth of what is acknowledged went past the tap: nothing before it is a loss.
static void a_tap_on_some_planes_withholds_losses_before(void **)
{
	const struct flow_report *report = told("w0 m2 m4 l6 m1r K6");
	assert_causes(report, NONE);
	assert_int_equal(report->partial_streams, 1);
	assert_true(report->streams[0].is_partial);
	assert_int_equal(report->partial_acked, 7);
	assert_int_equal(report->partial_unseen, 2);
}

// ---------------------------------------------------------------- memory that is full

static const struct flow_report *full(struct rig *rig, const struct flow_config *limits,
				      const char *text)
{
	struct flow_config config = *limits;
	wire_config_default(6, &config.wire);
	*rig = rig_of(&config);
	rig_take(rig, text);
	return rig_end(rig);
}

static void the_stream_that_was_quiet_for_longest_makes_room(void **)
{
	struct rig rig;
	struct flow_config config = {.streams_max = 2, .psns_max = 1u << 12, .repairs_max = 8};
	const struct flow_report *report = full(&rig, &config, "F0@1 M2@1 O0@2 O1@1 O0@3");
	assert_int_equal(report->evicted, 1);
	assert_int_equal(report->streams[0].qpn, 1);
	assert_int_equal(report->streams[1].qpn, 3);
	assert_int_equal(report->causes[FLOW_LOSS_BEFORE], 0);
	rig_free(&rig);
	report = full(&rig, &config, "F0@1 M2@1 O0@2 O0@3"); // its hole is counted as it goes
	assert_int_equal(report->streams[0].qpn, 3);
	assert_int_equal(report->causes[FLOW_LOSS_BEFORE], 1);
	rig_free(&rig);
}

// What decides does not need the list.
static void a_full_list_of_repairs_changes_no_cause(void **)
{
	static const char text[] =
		"F0 M1 M2 M3 M4 M5 M6 M7 M8 L9 A9 F10 M12 N11 M11 M12 M13 N12 M12 M13 "
		"L14 A14 +300 F10 M11 M12 M13 L14 A14 F15 M16 M17 R15 +9 F15 M16 L17 A17";
	struct rig rig;
	for (uint32_t most = 1; most < 6; most++) {
		struct flow_config config = {
			.streams_max = 4, .psns_max = 1u << 12, .repairs_max = most};
		const struct flow_report *report = full(&rig, &config, text);
		assert_causes(report, FLOW_LOSS_BEFORE, 1, FLOW_LOSS_BEHIND, 1, FLOW_TIMEOUT, 1,
			      FLOW_NOT_READY, 1, NONE);
		assert_int_equal(report->repair_count + report->repairs_left_out, 4);
		rig_free(&rig);
	}
}

static void psns_that_are_forgotten_are_counted(void **)
{
	struct rig rig;
	char text[4096] = "v6 ", *at = text + 3;
	struct flow_config config = {.streams_max = 4, .psns_max = 64, .repairs_max = 8};
	for (int psn = 0; psn < 200; psn++)
		at += sprintf(at, "M%d ", psn);
	sprintf(at, "+99 M5 M6");
	const struct flow_report *report = full(&rig, &config, text);
	assert_int_equal(report->forgotten, 2);
	assert_int_equal(report->streams[0].again, 2);
	rig_free(&rig);
}

// Rings that are given back are used again: many QPs one after the other need no more memory.
static void memory_is_used_again(void **)
{
	struct rig rig;
	struct flow_config config = {.streams_max = 4, .psns_max = 512, .repairs_max = 8};
	char word[128];
	full(&rig, &config, "");
	for (int qp = 1; qp < 300; qp++) {
		sprintf(word, "F0@%d M2@%d M3@%d", qp, qp, qp);
		rig_take(&rig, word);
	}
	const struct flow_report *report = rig_end(&rig);
	assert_int_equal(report->evicted, 295);
	assert_int_equal(report->causes[FLOW_LOSS_BEFORE], 299);
	assert_int_equal(report->forgotten, 0);
	rig_free(&rig);
}

// The pool has no ring for the whole window, but one for a part of it: slots stay where they are
// while holes are made.
static void a_window_beyond_the_pool_is_remembered_in_part(void **)
{
	struct flow_config config = {.streams_max = 16, .psns_max = 192, .repairs_max = 16};
	wire_config_default(6, &config.wire);
	struct rig rig = rig_of(&config);
	rig_take(&rig, "S0 A0 S1 A1 S150 S150=");
	const struct flow_report *report = rig_end(&rig);
	assert_int_equal(report->streams[0].doubled, 1);
	assert_int_equal(report->streams[0].again, 1);
	assert_int_equal(report->streams[0].holes, 148);
	assert_causes(report, FLOW_LOSS_BEFORE, 148, FLOW_DUPLICATE, 1, NONE);
	rig_free(&rig);
}
