// SPDX-License-Identifier: Apache-2.0
// Weak scaling: the same work for each GPU on more and more of them.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Weak-scaling efficiency: T_reference / T. As long as each GPU has the same work this is also
// throughput per GPU against the reference's. Above 1 the other job was faster.
double scaling_efficiency(double reference_s, double time_s);

// Step-time consistency: 1 - |T - T_reference| / T_reference. What press material calls efficiency;
// never above 1, and below 1 for a faster job, too.
double scaling_consistency(double reference_s, double time_s);

#ifdef __cplusplus
}
#endif
