// SPDX-License-Identifier: Apache-2.0
// Each cause from the fewest packets that show it, with and without IPv4 identifications, and its
// neighbours that look alike.

#include "flow_rig.h"

#define NONE -1
// Eight packets that count up, so that identifications are believed.
#define WARM "F0 M1 M2 M3 M4 M5 M6 M7 M8 L9 A9 "

static void nothing_is_found_where_nothing_is(void **)
{
	const struct flow_report *report = told(WARM "F10 M11 L12 +5 A12");
	assert_causes(report, NONE);
	assert_int_equal(report->repair_count, 0);
	assert_int_equal(report->messages.count, 2);
	assert_int_equal(report->ambiguous + report->unpaired + report->evicted + report->forgotten,
			 0);
	assert_causes(told("v6 F0 M1 L2 A2"), NONE);
	assert_causes(told("v6 F16777214 M16777215 M0 L1 A1 O2 A2"), NONE);
}

// The receiver wants 11, and so would one at the tap.
static void a_hole_that_a_nak_names_is_a_loss_before(void **)
{
	const struct flow_report *report = told(WARM "F10 M12 M13 N11 +50 M11 M12 M13 L14 A14");
	assert_causes(report, FLOW_LOSS_BEFORE, 1, NONE);
	assert_int_equal(report->repair_count, 1);
	assert_int_equal(report->repairs[0].cause, FLOW_LOSS_BEFORE);
	assert_int_equal(report->repairs[0].psn, 11);
	assert_int_equal(report->repairs[0].number, 15);
	assert_int_equal(report->repairs[0].repeat, 16);
	assert_int_equal(report->repairs[0].repeat_ns, 51000);
	assert_int_equal(report->repairs[0].passed_ns, -1);
	assert_int_equal(report->streams[0].again, 2);
	assert_int_equal(report->streams[0].holes, 1);
	for (const char **at = (const char *[]){"v0 ", "v6 ", NULL}; *at != NULL; at++) {
		char text[256];
		snprintf(text, sizeof(text), "%s%s", *at,
			 WARM "F10 M12 M13 N11 +50 M11 M12 M13 L14 A14");
		assert_causes(told(text), FLOW_LOSS_BEFORE, 1, NONE);
	}
}

// It passed in its turn, and the receiver wants it all the same.
static void a_nak_for_what_passed_is_a_loss_behind(void **)
{
	const struct flow_report *report = told(WARM "F10 M11 M12 M13 N11 +50 M11 M12 M13 L14 A14");
	assert_causes(report, FLOW_LOSS_BEHIND, 1, NONE);
	assert_int_equal(report->repairs[0].passed_ns, 3000);
	assert_int_equal(report->repairs[0].silence_ns, 52000);
	assert_causes(told("v6 " WARM "F10 M11 M12 M13 N11 +50 M11 M12 M13 L14 A14"),
		      FLOW_LOSS_BEHIND, 1, NONE);
	// Said twice, it is one loss; of another PSN another one.
	assert_causes(told(WARM "F10 M11 M12 N11 M13 N11 M11 M12 M13 L14 N13 M13 L14 A14"),
		      FLOW_LOSS_BEHIND, 2, NONE);
}

// What is lost while the receiver discards shows in the repeat only: 11 and 13 were both lost
// before the tap, and the second one is seen as a hole, not as a loss behind.
static void a_receiver_that_discards_is_not_believed_twice(void **)
{
	assert_causes(told(WARM "F10 M12 M14 N11 M11 M12 M13 N13 M13 M14 L15 A15"),
		      FLOW_LOSS_BEFORE, 2, FLOW_LOSS_BEHIND, 1, NONE);
	assert_causes(told(WARM "F10 M12 M14 L15 N11 +9 M11 M12 M13 M14 L15 A15"), FLOW_LOSS_BEFORE,
		      2, NONE);
}

// The repeat itself has a hole.
static void a_repeat_that_is_lost_counts_again(void **)
{
	const struct flow_report *report = told(
		WARM "F10 M12 M13 L14 N11 +9 M12 M13 L14 N11 +9 M11 M12 M13 L14 A14");
	assert_causes(report, FLOW_LOSS_BEFORE, 2, NONE);
	assert_int_equal(report->repair_count, 2);
}

static void a_hole_at_the_end_is_a_loss_too(void **)
{
	assert_causes(told(WARM "F10 M12 M13"), FLOW_LOSS_BEFORE, 1, NONE);
	assert_causes(told("v6 F0 M2 L3"), FLOW_LOSS_BEFORE, 1, NONE);
}

// ---------------------------------------------------------------- doubled, and late

static void one_identification_twice_is_a_copy(void **)
{
	const struct flow_report *report = told(WARM "F10 M11 M11= M12 L13 A13");
	assert_causes(report, FLOW_DUPLICATE, 1, NONE);
	assert_int_equal(report->streams[0].doubled, 1);
	assert_int_equal(report->streams[0].again, 1);
	// Also of a packet from before, and of a repeat.
	assert_causes(told(WARM "F10 M11 M12 M11#1012 L13 A13"), FLOW_DUPLICATE, 1, NONE);
	assert_causes(told(WARM "F10 M11 M12 N11 M11 M11= M12 L13 A13"), FLOW_DUPLICATE, 1,
		      FLOW_LOSS_BEHIND, 1, NONE);
}

static void without_identifications_time_tells_copies(void **)
{
	assert_causes(told("v6 F0 M1 M2 M2 M3 L4 A4"), FLOW_DUPLICATE, 1, NONE);
	assert_causes(told("v0 F0 M1 M2 M2 M3 L4 A4"), FLOW_DUPLICATE, 1, NONE);
	// While a NAK waits for its repeat, which does not begin with the last packet.
	assert_causes(told("v6 " WARM "F10 M11! M12 M13 N11 M14 M14 M15 M11 M12 M13 M14 L15 A15"),
		      FLOW_DUPLICATE, 1, FLOW_CORRUPT_BEFORE, 1, NONE);
	// After 30 us it is a timer of one packet.
	assert_causes(told("v6 F0 M1 L2 +31 L2 A2 A2"), FLOW_TIMEOUT, 1, NONE);
}

// Its identification is that of its place in the sequence.
static void identifications_that_run_backwards_were_overtaken(void **)
{
	const struct flow_report *report = told(WARM
						"F10 M11 M13#1014 M14#1015 M12#1013 L15#1016 A15");
	assert_causes(report, FLOW_REORDER_BEFORE, 1, NONE);
	assert_int_equal(report->streams[0].late, 1);
	assert_int_equal(report->streams[0].late_distance_max, 3);
	assert_int_equal(report->repair_count, 0);
	// The receiver complains, and the sender goes back for nothing.
	report = told(
		WARM
		"F10 M11 M13#1014 N12 M12#1013 M14#1015 M12#1016 M13#1017 M14#1018 L15#1019 A15");
	assert_int_equal(report->causes[FLOW_REORDER_BEFORE], 1);
	assert_int_equal(report->causes[FLOW_LOSS_BEFORE], 0);
	assert_int_equal(report->repairs[0].cause, FLOW_REORDER_BEFORE);
}

static void without_identifications_a_late_packet_comes_alone(void **)
{
	const struct flow_report *report = told("v6 F0 M1 M3 M4 M2 M5 L6 A6");
	assert_causes(report, FLOW_REORDER_BEFORE, 1, NONE);
	assert_int_equal(report->streams[0].late_distance_max, 3);
	assert_causes(told("v6 F0 M1 M4 M5 M2 M3 M6 L7 A7"), FLOW_REORDER_BEFORE, 2, NONE);
	// Some one behind the other, of several holes.
	assert_causes(told("v6 F0 M2 M3 M5 M6 M8 M1 M4 M7 M9 L10 A10"), FLOW_REORDER_BEFORE, 3,
		      NONE);
}

// What a repeat leaves out since it was acknowledged meanwhile is not lost.
static void a_repeat_leaves_out_what_was_acknowledged(void **)
{
	for (const char **ip = (const char *[]){"v4 ", "v6 ", NULL}; *ip != NULL; ip++) {
		char text[128];
		snprintf(text, sizeof(text),
			 "%s" WARM "F10 M11 M12 M13 M14 N11 M11 A12 M13 M14 L15 A15", *ip);
		assert_int_equal(told(text)->causes[FLOW_LOSS_BEFORE], 0);
		snprintf(text, sizeof(text),
			 "%s" WARM "F10 M11 M12 M13 M14 N11 M11 A11 M13 M14 L15 A15", *ip);
		assert_int_equal(told(text)->causes[FLOW_LOSS_BEFORE], 1);
	}
}

// In the midst of a repeat a packet ahead is a late one, unless the repeat goes on from it.
static void a_late_packet_among_repeats_is_no_loss(void **)
{
	const char *late = WARM
		"F10 M11 M13 M14 M15 M17 N12 +9 M12 M16 M13 M14 M15 M16 M17 L18 A18";
	const char *lost = WARM "F10 M11 M13 M14 M15 M17 N12 +9 M12 M16 M17 L18 N13 +9 M13 M14 M15 "
				"M16 M17 L18 A18";
	const char *beyond = WARM "F10 M12 M13 N11 +9 M11 L14 M12 M13 L14 A14";
	const struct {
		const char *text;
		unsigned lost, late;
	} cases[] = {{late, 1, 1}, {lost, 5, 0}, {beyond, 1, 1}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256];
		snprintf(text, sizeof(text), "v6 %s", cases[i].text);
		const struct flow_report *report = told(text);
		assert_int_equal(report->causes[FLOW_LOSS_BEFORE], cases[i].lost);
		assert_int_equal(report->causes[FLOW_REORDER_BEFORE], cases[i].late);
		assert_int_equal(report->causes[FLOW_DUPLICATE], 0);
	}
	// A repeat that another one cut short comes late by its last packet, and one that passed as
	// often as those before it is a copy.
	assert_causes(told("v6 " WARM "F10 M11 M12 M13 N11 M11 M12 N11 M11 M13 M12 M13 L14 A14"),
		      FLOW_LOSS_BEHIND, 2, FLOW_REORDER_BEFORE, 1, NONE);
	assert_causes(
		told("v6 " WARM "F10 M11 M12 M13 N11 M11 M12 M13 N11 M11 M13 M12 M13 L14 A14"),
		FLOW_LOSS_BEHIND, 2, FLOW_DUPLICATE, 1, NONE);
	// Two neighbours of a repeat change places: its packets all come, and none comes twice.
	assert_causes(told("v6 " WARM "F10 M12 M13 M14 M15 N11 +9 M11 M12 M14 M13 M15 L16 A16"),
		      FLOW_LOSS_BEFORE, 1, FLOW_REORDER_BEFORE, 1, NONE);
	// Each of two NAKs has its repeat, and the second one begins where nothing is done yet.
	assert_causes(told(WARM "F10 M12 M11#12 N11 A11 M13 N12 +9 M12 M12 M13 L14 A14"),
		      FLOW_REORDER_BEFORE, 1, NONE);
	// A late copy that fell into the receiver's discarding is asked for again: no loss behind.
	assert_causes(told(WARM "F10 M11 M13 M12#12 N12 M14 N13 +9 M12 M13 +9 M13 M14 L15 A15"),
		      FLOW_REORDER_BEFORE, 1, NONE);
}

// However many wait: the repeats come in the order of their NAKs.
static void each_of_several_open_naks_has_its_repeat(void **)
{
	const struct flow_report *report = told(
		"v6 " WARM "F10 M12 M11 N11 M13 N12 M11 M12 M14 M13 N13 M15 N14 M12 M13 M14 "
		"M15 M13 M14 M15 M14 M15 L16 A16");
	assert_int_equal(report->causes[FLOW_TIMEOUT], 0);
	assert_int_equal(report->repair_count, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_true(report->repairs[i].repeat > report->repairs[i].number);
}

// Of two NAKs the first one's PSN came by itself and was acknowledged: both repeats begin behind
// it.
static void two_repeats_from_one_psn_are_no_copies(void **)
{
	const struct flow_report *report = told(
		"v6 " WARM
		"F10 M12 N11 M11 A11 M13 N12 M14 M15 M12 +3 M12 A12 M13 M14 M15 L16 A16");
	assert_causes(report, FLOW_REORDER_BEFORE, 1, NONE);
	assert_int_equal(report->streams[0].doubled, 0);
	// Nor where an earlier NAK was answered by what may have been a copy.
	assert_causes(told("v6 F0 M1 M2 M3 N3 M3 L4 A4 F5 M6 M7 N6 M8 A6 N7 M9 M10 M7 M7 A7 M8 M9 "
			   "M10 L11 A11"),
		      FLOW_GONE_BEHIND, 1, FLOW_REORDER_BEHIND, 1, NONE);
}

// The end of a message, what was late for it, and the repeat: two copies in a row, of which the
// second one comes after a while.
static void a_late_one_right_before_its_repeat_is_no_loss(void **)
{
	assert_causes(told("v6 " WARM "F10 M12 L13 N11 M11 +6 M11 M12 L13 A13"),
		      FLOW_REORDER_BEFORE, 1, NONE);
	assert_causes(told("v6 " WARM "F10 M12 L13 N11 +6 M11 M11 M12 L13 A13"), FLOW_LOSS_BEFORE,
		      1, FLOW_DUPLICATE, 1, NONE);
	// So soon behind its NAK no repeat came.
	assert_causes(told("v6 F0 M2 M3 N1 +9 M1 M2 M3 L4 A4 F10 M12 L13 N11 +3 M11 +4 M11 M12 L13 "
			   "A13"),
		      FLOW_LOSS_BEFORE, 1, FLOW_REORDER_BEFORE, 1, FLOW_CAPTURE, 5, NONE);
}

// So soon no timer has run out.
static void a_nak_that_its_sender_gets_twice_is_no_second_loss(void **)
{
	assert_causes(told(WARM "F10 M12 L13 N11 +6 M11 M11 M12 L13 A13"), FLOW_LOSS_BEFORE, 1,
		      NONE);
	assert_causes(told(WARM "F10 M12 L13 N11 +6 M11 M12 M11 M12 L13 A13"), FLOW_LOSS_BEFORE, 1,
		      NONE);
}

// The last packet once more may be a copy, or what the NAK asked for: another repeat tells.
static void a_copy_of_what_a_nak_wants_is_not_its_repeat(void **)
{
	const struct flow_report *report = told("v6 " WARM
						"F10 M11 M12 N12 M12 M13 M14 M12 M13 M14 L15 A15");
	assert_int_equal(report->causes[FLOW_TIMEOUT], 0);
	assert_int_equal(report->causes[FLOW_DUPLICATE], 1);
	assert_int_equal(report->repairs[0].repeat, 19);
	report = told("v6 " WARM "F10 M11 M12 N12 M12 M13 M14 L15 A15");
	assert_int_equal(report->causes[FLOW_DUPLICATE], 0);
	assert_int_equal(report->repairs[0].repeat, 16);
}

// A copy of the newest packet stands right before a repeat from farther back: the repeat that a NAK
// asked for does not begin with it, and nothing between was lost.
static void a_copy_before_a_repeat_is_not_its_first_packet(void **)
{
	assert_causes(told("v6 " WARM "F10 M11 M13 M14 N12 M15 M12 M16 N13 M17 M17 M12 M13 A12 M14 "
			   "M13 M14 M15 M16 M17 L18 A18"),
		      FLOW_REORDER_BEFORE, 1, FLOW_DUPLICATE, 1, NONE);
}

static void the_first_packet_of_a_repeat_may_be_overtaken(void **)
{
	const struct flow_report *report = told(
		"v6 " WARM "F10 M12 M13 N11 M11 M12 M13 M14 M15 A14 M12 M11 M13 M14 M15 L16 A16");
	assert_int_equal(report->causes[FLOW_DUPLICATE], 0);
}

static void a_nak_may_be_overtaken_by_a_later_one(void **)
{
	const struct flow_report *report = told(WARM
						"F10 M11 M12 M13 M14 N12 N11 M12 M13 M14 L15 A15");
	assert_int_equal(report->causes[FLOW_LOSS_BEFORE], 0);
	assert_int_equal(report->repairs[0].repeat, 19);
	assert_int_equal(report->repairs[1].repeat, 0);
}

// A NAK that was under way when the repeat of its PSN passed is not about that: what had followed
// the late packet was too early. One that comes later is: then it was lost behind.
static void a_nak_that_crosses_a_repeat_is_about_what_was_before(void **)
{
	static const char start[] = "v4 F0 M1 L2 +20 A2 F3 M5 M6 M7 M4#5 M8 N4 M4 M5 M6";
	static const struct {
		const char *then;
		enum flow_cause cause;
	} cases[] = {{"N5 M5 M6 M7 M8 L9 +20 A9", FLOW_REORDER_BEFORE},
		     {"+30 N5 M5 M6 M7 M8 L9 +20 A9", FLOW_LOSS_BEHIND}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256];
		snprintf(text, sizeof(text), "%s %s", start, cases[i].then);
		const struct flow_report *report = told(text);
		assert_int_equal(report->causes[FLOW_REORDER_BEFORE], 1);
		assert_int_equal(report->causes[FLOW_LOSS_BEHIND],
				 cases[i].cause == FLOW_LOSS_BEHIND);
		assert_int_equal(report->repair_count, 2);
		assert_int_equal(report->repairs[1].cause, cases[i].cause);
	}
}

// So it is for a late one ahead of a repeat.
static void a_nak_for_what_a_late_packet_jumped_over_is_no_loss(void **)
{
	assert_causes(told("v6 F0 M1 L2 +20 A2 F3 M5 M6 M7 M8 N4 M4 M6 M7 N5 M5 M6 M8 M7 N7 M8 M7 "
			   "M8 L9 +20 A9"),
		      FLOW_LOSS_BEFORE, 2, FLOW_REORDER_BEFORE, 1, NONE);
	assert_causes(told("v4 F0 M1 M2 M3 M4 M5 M6 M7 M8 L9 +20 A9 F10 M12#1102 M13#1103 M14#1104 "
			   "M15#1106 N11 M11#1107 M13#1109 M14#1110 N12 M12#1120 M15#1111 M13#1121 "
			   "N13 M14#1122 M15#1123 M13#1124 M14#1125 M15#1126 L16#1127 +20 A16"),
		      FLOW_LOSS_BEFORE, 2, FLOW_REORDER_BEFORE, 1, NONE);
}

// In the midst of a repeat the receiver has more than that: it wants what did not pass yet.
static void a_nak_for_what_a_repeat_has_not_come_to_is_no_loss(void **)
{
	assert_causes(told("v6 F0 M1 L2 +3 A2 F3 M5 M6 N4 M4 M7 M8 N5 M9 M10 M12 L13 M4 M5 M6 A8 "
			   "M5 M6 M7 M11 M8 M9 N9 M10 M11 M12 L13 +20 A13"),
		      FLOW_REORDER_BEFORE, 2, NONE);
}

static void an_answer_to_each_repeat_makes_no_copies(void **)
{
	assert_causes(told("v6 " WARM "F10 M11 L12 N10 F10 A10 M11 A11 L12 A12"), FLOW_LOSS_BEHIND,
		      1, NONE);
}

static void the_first_packet_of_a_capture_may_have_overtaken(void **)
{
	const struct flow_report *report = told("v6 M1 F0 L2 A2");
	assert_causes(report, FLOW_REORDER_BEFORE, 1, NONE);
	assert_int_equal(report->streams[0].again, 0);
	assert_int_equal(report->totals.dscp[0].again + report->totals.priority[0].again, 0);
	assert_int_equal(report->streams[0].begun, 1);
	assert_int_equal(report->streams[0].messages.max_ns, 3000); // from M1 on
	assert_causes(told("v6 M1 N0 F0 M2 N1 +9 F0 M1 M2 +9 M1 M2 L3 A3"), FLOW_REORDER_BEFORE, 1,
		      NONE);
}

static void the_first_packet_of_a_capture_may_have_been_lost(void **)
{
	const struct flow_report *report = told("v6 M1 M2 N0 L3 F0 M1 M2 L3 A3");
	assert_causes(report, FLOW_LOSS_BEFORE, 1, NONE);
	assert_int_equal(report->streams[0].begun, 1);
	assert_int_equal(report->streams[0].done, 1);
	assert_int_equal(report->streams[0].again, 3);
}

static void what_comes_by_itself_behind_was_overtaken_behind(void **)
{
	assert_causes(told(WARM "F10 M11 M12 M13 N11 L14 A14"), FLOW_REORDER_BEHIND, 1, NONE);
	assert_causes(told("v6 " WARM "F10 M11 M12 M13 N11 L14 A14"), FLOW_REORDER_BEHIND, 1, NONE);
}

// It came by itself while its repeat was under way: the receiver wants the next one sooner than the
// repeat, whose answer takes as long as the first ACK, can have been answered.
static void a_nak_of_the_next_one_that_comes_too_soon_was_overtaken_behind(void **)
{
#define SLOW "F0 M1 M2 M3 M4 M5 M6 M7 M8 L9 +20 A9 "
	static const char soon[] = SLOW "F10 M11 M12 M13 N11 M11 M12 N12 M12 M13 L14 +20 A14";
	static const char open[] = SLOW "F10 M11 M12 M13 N11 M11 N12 M12 M13 L14 +20 A14";
	static const char before[] = SLOW "F10 M11 M12 M13 N11 N12 M11 M12 M13 L14 +20 A14";
	static const char late[] = SLOW
		"F10 M11 M12 M13 N11 M11 M12 M13 +30 N12 M12 M13 L14 +20 A14";
	for (const char **ip = (const char *[]){"", "v0 ", "v6 ", NULL}; *ip != NULL; ip++) {
		for (const char **at = (const char *[]){soon, open, before, NULL}; *at != NULL;
		     at++) {
			char text[256];
			snprintf(text, sizeof(text), "%s%s", *ip, *at);
			const struct flow_report *report = told(text);
			assert_causes(report, FLOW_REORDER_BEHIND, 1, NONE);
			assert_int_equal(report->repairs[0].cause, FLOW_REORDER_BEHIND);
			assert_int_equal(report->repairs[1].cause, FLOW_REORDER_BEHIND);
		}
	}
	assert_causes(told(late), FLOW_LOSS_BEHIND, 2, NONE); // the repeat of 12 was lost, too
}

// What an earlier NAK asked for brings 13 once more before a late 13 could have been told: it was
// lost, or it was overtaken.
static void what_another_repeat_brings_is_withheld(void **)
{
	static const char open[] = SLOW
		"F10 M11 M12 M13 M14 N11 M15 N12 M11 M12 M13 M14 N13 M15 M12 M13 M14 M15 L16 +20 "
		"A16";
	for (const char **ip = (const char *[]){"", "v0 ", "v6 ", NULL}; *ip != NULL; ip++) {
		char text[256];
		snprintf(text, sizeof(text), "%s%s", *ip, open);
		const struct flow_report *report = told(text);
		assert_causes(report, FLOW_REORDER_BEHIND, 1, FLOW_GONE_BEHIND, 1, NONE);
		assert_int_equal(report->repairs[2].cause, FLOW_GONE_BEHIND);
	}
}

// So does a repeat that passed while the NAK was under way.
static void what_crosses_its_nak_is_a_repeat(void **)
{
	static const char text[] = "v6 F0 M1 L2 +3 A2 F3 M5 M6 N4 M4 M7 M8 N5 M9 M10 M4 M5 M6 M7 "
				   "M8 M5 M6 M7 N7 M8 M9 M10 L11 +3 A11";
	assert_causes(told(text), FLOW_REORDER_BEFORE, 1, FLOW_GONE_BEHIND, 1, NONE);
}

// Both NAKs are answered: 12 was sent once in each repeat, and one of these was overtaken.
static void what_two_naks_ask_for_is_no_copy(void **)
{
	static const char text[] =
		"v6 " SLOW "F10 M11 M12 M13 N11 M14 N12 M11 M12 M13 M14 M12 M15 L16 +20 A16";
	assert_causes(told(text), FLOW_REORDER_BEHIND, 1, FLOW_REORDER_BEFORE, 1, NONE);
}

// The repeat of 11 may have come late, behind 14: only then the receiver wants 12.
static void a_nak_that_waited_for_a_late_repeat_is_withheld(void **)
{
#define NAKED SLOW "F10 M12 M13 N11 M11 M12 M13 "
#define WAITED "M12 M13 M14 M15 L16 +20 A16"
	// It changed places with 12, which is no less likely where another one was late already.
	assert_causes(told(SLOW "F10 M11 M12 N11 A11 M13 M14 M15 M16 M17! M18 N17 M19 M20 M17 M18 "
				"M19 N18 M20 M18 M19 M20 M21 L22 +20 A22"),
		      FLOW_REORDER_BEHIND, 1, FLOW_CORRUPT_BEFORE, 1, FLOW_GONE_BEHIND, 1, NONE);
	for (const char **ip = (const char *[]){"", "v0 ", "v6 ", NULL}; *ip != NULL; ip++) {
		char text[256];
		snprintf(text, sizeof(text), "%s%s", *ip, NAKED "M14 M15 +1 N12 " WAITED);
		assert_causes(told(text), FLOW_LOSS_BEFORE, 1, FLOW_GONE_BEHIND, 1, NONE);
		snprintf(text, sizeof(text), "%s%s", *ip, NAKED "M14 M15 N12 " WAITED);
		assert_causes(told(text), FLOW_LOSS_BEFORE, 1, FLOW_LOSS_BEHIND, 1, NONE);
	}
}

// The NAK behind a late packet waited for that: how long says nothing of others.
static void a_nak_behind_a_late_packet_is_no_measure(void **)
{
	assert_causes(told(SLOW "F10 M11 M12 N11 M13 M14 N12 M11 A11 M12 M13 M14 M15 M16 M17! M18 "
				"N17 M19 M20 M17 M18 M19 M20 M21 N18 M18 M19 M20 M21 L22 +20 A22"),
		      FLOW_REORDER_BEHIND, 1, FLOW_CORRUPT_BEFORE, 1, FLOW_GONE_BEHIND, 1, NONE);
}

static void an_ack_of_more_than_was_repeated_tells_lateness(void **)
{
	assert_causes(told(SLOW "F10 M11 M12 M13 M14 N11 M11 A13 M12 M13 M14 L15 +20 A15"),
		      FLOW_REORDER_BEHIND, 1, NONE);
	assert_causes(told("v6 " SLOW "F10 M11 M12 M13 M14 N11 M11 A13 M12 M13 M14 L15 +20 A15"),
		      FLOW_REORDER_BEHIND, 1, NONE);
	assert_causes(told(SLOW "F10 M11 M12 M13 M14 N11 M11 M12 M13 A13 M14 L15 +20 A15"),
		      FLOW_LOSS_BEHIND, 1, NONE);
	assert_causes(told("v6 " SLOW "F10 M11 M12 M13 N11 M11 M12 M13 M11 A13 L14 +20 A14"),
		      FLOW_LOSS_BEHIND, 1, FLOW_DUPLICATE, 1, NONE);
}

// Who acknowledges only what asks for it, and what it has, had the original when its repeat came.
static void an_ack_that_nobody_asked_for_tells_a_copy(void **)
{
#define ASKED "O0 A0 O1 A1 O2 A2 O3 A3 "
	assert_causes(told(ASKED "F4 M5 M6 N5 M5 M6 L7 A5 A7"), FLOW_REORDER_BEHIND, 1, NONE);
	assert_causes(told(ASKED "F4 M5 M6 N5 M5 M6 L7 A7"), FLOW_LOSS_BEHIND, 1, NONE);
	// Not if the network doubled the repeat.
	assert_causes(told(ASKED "F4 M5 M6 N5 M5 M5= M6 L7 A5 A7"), FLOW_LOSS_BEHIND, 1,
		      FLOW_DUPLICATE, 1, NONE);
	assert_causes(told(ASKED "O4 A4 F5 A5 M6 M7 N6 M6 M7 L8 A6 A8"), FLOW_GONE_BEHIND, 1, NONE);
	// Not if it has acknowledged another one.
	assert_causes(told(ASKED "F4 A4 M5 M6 N5 M5 M6 L7 A5 A7"), FLOW_LOSS_BEHIND, 1, NONE);
	assert_causes(told("O0 A0 F1 M2 M3 N2 M2 M3 L4 A2 A4"), FLOW_LOSS_BEHIND, 1, NONE);
}

// So it tells one that comes behind later packets of the repeat, unless a copy passed meanwhile.
static void an_ack_of_more_that_nobody_asked_for_tells_a_copy(void **)
{
	for (const char **ip = (const char *[]){"", "v0 ", "v6 ", NULL}; *ip != NULL; ip++) {
		char text[256];
		snprintf(text, sizeof(text), "%s%s", *ip, ASKED "F4 M5 M6 N5 M5 M6 M7 A6 L8 A8");
		assert_causes(told(text), FLOW_REORDER_BEHIND, 1, NONE);
	}
	assert_causes(told(ASKED "F4 M5 M6 N5 M5 M6 M7 L8 A8"), FLOW_LOSS_BEHIND, 1, NONE);
	assert_causes(told(ASKED "F4 M5 M6 N5 M5 M6 M6= A6 M7 L8 A8"), FLOW_LOSS_BEHIND, 1,
		      FLOW_DUPLICATE, 1, NONE);
	assert_causes(told("v6 " ASKED "F4 M5 M6 N5 M5 M6 M6 A6 M7 L8 A8"), FLOW_LOSS_BEHIND, 1,
		      FLOW_DUPLICATE, 1, NONE);
}

// ---------------------------------------------------------------- timers

static void a_timer_of_what_was_acknowledged_had_no_need(void **)
{
	const struct flow_report *report = told(WARM "F10 M11 L12 A12 +300 F10 M11 L12 A12");
	assert_causes(report, FLOW_TIMEOUT, 1, NONE);
	assert_true(report->repairs[0].is_timer);
	assert_int_equal(report->repairs[0].silence_ns, 302000);
	assert_int_equal(report->repairs[0].repeat, 16);
}

// The answer to the first copies comes while the repeat is under way, or two answers come.
static void a_late_ack_tells_that_all_had_arrived(void **)
{
	assert_causes(told(WARM "F10 M11 L12 +300 F10 A12 M11 L12 A12"), FLOW_TIMEOUT, 1, NONE);
	assert_causes(told(WARM "F10 M11 L12 +300 F10 M11 L12 A12 A12"), FLOW_TIMEOUT, 1, NONE);
}

static void one_answer_to_two_copies_means_that_the_first_was_lost_behind(void **)
{
	assert_causes(told(WARM "F10 M11 L12 +300 F10 M11 L12 A12"), FLOW_LOSS_BEHIND, 1, NONE);
	assert_causes(told(WARM "F10 M11 L12 +300 F10 M11 L12 A12 O13 A13"), FLOW_LOSS_BEHIND, 1,
		      NONE);
	assert_causes(told(WARM "F10 M11 L12 +300 F10 M11 L12 A12 +300 F10 M11 L12 A12 A12"),
		      FLOW_LOSS_BEHIND, 1, FLOW_TIMEOUT, 1, NONE);
}

static void a_timer_without_an_answer_has_no_cause(void **)
{
	const struct flow_report *report = told(WARM "F10 M11 L12 +300 F10 M11 L12 +300 F10");
	assert_causes(report, FLOW_TIMER, 2, NONE);
	assert_int_equal(report->repairs[1].cause, FLOW_TIMER);
	assert_true(report->repairs[1].is_settled);
}

// The end of a message never came here: the repeat shows what is new.
static void the_end_of_a_message_can_be_lost_before(void **)
{
	assert_causes(told(WARM "F10 M11 +300 F10 M11 L12 A12"), FLOW_LOSS_BEFORE, 1, NONE);
	assert_causes(told("v6 " WARM "F10 M11 +300 F10 M11 L12 A12"), FLOW_LOSS_BEFORE, 1, NONE);
}

static void a_timer_fills_a_hole(void **)
{
	const struct flow_report *report = told(WARM "F10 L12 +300 F10 M11 L12 A12");
	assert_causes(report, FLOW_LOSS_BEFORE, 1, NONE);
	assert_int_equal(report->repairs[0].cause, FLOW_LOSS_BEFORE);
	assert_true(report->repairs[0].is_timer);
}

static void a_nak_after_a_timer_says_what_the_timer_was_for(void **)
{
	assert_causes(told(WARM "F10 M11 L12 +300 F10 M11 N10 +9 F10 M11 L12 A12"),
		      FLOW_LOSS_BEHIND, 2, NONE);
}

// ---------------------------------------------------------------- other answers

static void rnr_is_no_loss(void **)
{
	const struct flow_report *report = told(WARM "S10 S11 S12 R10 N10 +50 S10 S11 S12 A12");
	assert_causes(report, FLOW_NOT_READY, 1, NONE);
	assert_int_equal(report->repair_count, 1);
	assert_int_equal(report->repairs[0].cause, FLOW_NOT_READY);
	// The sender begins before what the receiver named: what went before was not acknowledged.
	assert_causes(told(WARM "S10 S11 S12 R11 +50 S10 S11 S12 A12"), FLOW_NOT_READY, 1, NONE);
}

static void another_nak_is_a_refusal(void **)
{
	const struct flow_report *report = told(WARM "O10 V10");
	assert_causes(report, FLOW_REFUSED, 1, NONE);
	assert_int_equal(report->totals.nak_codes[2], 1);
}

// The repeat that a NAK asked for was damaged, too.
static void a_repeat_that_was_damaged_is_not_lost(void **)
{
	for (const char **ip = (const char *[]){"", "v6 ", NULL}; *ip != NULL; ip++) {
		char text[256];
		snprintf(text, sizeof(text), "%s%s", *ip,
			 WARM "F10 M11! M12 M13 N11 +9 M11! M12 L13 +300 M11 M12 L13 A13");
		assert_causes(told(text), FLOW_CORRUPT_BEFORE, 2, NONE);
	}
}

static void a_timer_that_begins_in_a_hole_repairs_a_loss_before(void **)
{
	assert_causes(told("v6 " WARM "F10 M12 L13 +300 M11 M12 L13 A13"), FLOW_LOSS_BEFORE, 1,
		      NONE);
}

// It passed here: neither its repeat nor its ACK says otherwise. One frame stands for one PSN.
static void a_frame_that_was_not_read_is_no_loss(void **)
{
	for (const char **ip = (const char *[]){"", "v6 ", NULL}; *ip != NULL; ip++) {
		char text[256];
		snprintf(text, sizeof(text), "%s%s", *ip, WARM "F10 X M12 L13 A13");
		const struct flow_report *report = told(text);
		assert_causes(report, NONE);
		assert_int_equal(report->unread_taken, 1);
		assert_int_equal(report->streams[0].holes, 0);
		assert_int_equal(report->messages.count, 2);
		snprintf(text, sizeof(text), "%s%s", *ip,
			 WARM "F10 X M12 M13 N11 +9 M11 M12 M13 L14 A14");
		assert_causes(told(text), FLOW_LOSS_BEHIND, 1, NONE);
		snprintf(text, sizeof(text), "%s%s", *ip,
			 WARM "F10 M11 M12 M13 N11 +9 X M12 M13 L14 A14");
		assert_causes(told(text), FLOW_LOSS_BEHIND, 1, NONE);
	}
	assert_causes(told(WARM "F10 X M13 M14 N11 +9 M11 M12 M13 M14 L15 A15"), FLOW_LOSS_BEFORE,
		      1, FLOW_LOSS_BEHIND, 1, NONE);
}

// The sender never got the NAK, and a timer repeats from what had arrived.
static void a_timer_for_a_nak_that_was_lost_is_not_needless(void **)
{
	const struct flow_report *report = told(WARM "F10 M12 L13 N11 +300 F10 M11 M12 L13 A13");
	assert_causes(report, FLOW_LOSS_BEFORE, 1, NONE);
	assert_int_equal(report->repair_count, 1);
	assert_int_equal(report->repairs[0].repeat, 16);
	assert_causes(told("v6 " WARM "F10 M11! M12 L13 N11 +300 F10 M11 M12 L13 A13"),
		      FLOW_CORRUPT_BEFORE, 1, NONE);
}

// Right behind the repeat that filled a hole no late one comes by chance.
static void a_copy_of_what_filled_a_hole_is_no_late_one(void **)
{
	assert_causes(told("v6 " WARM "F10 M12 M13 N11 +9 M11 M11 M12 M13 L14 A14"),
		      FLOW_LOSS_BEFORE, 1, FLOW_DUPLICATE, 1, NONE);
	// A late one, and the repeat that a NAK asked for meanwhile.
	assert_causes(told("v6 " WARM "F10 M12 L13 M11 N11 +7 M11 M12 L13 A13"),
		      FLOW_REORDER_BEFORE, 1, NONE);
}

// 11 was lost, and damaged when it was sent again.
static void the_first_packet_of_a_repeat_can_be_damaged(void **)
{
	assert_causes(told("v6 " WARM "F10 M12 M13 N11 M14 +6 M11! M12 M13 M14 M15 N11 +7 M11 M12 "
			   "M13 M14 M15 L16 A16"),
		      FLOW_LOSS_BEFORE, 1, FLOW_CORRUPT_BEFORE, 1, NONE);
}

// Two late ones of a repeat of what had arrived, the second one farther back.
static void two_late_ones_in_a_row_are_no_timeout(void **)
{
	assert_causes(told("v6 " SLOW "F10 M11 M12 M13 M14 M15 M16 M17 M18 M19 M20 N11 A20 M11 M12 "
			   "M14 M15 M16 M18 M19 M17 M13 M20 L21 +3 A21"),
		      FLOW_REORDER_BEHIND, 1, FLOW_REORDER_BEFORE, 2, NONE);
}

// The repeat came to 14 and went on with 16, which was new: 15 of it was late.
static void what_the_end_of_a_repeat_left_out_is_late(void **)
{
	assert_causes(told("v6 " SLOW "F10 M11 M12 M13 M14 M15 N13 A15 M13 M14 M16 M17 M18 M15 M19 "
			   "L20 +3 A20"),
		      FLOW_REORDER_BEHIND, 1, FLOW_REORDER_BEFORE, 1, NONE);
}

// The one of 12 begins what the NAK before the last asked for, and 13 what the last did.
static void a_repeat_that_an_earlier_nak_asked_for_is_no_copy(void **)
{
	const struct flow_report *report = told(
		"v6 " SLOW "F10 M11 M12 M13 N10 N12 M14 N13 F10 M11 M12 M12 M13 M14 A14 M13 "
		"M14 L15 +20 A15");
	assert_int_equal(report->causes[FLOW_DUPLICATE], 0);
}

// With one stamp for all packets, a late 11 right ahead of its repeat is as that repeat and a copy.
static void equal_stamps_do_not_tell_a_late_packet_from_a_copy(void **)
{
	static const char text[] = "v6 " WARM "F10 M12 M13 N11 M14 M11 M11 M12 M13 L14 A14";
	char at_once[256] = "";
	for (const char *at = text; *at != '\0'; at++) {
		char next[] = {*at, '\0'};
		strcat(at_once, *at == ' ' && at > text + 2 ? " -1 " : next);
	}
	const struct flow_report *report = told(at_once);
	assert_int_equal(report->totals.same_stamp + 1, report->totals.frames);
	assert_causes(report, FLOW_GONE_BEFORE, 1, NONE);
	assert_int_equal(report->repairs[0].cause, FLOW_GONE_BEFORE);
	assert_causes(told(text), FLOW_LOSS_BEFORE, 1, FLOW_DUPLICATE, 1, NONE);
}

// 15 was late, between the first two packets of a repeat that a NAK asked for.
static void a_late_one_behind_the_first_of_a_repeat_leaves_it_a_repeat(void **)
{
	const struct flow_report *report = told(
		"v6 " SLOW "F10 M11 M12 N10 M13 M14 N11 M16 M17 F10 M11 M12 M13 M11 M15 M12 "
		"A13 N14 M13 M14 M15 M16 M17 L18 A18");
	assert_causes(report, FLOW_REORDER_BEHIND, 1, FLOW_REORDER_BEFORE, 1, NONE);
	assert_int_equal(report->repairs[1].repeat, 25);
	assert_int_equal(report->repairs[2].cause, FLOW_REORDER_BEFORE);
}

// 12 was damaged twice, and late when a timer brought it.
static void a_late_first_packet_of_a_timer_is_no_loss(void **)
{
	const struct flow_report *report = told(
		WARM "F10 M11 M12! M13 N12 M14 +7 M12! M13 M14 +300 M13#1020 M14#1021 "
		     "M12#1019 M15#1022 N13 M13#1023 M14#1024 M15#1025 L16#1026 A16");
	assert_causes(report, FLOW_CORRUPT_BEFORE, 2, FLOW_REORDER_BEFORE, 1, NONE);
	assert_int_equal(report->repairs[1].cause, FLOW_CORRUPT_BEFORE);
	assert_int_equal(report->repairs[2].cause, FLOW_REORDER_BEFORE);
}

// A repeat would have gone on at once: the first 12 was late, and what comes next begins it.
static void a_pause_behind_what_filled_a_hole_tells_that_it_was_late(void **)
{
	assert_causes(told("v6 " WARM "F10 M11 M13 +4 N12 M12 +6 M12 L13 A13"), FLOW_REORDER_BEFORE,
		      1, NONE);
}

// What an open NAK asked for comes next: that is the repeat, and 13 of the one before came late.
static void a_lone_one_before_a_repeat_that_was_asked_for_is_late(void **)
{
	const struct flow_report *report = told(
		"v6 " SLOW "F10 M11 M13 M14 M15 M12 M16 N12 N13 M17 M12 M13 M14 M15 M14 M15 "
		"A15 M16 M17 L18 N16 M13 M16 M17 L18 A18");
	assert_int_equal(report->causes[FLOW_REORDER_BEFORE], 2);
	assert_int_equal(report->causes[FLOW_LOSS_BEFORE], 0);
	assert_int_equal(report->causes[FLOW_TIMEOUT], 0);
}

// Each repeat that reached its neighbours had it once: so often it passed, the last one late.
static void what_passed_as_often_as_its_neighbours_is_no_copy(void **)
{
	static const char start[] =
		"v6 " WARM "F10 M11 M12 M13 M14 N10 N11 N12 F10 M11 M12 M13 M14 A14 M11 M12 ";
	static const struct {
		const char *then;
		enum flow_cause cause;
	} cases[] = {{"M14 M12 M13 M13 M14 L15 A15", FLOW_REORDER_BEFORE},
		     {"M13 M14 M12 M13 M13 M14 L15 A15", FLOW_DUPLICATE},
		     {"M14 L15 M13 O16 A16", FLOW_REORDER_BEFORE},
		     {"M12 M13 M13 M14 L15 A15", FLOW_COPY_OR_LATE}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256];
		snprintf(text, sizeof(text), "%s%s", start, cases[i].then);
		assert_causes(told(text), FLOW_REORDER_BEHIND, 1, cases[i].cause, 1, NONE);
	}
}

// The repeat lost 12 and 16, and ended with 17, which had not been sent before.
static void the_new_end_of_a_repeat_that_another_one_cuts_short_is_not_late(void **)
{
	assert_causes(told("v6 " SLOW "F10 M12 M13 N11 M14 M15 M16 M11 M13 M14 N12 M15 M17 M12 M13 "
			   "M14 M15 M16 M17 L18 +3 A18"),
		      FLOW_LOSS_BEFORE, 3, NONE);
}

// A copy, or of two repeats that NAKs asked for, of which what the second one begins with, or what
// came next, is late.
static void what_an_open_nak_may_have_asked_for_is_no_certain_copy(void **)
{
	static const char *const cases[] = {
		"F10 M11 M12 M13 M14 M15 N11 M16 N12 M17 M18 M11 M12 A11 M13 M13 M14 A13 M15 M16 "
		"M12 M17 M18 L19 A19",
		"F10 M12 M13 N11 M11 M14 M15 N12 M16 M17 M11 A11 M13 M12 M13 M14 M15 A14 M12 M16 "
		"M17 L18 A18",
		"F10 M11 M12 M13 M14 M15 M16 N11 N12 M18 M19 M11 M12 M13 A12 M14 M15 M16 M18 N17 "
		"M11 M12 M13 M14 M12 M17 M13 M14 M15 M16 M17 M18 M19 L20 A20",
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256];
		snprintf(text, sizeof(text), "v6 " SLOW "%s", cases[i]);
		const struct flow_report *report = told(text);
		assert_int_equal(report->causes[FLOW_DUPLICATE], 0);
		assert_int_equal(report->causes[FLOW_COPY_OR_LATE], 1);
	}
}

static void a_bad_icrc_that_is_repeated_is_corruption_before(void **)
{
	const struct flow_report *report = told(WARM "F10 M11! M12 N11 +9 M11 M12 L13 A13");
	assert_causes(report, FLOW_CORRUPT_BEFORE, 1, NONE);
	assert_int_equal(report->totals.icrc[WIRE_ICRC_BAD], 1);
	assert_int_equal(report->totals.first_bad_icrc, 13);
	assert_causes(told(WARM "F10 M11 L12! +300 F10 M11 L12 A12"), FLOW_CORRUPT_BEFORE, 1, NONE);
}

// What is damaged may be its PSN.
static void the_psn_of_a_damaged_packet_is_not_believed(void **)
{
	const struct flow_report *report = told(WARM "F10 M9999! M12 L13 N11 +9 M11 M12 L13 A13");
	assert_causes(report, FLOW_CORRUPT_BEFORE, 1, NONE);
	assert_int_equal(report->streams[0].holes, 0);
	// It is if a hole is there: what else is missing was overtaken, or was not read.
	assert_causes(told("v6 " WARM "F10 M12! M13 M14 N11 M15 M11 M16 M17 N12 M11 M12 M13 M14 "
			   "M15 M16 L17 A17"),
		      FLOW_REORDER_BEFORE, 1, FLOW_CORRUPT_BEFORE, 1, NONE);
	// One that was overtaken as well.
	assert_causes(told(WARM "F10 M12 M13 N11 M11! M14 M11 M12 M13 M14 L15 A15"),
		      FLOW_REORDER_BEFORE, 1, FLOW_CORRUPT_BEFORE, 1, NONE);
	assert_causes(told("v6 " WARM "F10 M12 M11! M13 N11 M14 M11 M12 M13 M14 L15 A15"),
		      FLOW_REORDER_BEFORE, 1, FLOW_CORRUPT_BEFORE, 1, NONE);
	assert_causes(told("v6 " WARM "F10 X M12! M13 N12 M14 M12 M13 M14 L15 A15"),
		      FLOW_CORRUPT_BEFORE, 1, NONE);
}

static void the_second_packet_can_be_a_copy(void **)
{
	assert_causes(told("F0#7 F0#7 M1#8 L2#9 A2"), FLOW_DUPLICATE, 1, NONE);
}

static void what_is_acknowledged_unseen_the_capture_missed(void **)
{
	assert_causes(told(WARM "F10 M12 L13 A13"), FLOW_CAPTURE, 1, NONE);
	assert_causes(told("v6 F0 M1 M2 L5 A5"), FLOW_CAPTURE, 2, NONE);
}
