// SPDX-License-Identifier: Apache-2.0
// The captures of a call once more, with comments on the packets that its report names.
#pragma once

#include "pcap.h"

// Whether it can be: what is read twice is no pipe. -EINVAL with the reason.
int annotate_check(struct call *call);

// Writes call->annotate; -errno with a reason.
int annotate_write(struct call *call);
