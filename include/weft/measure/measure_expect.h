// SPDX-License-Identifier: Apache-2.0
// What a scenario expects of a run, or of two of its variants. What formulas come to is in
// lib/result/expectations/expect_formulas.c.
#pragma once

#include <stdint.h>

#include <weft/core/time.h>

// What a run measures that can be expected.
enum expect_measure {
	EXPECT_GOODPUT,	      // of each receiving NIC
	EXPECT_RETRANSMITTED, // share of data packets
	EXPECT_LOST,	      // share of data packets that cables lost
	EXPECT_FURTHER,	      // shortest message across T1 less the shortest below one T0
	EXPECT_BYPASS,	      // from the first packet lost on a path to the last one sent there
	EXPECT_LEAVING,	      // the same of a link, over all paths that a QP has there
	EXPECT_RECOVERY,      // from the first packet lost on a link to 99 % of the goodput
	EXPECT_RATIO,	      // goodput of a variant over that of another
	EXPECT_GOODPUT_KEPT,  // goodput of a part of the run over that before the first fault
	EXPECT_MEASURE_COUNT
};

// How a measure must stand to its formula.
enum expect_bound { EXPECT_NEAR, EXPECT_AT_MOST, EXPECT_AT_LEAST, EXPECT_BOUND_COUNT };

enum expect_formula { // lib/result/expectations/expect_formulas.c
	EXPECT_ONE_WAY,
	EXPECT_RING_WRITES,
	EXPECT_PLANES_LEFT,
	EXPECT_PLANES_FLAPPING,
	EXPECT_LOSS_REPAIRED,
	EXPECT_LOSS_ON_WAY,
	EXPECT_BUSIEST_PLANE,
	EXPECT_EQUAL,
	EXPECT_TWO_SWITCHES,
	EXPECT_GREY_LEARNING,
	EXPECT_GREY_LEARNT,
	EXPECT_LIMIT, // a time that is given
	EXPECT_HOLES,
	EXPECT_HOLES_OF_ALL,
	EXPECT_CAPACITY_LEFT,
	EXPECT_FORMULA_COUNT
};

#define EXPECT_NAME_BYTES 32
#define SCENARIO_VARIANTS_MAX 16

// The same scenario with some keys set otherwise, to be compared with others.
struct scenario_variant {
	char name[EXPECT_NAME_BYTES];
	char set[200];	       // assignments, with spaces between them
	uint32_t line, column; // in the file, of the first of them
};

// A measure that must stand so to what a formula says; figures that it does not use are 0.
struct scenario_expect {
	uint32_t measure, formula, bound;
	char name[EXPECT_NAME_BYTES]; // what people call it; "" = the measure's name
	ps_t from_ps, until_ps;	      // of goodput or loss: only this part of the run; 0, 0 = all
	uint32_t planes;	      // that are down, or flap
	uint32_t links;		      // above one T0 that are grey
	uint32_t time_ppb, loss_ppb;  // share of time down; loss of each cable
	uint32_t lost_ppb;	      // share of the capacity that faults take
	uint32_t quantile_ppb;	      // of a distribution; all of it: its maximum
	ps_t limit_ps;
	ps_t since_ps;		// goodput_kept: of what is measured from here to the first fault
	uint32_t tolerance_ppb; // of the expected value
	char run[EXPECT_NAME_BYTES]; // the variant that it is about; "" = any
	char to[EXPECT_NAME_BYTES];  // ratio: the variant that `run` is compared with
};
