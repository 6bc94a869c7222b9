// SPDX-License-Identifier: Apache-2.0
// What a NAK is about, and whether an ACK is for a copy: where a repeat, its holes and copies that
// it overtook cross them.

#include "flow_rig.h"

#define NONE -1
#define SLOW "F0 M1 M2 M3 M4 M5 M6 M7 M8 L9 +20 A9 "

// The repeat overtook a copy of 14, which the receiver got before 12.
static void a_nak_for_what_an_overtaken_copy_jumped_over_is_no_loss(void **)
{
	const struct flow_report *report = told(
		SLOW "F10#1011 M12#1012 M13#1013 M14#1014 N11 M11#1015 M14#1014 M12#1016 N12 "
		     "M13#1017 M14#1018 M12#1019 M13#1020 M14#1021 L15#1022 A15");
	assert_causes(report, FLOW_LOSS_BEFORE, 1, FLOW_DUPLICATE, 1, NONE);
	assert_int_equal(report->repairs[1].cause, FLOW_REORDER_BEFORE);
}

// The first repeat lacks 13, as 14 of it shows, and the second one has just brought it.
static void a_nak_that_crosses_what_fills_its_hole_is_a_loss_before(void **)
{
	const struct flow_report *report = told(
		SLOW "F10#1011 M12#1013 M13#1014 N11 M11#1012 M14#1015 N12 M15#1016 M11#1017 "
		     "M12#1018 M14#1020 M12#1021 M13#1022 N13 M14#1023 M15#1024 M13#1025 "
		     "M14#1026 M15#1027 L16#1028 A16");
	assert_causes(report, FLOW_REORDER_BEFORE, 1, FLOW_LOSS_BEFORE, 1, NONE);
}

// The receiver acknowledges what asks for it, and what it gets once more: 6, as 4 of a needless
// repeat came, and then 9, which had come late.
static void an_ack_in_the_midst_of_a_repeat_tells_no_habit(void **)
{
	assert_causes(told("O0 A0 O1 A1 O2 A2 O3 A3 F4 M5 M6 +300 F4 A6 M5 M6 L7 A7 "
			   "F8 M9 M10 N9 M9 M10 L11 A9 A11"),
		      FLOW_TIMEOUT, 1, FLOW_REORDER_BEHIND, 1, NONE);
}

// 4 is lost with the copy that the receiver answers to, not with the first one, long before.
static void a_nak_of_what_passed_twice_is_as_late_as_behind_its_last_copy(void **)
{
	assert_causes(told("F0 M1 M2 M3 M4 M5 M6 +5 N1 +5 M1 M2 M3 M4 M5 M6 N3 +5 M3 M4 M5 M6 N4 "
			   "+5 M4 M5 M6 L7 A7"),
		      FLOW_LOSS_BEHIND, 3, NONE);
}

// The ACK is for 5, which the second repeat overtook: it says nothing about 6 and 7.
static void an_ack_for_what_was_overtaken_tells_no_other_copy(void **)
{
	assert_causes(told("O0 A0 O1 A1 O2 A2 O3 A3 F4#1020 M5#1021 M6#1022 M7#1023 N4 F4#1024 "
			   "M6#1026 M7#1027 N5 M5#1028 M6#1029 M7#1030 N6 M6#1031 M5#1025 M7#1032 "
			   "A7 L8#1033 A8"),
		      FLOW_LOSS_BEHIND, 2, FLOW_REORDER_BEFORE, 1, NONE);
}

// The repeat of an earlier NAK brings 13 and what follows, and then its own does.
static void an_ack_beyond_the_second_of_two_repeats_tells_nothing(void **)
{
	assert_causes(told("v6 " SLOW "M11 F10 M12 M13 M14 N10 N11 F10 M11 M12 M13 M14 N13 M11 M12 "
			   "M13 M14 L15 M13 M14 A15 L15 A15"),
		      FLOW_REORDER_BEFORE, 1, FLOW_GONE_BEHIND, 1, NONE);
}

static void a_timer_for_what_a_late_packet_left_out_of_order_is_reordering(void **)
{
	assert_causes(told(SLOW "F10#1011 L12#1013 N11 M11#1012 A11 +300 L12#1014 A12"),
		      FLOW_REORDER_BEFORE, 1, NONE);
}

// 14 had passed out of order, and its repeat did not come.
static void a_timer_for_what_a_repeat_lacks_is_a_loss_before(void **)
{
	assert_causes(told(SLOW "F10 M11 M12 M13 L14 N11 M11 M12 M13 A12 +300 M13 L14 A13 A14"),
		      FLOW_LOSS_BEHIND, 1, FLOW_LOSS_BEFORE, 1, NONE);
}

// 11 was damaged, and then its repeat lost.
static void a_timer_for_the_lost_repeat_of_a_damaged_packet_is_a_loss(void **)
{
	assert_causes(told(SLOW "F10 M11! M12 N11 +5 M12 L13 +300 M11 M12 L13 A13"),
		      FLOW_CORRUPT_BEFORE, 1, FLOW_LOSS_BEFORE, 1, NONE);
}

// The second repeat goes on from 11 to 13.
static void what_a_second_repeat_left_out_was_overtaken(void **)
{
	assert_causes(told("v6 " SLOW "M11 F10 M12 M13 M14 L15 N10 N11 F10 M11 M12 A12 M11 M13 M14 "
			   "L15 M16 M17 M12 M18 L19 A19"),
		      FLOW_REORDER_BEFORE, 2, NONE);
}

// An answer comes after 3 us, as the ACK of 14 shows later: 11 was lost, too.
static void a_nak_that_an_answer_shows_not_to_be_too_soon_is_a_loss(void **)
{
	const struct flow_report *report = told(
		"F9 M10 M11 M12 +20 N10 +5 M10 M11 M12 +1 N11 +5 M11 M12 M13 L14 +2 A14");
	assert_causes(report, FLOW_LOSS_BEHIND, 2, NONE);
	assert_int_equal(report->repairs[0].cause, FLOW_LOSS_BEHIND);
	assert_int_equal(report->repairs[1].cause, FLOW_LOSS_BEHIND);
}
