// SPDX-License-Identifier: Apache-2.0
// A claim and its line of the table.

#include <stdio.h>

#include "validate.h"

bool claim_holds(const struct claim *claim)
{
	// half a unit in the last place of a double does not decide
	double off = claim->measured - claim->expected, most = claim->tolerance * (1 + 1e-9);
	return (claim->bound == CLAIM_AT_MOST || off >= -most) &&
		(claim->bound == CLAIM_AT_LEAST || off <= most);
}

void claims_add(struct claims *claims, const struct claim *claim)
{
	bool holds = claim_holds(claim);
	claims->inside += holds;
	claims->outside += !holds;
	bar_clear();
	static const char *const signs[] = {"", ">=", "<="};
	printf("%-38s %2s%12.4f %12.4f %10.4f %-8s %-7s %s; %s\n", claim->name, signs[claim->bound],
	       claim->expected, claim->measured, claim->tolerance, claim->unit,
	       holds ? "inside" : "OUTSIDE", claim->source, claim->why);
	fflush(stdout);
}

void claims_leave_out(struct claims *claims, const char *name, const char *reason)
{
	claims->left_out++;
	bar_clear();
	printf("%-38s not compared: %s\n", name, reason);
}
