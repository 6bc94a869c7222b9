// SPDX-License-Identifier: Apache-2.0
// What is in flight by the bytes that the receiver counts (MRC, and UEC's Rcvd_Bytes). A SACK tells
// single PSNs of 64 at most, but all bytes that came; so the sender hears of bytes before it knows
// whose they are. By PSNs (qp->inflight) these are still out; here they are not.
#pragma once

#include "qp.h"

// Bytes in flight: by PSNs, less what is heard of and not known by PSN.
static inline uint32_t flight_bytes(const struct qp *qp)
{
	uint32_t ahead = qp->heard_bytes - qp->settled_bytes;
	return qp->inflight > ahead ? qp->inflight - ahead : 0;
}

// PSNs of so many bytes are now known to be there.
static inline void flight_settle(struct qp *qp, uint32_t bytes)
{
	qp->settled_bytes += bytes;
	if ((int32_t)(qp->heard_bytes - qp->settled_bytes) < 0)
		qp->heard_bytes = qp->settled_bytes;
}

// The receiver counts so many units of 256 bytes; never more than there is out, by PSNs or held
// lost. They go round as the running numbers of bytes here do.
static inline void flight_hear(struct qp *qp, uint32_t units_256)
{
	uint32_t most = qp->settled_bytes + qp->inflight + qp->lost_count * qp->full_bytes;
	uint32_t told = units_256 << 8;
	if ((int32_t)(told - most) > 0)
		told = most;
#ifdef PLANT_DEAF_COUNT // a planted bug: only PSNs told one by one leave what is in flight
	told = qp->settled_bytes;
#endif
	if ((int32_t)(told - qp->heard_bytes) > 0)
		qp->heard_bytes = told;
}
