// SPDX-License-Identifier: Apache-2.0
// Both definitions of weak-scaling efficiency against numbers worked out by hand: 1.2734 s on 112
// racks, 1.2712 s on 128, published for one job (docs/claims.md).

#include <math.h>

#include <cmocka.h>

#include <weft/study/report_scaling.h>

static void expect(double found, double wanted, double off_max)
{
	if (!(fabs(found - wanted) <= off_max))
		fail_msg("%.8f is not %.8f", found, wanted);
}

static void a_faster_job_is_above_one(void **)
{
	expect(scaling_efficiency(1.2734, 1.2712), 1.0017306, 1e-7); // 1 + 0.0022 / 1.2712
	expect(scaling_efficiency(2, 4), 0.5, 0);
	expect(scaling_efficiency(2, 1), 2, 0);
	expect(scaling_efficiency(3, 3), 1, 0);
}

static void consistency_is_never_above_one(void **)
{
	expect(scaling_consistency(1.2734, 1.2712), 0.9982723, 1e-7); // 1 - 0.0022 / 1.2734
	expect(scaling_consistency(2, 2.5), 0.75, 0);
	expect(scaling_consistency(2, 1.5), 0.75, 0);
	expect(scaling_consistency(3, 3), 1, 0);
}
