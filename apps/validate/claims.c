// SPDX-License-Identifier: Apache-2.0
// A claim and its line of the table.

#include <stdio.h>

#include "validate.h"

static bool claim_holds(const struct claim *claim)
{
	// half a unit in the last place of a double does not decide
	double off = claim->measured - claim->expected, most = claim->tolerance * (1 + 1e-9);
	return (claim->bound == CLAIM_AT_MOST || off >= -most) &&
		(claim->bound == CLAIM_AT_LEAST || off <= most);
}

// Before a line: takes the bar away, and prints the head above the first one.
static void begin_line(const struct claims *claims)
{
	bar_clear();
	if (claims->inside + claims->outside + claims->left_out == 0)
		printf("%-38s %14s %12s %10s %-8s %-7s %s\n", "case", "expected", "measured",
		       "tolerance", "unit", "inside?", "source; tolerance from");
}

void claims_add(struct claims *claims, const struct claim *claim)
{
	bool holds = claim_holds(claim);
	begin_line(claims);
	claims->inside += holds;
	claims->outside += !holds;
	static const char *const signs[] = {"", ">=", "<="};
	printf("%-38s %2s%12.4f %12.4f %10.4f %-8s %-7s %s; %s\n", claim->name, signs[claim->bound],
	       claim->expected, claim->measured, claim->tolerance, claim->unit,
	       holds ? "inside" : "OUTSIDE", claim->source, claim->why);
	fflush(stdout);
}

void claims_leave_out(struct claims *claims, const char *name, const char *reason)
{
	begin_line(claims);
	claims->left_out++;
	printf("%-38s not compared: %s\n", name, reason);
}
