// SPDX-License-Identifier: Apache-2.0
// The flows of a capture on one time line, for Perfetto.
#pragma once

#include "pcap.h"

// Writes call->trace; -errno with a reason.
int timeline_write(struct call *call);
