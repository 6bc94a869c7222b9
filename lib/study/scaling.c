// SPDX-License-Identifier: Apache-2.0

#include <weft/study/report_scaling.h>

#include <math.h>

double scaling_efficiency(double reference_s, double time_s)
{
	return reference_s / time_s;
}

double scaling_consistency(double reference_s, double time_s)
{
	return 1 - fabs(time_s - reference_s) / reference_s;
}
