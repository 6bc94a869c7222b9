// SPDX-License-Identifier: Apache-2.0
// How the bytes of a flow are shared among the QPs of its connection.

#include <weft/workload/workload.h>

uint64_t flow_share_bytes(uint64_t bytes, uint32_t qps)
{
	if (qps == 1)
		return bytes;
	uint64_t even = (bytes + qps - 1) / qps;
	return (even + FLOW_SHARE_UNIT - 1) / FLOW_SHARE_UNIT * FLOW_SHARE_UNIT;
}

uint64_t flow_last_share_bytes(uint64_t bytes, uint32_t qps)
{
	uint64_t before = (qps - 1) * flow_share_bytes(bytes, qps);
	return bytes > before ? bytes - before : 0;
}
