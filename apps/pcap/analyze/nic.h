// SPDX-License-Identifier: Apache-2.0
// Counters of a NIC, read before and after a capture, held against what passed the capture point.
#pragma once

#include <jansson.h>

#include "pcap.h"

// Reads call->before and call->after, which `rdma statistic -j` or `ethtool --json -S` printed, and
// keeps those counters whose meaning is known. -errno with a reason.
int nic_read(struct call *call);

// Each counter beside what passed: lines, or a list.
void nic_print(FILE *to, const struct call *call);
json_t *nic_json(const struct call *call);
