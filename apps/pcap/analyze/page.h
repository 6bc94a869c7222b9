// SPDX-License-Identifier: Apache-2.0
// An analysis as one page that needs nothing beside itself.
#pragma once

#include "pcap.h"

// Writes call->page; -errno with a reason.
int page_write(struct call *call);
