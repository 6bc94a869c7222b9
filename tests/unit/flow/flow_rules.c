// SPDX-License-Identifier: Apache-2.0
// Each rule of the protocols is found broken where it is, and by nothing that a network does; and
// where the class of a stream's packets changes.

#include "flow_rig.h"

// The report breaks this rule alone, so many times, first in packet `first`.
static void assert_broken(const char *text, enum flow_rule rule, uint64_t count, uint64_t first)
{
	const struct flow_report *report = told(text);
	for (int i = 0; i < FLOW_RULE_COUNT; i++) {
		uint64_t wanted = i == (int)rule ? count : 0;
		if (report->broken[i].count != wanted)
			fail_msg("%s: %s %llu times, not %llu", text,
				 flow_rule_name((enum flow_rule)i),
				 (unsigned long long)report->broken[i].count,
				 (unsigned long long)wanted);
	}
	if (count > 0)
		assert_int_equal(report->broken[rule].first, first);
}

static void assert_kept(const char *text)
{
	assert_broken(text, FLOW_RULE_ACK_UNSENT, 0, 0);
}

#define EIGHT "A1 A3 A5 A7 A9 A11 A13 A15 A17 A19 " // identifications of ACKs count up

static void what_a_network_does_breaks_nothing(void **)
{
	assert_kept("F0 M1 L2 A2 B3 M4?1 E5 A5 Q6,4 q6 y7 y8 z9 U1@9");
	assert_kept("F0 M2 L3 N1 N1= M1 L2 A2");       // a loss, its NAK doubled
	assert_kept("F0,2 L1 A1^1 F2,2 L3 A3^2 A1^1"); // the earlier ACK was overtaken
	assert_kept("F0 F0= M1 L2 L2= A2^1 A2^1=");
	assert_kept("v6 F0 L2 M1 A2 O3 N4 N4 A3"); // order alone
	assert_kept("F0 M1 L2! +9 N2 L2 A2");
	assert_kept("w0^1 m1^1t l2^1 k1 K0,10 m1^1r K2 o3^2 K3 D3^2");
	assert_kept("w0^1 l2^1 m1^1 o4^3 o3^2 K4 D4^3");
	assert_kept("O0 A0 R1 O1 R1 O1 N2 O1 A1 O2 A2");
	assert_kept("O5 A2 A3 O6 A6"); // answers to what was before the capture
}

static void answers_to_what_was_never_sent(void **)
{
	assert_broken("F0 M1 L2 A2 A3", FLOW_RULE_ACK_UNSENT, 1, 5);
	assert_broken("F0 M1 L2 A2 O3 A9 O4 A4", FLOW_RULE_ACK_UNSENT, 1, 6);
	assert_broken("F0 M1 L2 A2 N7", FLOW_RULE_ACK_UNSENT, 1, 5);
	assert_kept("F0 M1 L2 A2 N3");
	assert_broken("w0 m1 l2 K2 K8", FLOW_RULE_ACK_UNSENT, 1, 5);
	assert_broken("w0 m1 l2 K0,1001", FLOW_RULE_SACK_UNSENT, 1, 4);
	// The EV says that it is the other QP's, of which the first packet was lost.
	assert_kept("m1~1 m2~2 m3~3 w0~4@18 m1~5@18 K16777215~3@40,111<-4 w0r~1 K3~1@40");
	assert_broken("Q0,4 q0 y1 y2 z3 O4 A4 p4", FLOW_RULE_RESPONSE_UNASKED, 1, 8);
	assert_broken("O0 A0 p1", FLOW_RULE_RESPONSE_UNASKED, 1, 3);
}

static void answers_that_go_back(void **)
{
	assert_broken("O0 A0^1 O1 A1^2 O2 A2^1", FLOW_RULE_MSN_BACK, 1, 6);
	assert_broken("O0 O1 O2 A2^1 A1^2", FLOW_RULE_ACK_BACK, 1, 5);
	// Without MSNs identifications tell that the second one left later.
	const char *twenty =
		"O0 O1 O2 O3 O4 O5 O6 O7 O8 O9 O10 O11 O12 O13 O14 O15 O16 O17 O18 O19 ";
	char text[512];
	snprintf(text, sizeof(text), "%s" EIGHT "A5", twenty);
	assert_broken(text, FLOW_RULE_ACK_BACK, 1, 31);
	snprintf(text, sizeof(text), "%s" EIGHT "A5#9003", twenty); // it was overtaken
	assert_kept(text);
	snprintf(text, sizeof(text), "%s" EIGHT "+900 O5 A5", twenty); // of a repeat
	assert_kept(text);
}

static void naks_twice_and_naks_that_nobody_heeds(void **)
{
	assert_broken("O0 A0 O2 N1 O3 N1 O1 O2 O3 A3", FLOW_RULE_NAK_TWICE, 1, 6);
	static char text[32768];
	int used = sprintf(text, "O0 A0 O2 N1 ");
	for (int psn = 3; psn < 1400; psn++)
		used += sprintf(text + used, "O%d ", psn);
	assert_broken(text, FLOW_RULE_NAK_IGNORED, 1, 4 + 1026 - 3 + 1);
}

static void psns_and_opcodes_out_of_order(void **)
{
	assert_broken("F0 M1 M900000", FLOW_RULE_PSN_JUMP, 1, 3);
	assert_kept("F0,2 L1 A1 F900000,2 L900001");
	assert_broken("F0 M1 F2 M3 L4$1024,3", FLOW_RULE_NO_LAST, 1, 3);
	assert_broken("F0 M1 O2", FLOW_RULE_NO_LAST, 1, 3);
	assert_broken("O0 M1 L2", FLOW_RULE_NO_FIRST, 1, 2);
	assert_broken("F0 M1?1 L2", FLOW_RULE_OPCODE_ORDER, 2, 2);
	assert_broken("B0 M1 E2", FLOW_RULE_OPCODE_ORDER, 2, 2);
	assert_broken("w0 o1^1", FLOW_RULE_NO_LAST, 1, 2);
	assert_broken("o1^1 m0", FLOW_RULE_NO_LAST, 1, 2); // whichever comes first
}

static void lengths_that_do_not_fit(void **)
{
	assert_broken("F0 M1 L2$1000", FLOW_RULE_LENGTH, 1, 3);
	assert_broken("F0 M1 M2 L3", FLOW_RULE_LENGTH, 1, 4);
	assert_broken("O0,2", FLOW_RULE_LENGTH, 1, 1);
	assert_broken("w0 m1 l2,7", FLOW_RULE_LENGTH, 1, 3);
	assert_broken("o0,2", FLOW_RULE_LENGTH, 1, 1);
	assert_broken("F0,4000000", FLOW_RULE_LENGTH_MAX, 1, 1);
	assert_kept("F0 M2 L3 N1 M1 M2 L3 A3"); // repeats do not count twice
	assert_broken("B0 M1?1$512 E2", FLOW_RULE_PACKET_SIZE, 1, 2);
	assert_broken("B0 E1$0", FLOW_RULE_PACKET_SIZE, 1, 2);
	assert_broken("B0 E1$2048", FLOW_RULE_PACKET_SIZE, 1, 2);
	assert_broken("O0 A0$8", FLOW_RULE_PACKET_SIZE, 1, 2);
	assert_broken("S0$6", FLOW_RULE_PADDING, 1, 1);
	assert_kept("S0$6&2");
	assert_broken("B0$1021&3 E1$6&2", FLOW_RULE_PADDING, 1, 1);
}

static void transports_versions_and_reserved_values(void **)
{
	assert_broken("O0 S1?100 O2", FLOW_RULE_TRANSPORT, 2, 2); // UD, and RC again
	assert_kept("O0 S1?100! O1 O2");			  // its opcode was damaged
	assert_kept("S0?100! O0 O1");
	assert_broken("O0@1", FLOW_RULE_TRANSPORT, 1, 1);
	assert_kept("C0 O0 C1 O1");
	assert_broken("O0 A0/101", FLOW_RULE_SYNDROME, 1, 2);
	assert_broken("O0 A0/70", FLOW_RULE_SYNDROME, 1, 2);
	assert_broken("o0 k0/3", FLOW_RULE_NACK_REASON, 1, 2);
	assert_broken("w0^4 m1^4 l2^5", FLOW_RULE_MSN_STEP, 1, 3);
	assert_broken("o0^4 o1^4", FLOW_RULE_MSN_STEP, 1, 2);
	assert_broken("o1^4 o0^4", FLOW_RULE_MSN_STEP, 1, 2);
}

// An EV in a SACK that no packet had; if none of them was ever seen, EVs are read otherwise there.
static void evs_that_nobody_sent(void **)
{
	assert_broken("o0~7 K0~7 o1~8^1 K1~8 o2~7^2 K2~9 o3~7^3 K3~7", FLOW_RULE_EV_UNSENT, 1, 6);
	assert_kept("o0~7 K0~9 o1~8^1 K1~10");
}

// Where the tap sees some of the planes alone, nobody knows what passed the others.
static void planes_that_are_not_tapped_break_nothing(void **)
{
	assert_kept("w0 m4 K3 m8 K7 m12 K11 m16 K15 K19 l20 K0,11111");
}

// ---------------------------------------------------------------- classes

static void a_class_that_changes_is_told(void **)
{
	const struct flow_report *report = told("F0:26 M1:26 A1:46 M2:0 L3:0 A3:46");
	assert_int_equal(report->class_changes, 1);
	assert_int_equal(report->change_count, 1);
	assert_int_equal(report->streams[0].class_changes, 1);
	const struct flow_change *change = &report->changes[0];
	assert_int_equal(change->number, 4);
	assert_int_equal(change->before, 2);
	assert_int_equal(change->from, 26);
	assert_int_equal(change->to, 0);
	assert_int_equal(change->kind, FLOW_KIND_DATA);
	assert_int_equal(change->at_ns, 1000003000);
	assert_int_equal(report->note_count, 1);
	report = told("F0:26 A0:46 M1:26 L2:26 A2:26 A2:26 A2:46");
	assert_int_equal(report->class_changes, 2);
	assert_int_equal(report->changes[0].kind, FLOW_KIND_ACK);
	assert_int_equal(report->changes[0].number, 5);
	assert_int_equal(report->changes[1].before, 6);
}

static void kinds_of_packets_have_classes_of_their_own(void **)
{
	// Trimmed ones, repeats of MRC, CNPs, damaged ones.
	assert_int_equal(told("w0:4 m1:12t l2:4 k1:46 K0:46,10 m1:8r K2:46")->class_changes, 0);
	assert_int_equal(told("F0:26 C0:48 A0:26 M1:26 M2:9! L3:26 C0:48")->class_changes, 0);
	assert_int_equal(told("F0:26 O0:0@9 M1:26")->class_changes, 0);
	assert_int_equal(told("w0:4 m1:8r l2:9r")->class_changes, 1);
}

static void changes_beyond_the_list_are_counted(void **)
{
	static struct rig rig;
	struct flow_config config = {.streams_max = 16, .psns_max = 1u << 14, .changes_max = 2};
	wire_config_default(6, &config.wire);
	rig = rig_of(&config);
	rig_take(&rig, "F0:1 M1:2 M2:1 M3:2 M4:1");
	const struct flow_report *report = rig_end(&rig);
	assert_int_equal(report->class_changes, 4);
	assert_int_equal(report->change_count, 2);
	rig_free(&rig);
}
