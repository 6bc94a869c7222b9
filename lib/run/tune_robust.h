// SPDX-License-Identifier: Apache-2.0
// What a setting should stand, beside the scenario as it is: members of a suite that are made of
// one, "incast+plane_down". Each is held against its own default.
#pragma once

#include <weft/core/refusal.h>
#include <weft/tune/space.h>

struct tune_robust {
	const char *name; // behind the +
	double base_rtt; // the transport takes the base round trip for so many times what it is; 0:
			 // as it is
	const char *fault; // as --fault has it, behind `from`, which is so many base round trips
	uint32_t from_rtts;
	double beside_bdps; // of a message that each NIC sends beside the traffic; 0: none
};

#define TUNE_ROBUST_BYTES 160

// The row of that name. NULL with the reason, which names all of them.
const struct tune_robust *tune_robust_named(const char *name, struct refusal *refusal);

// "cc.base_rtt=9100ns", "traffic.beside=1600000B", or a fault's words; empty where the row has
// none.
void tune_robust_set(const struct tune_robust *row, const struct tune_fabric *fabric,
		     char ret[TUNE_ROBUST_BYTES]);
void tune_robust_fault(const struct tune_robust *row, const struct tune_fabric *fabric,
		       char ret[TUNE_ROBUST_BYTES]);
