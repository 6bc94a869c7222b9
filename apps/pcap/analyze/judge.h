// SPDX-License-Identifier: Apache-2.0
// An analysis held against an acceptance profile.
#pragma once

#include "pcap.h"

// Reads the profile call->profile. -errno with a reason.
int judge_read(struct call *call);

// Prints what became of each check, or JSON. Returns the exit status; -errno with a reason.
int judge_print(FILE *to, struct call *call);
