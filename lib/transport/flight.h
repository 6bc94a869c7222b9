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

#define FLIGHT_UNKNOWN (-1) // packets: the SACK does not tell
#define FLIGHT_ROUNDED 255u // a count is rounded up to 256 bytes
#define FLIGHT_BEHIND_MAX 0x20000000u

// Nothing agrees the two ends on what a packet counts, so their counts may drift apart. Where they
// cannot be of the same packets, the receiver's is counted from here on: one that tells more than
// `packets` full ones beyond those known by PSN ...
static __attribute__((noinline)) uint32_t flight_drop_surplus(struct qp *qp, uint32_t surplus,
							      uint32_t told)
{
	qp->count_base += surplus;
	return told - surplus;
}

// ... and one that is further behind what is known by PSN than a whole window, which would pass for
// one ahead when numbers come round.
static __attribute__((noinline)) uint32_t flight_drop_lag(struct qp *qp, uint32_t told)
{
	uint64_t window = (uint64_t)qp->mpr_agreed * qp->full_bytes;
	uint32_t most = window < FLIGHT_BEHIND_MAX ? (uint32_t)window : FLIGHT_BEHIND_MAX;
	uint32_t lag = qp->settled_bytes - told;
	if (lag <= most)
		return told;
	qp->count_base -= lag;
	return told + lag;
}

// The receiver counts so many units of 256 bytes; never more than there is out, by PSNs or held
// lost. They go round as the running numbers of bytes here do. And it has so many packets that are
// not known by PSN.
static inline void flight_hear(struct qp *qp, uint32_t units_256, int32_t packets)
{
	uint32_t most = qp->settled_bytes + qp->inflight + qp->lost_count * qp->full_bytes;
	uint32_t told = (units_256 << 8) - qp->count_base;
	if (packets != FLIGHT_UNKNOWN) {
		uint32_t full = (uint32_t)packets * qp->full_bytes + FLIGHT_ROUNDED;
		uint32_t surplus = told - qp->settled_bytes - full;
		if (__builtin_expect((int32_t)surplus > 0 && (int32_t)(told - qp->heard_bytes) > 0,
				     0))
			told = flight_drop_surplus(qp, surplus, told);
		else if (__builtin_expect((int32_t)(told - qp->settled_bytes) < 0, 0))
			told = flight_drop_lag(qp, told);
	}
	if ((int32_t)(told - most) > 0)
		told = most;
#ifdef PLANT_DEAF_COUNT // a planted bug: only PSNs told one by one leave what is in flight
	told = qp->settled_bytes;
#endif
	if ((int32_t)(told - qp->heard_bytes) > 0)
		qp->heard_bytes = told;
}
