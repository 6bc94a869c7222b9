// SPDX-License-Identifier: Apache-2.0
// What is in flight by the bytes that the receiver counts (MRC, and UEC's Rcvd_Bytes). A SACK tells
// single PSNs of 64 at most, but all bytes that came; so the sender hears of bytes before it knows
// whose they are. By PSNs (qp->inflight) these are still out; here they are not.
#pragma once

#include "endpoint/qp.h"

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

// Each side counts a packet in its own way: the receiver so many bytes more, `count_more`, than
// this end does. So much more it has for all PSNs before `psn`.
static inline uint32_t flight_more(const struct qp *qp, uint32_t psn)
{
	return (uint32_t)qp->count_more * (psn - qp->count_psn);
}

#define FLIGHT_UNKNOWN (-1) // packets: the SACK does not tell
#define FLIGHT_ROUNDED 255u // a count is rounded up to 256 bytes
#define FLIGHT_BEHIND_MAX 0x20000000u

#define FLIGHT_MORE_MAX UINT16_MAX

// All that the receiver has is known by PSN, so the two counts are of the same packets and may
// differ by the rounding alone. Where they do not, nobody announced what it counts for a packet:
// the difference, over all packets so far, says it; the better, the more there were. What is left
// of it is no packet's, and the receiver's count goes on from here without.
static __attribute__((noinline)) uint32_t flight_learn(struct qp *qp, uint32_t psn, int32_t apart)
{
	int64_t packets = psn - qp->count_psn;
	int64_t far = apart < 0 ? apart : apart - (int64_t)FLIGHT_ROUNDED;
	int64_t half = far < 0 ? -packets / 2 : packets / 2;
	int64_t each = packets == 0 ? 0 : (far + half) / packets;
	int64_t more = qp->count_more + each;
	if (more > FLIGHT_MORE_MAX || more < -FLIGHT_MORE_MAX)
		each = 0;
	qp->count_more += (int32_t)each;
	int64_t left = apart - each * packets;
	int64_t most = apart < 0 ? 0 : FLIGHT_ROUNDED; // what lags behind is no lead now
	int64_t rest = left < 0 ? left : left > most ? left - most : 0;
	qp->count_base += (uint32_t)rest;
	return qp->settled_bytes + (uint32_t)(left - rest);
}

// Whether the counts of a SACK that tells of no packet that is not known by PSN are too far apart.
// One that was overtaken may have been of others.
static inline bool flight_is_apart(const struct qp *qp, uint32_t notified)
{
	uint32_t ahead = notified - qp->settled_bytes;
	return ahead > FLIGHT_ROUNDED &&
		((int32_t)ahead < 0 ? qp->heard_bytes == qp->settled_bytes
				    : (int32_t)(notified - qp->heard_bytes) > 0);
}

// A count that is further behind what is known by PSN than a whole window would pass for one ahead
// when numbers come round: it goes on from here.
static __attribute__((noinline)) uint32_t flight_drop_lag(struct qp *qp, uint32_t notified)
{
	uint64_t window = (uint64_t)qp->mpr_agreed * qp->full_bytes;
	uint32_t most = window < FLIGHT_BEHIND_MAX ? (uint32_t)window : FLIGHT_BEHIND_MAX;
	uint32_t lag = qp->settled_bytes - notified;
	if (lag <= most)
		return notified;
	qp->count_base -= lag;
	return notified + lag;
}

// The receiver counts so many units of 256 bytes; never more than there is out, by PSNs or held
// lost. They go round as the running numbers of bytes here do. It has as many packets as PSNs
// before `psn`, and of these so many that are not known by PSN.
static inline void flight_hear(struct qp *qp, uint32_t units_256, uint32_t psn, int32_t packets)
{
	uint32_t most = qp->settled_bytes + qp->inflight + qp->lost_count * qp->full_bytes;
	uint32_t notified = (units_256 << 8) - qp->count_base;
	notified -= flight_more(qp, psn);
	if (packets == 0 && __builtin_expect(flight_is_apart(qp, notified), 0)) {
		notified = flight_learn(qp, psn, (int32_t)(notified - qp->settled_bytes));
	} else if (packets != FLIGHT_UNKNOWN) {
		uint32_t full = (uint32_t)packets * qp->full_bytes + FLIGHT_ROUNDED;
		uint32_t surplus = notified - qp->settled_bytes - full;
		if (__builtin_expect(
			    (int32_t)surplus > 0 && (int32_t)(notified - qp->heard_bytes) > 0, 0))
			notified -= surplus; // more than so many full packets are
		else if (__builtin_expect((int32_t)(notified - qp->settled_bytes) < 0, 0))
			notified = flight_drop_lag(qp, notified);
	}
	if ((int32_t)(notified - most) > 0)
		notified = most;
	if ((int32_t)(notified - qp->heard_bytes) > 0)
		qp->heard_bytes = notified;
}
