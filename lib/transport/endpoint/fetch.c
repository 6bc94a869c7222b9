// SPDX-License-Identifier: Apache-2.0
// What a packet in or out reads, brought into the cache ahead of it. Most packets of a call are of
// the QPs that those of the last call were of: one that receives data, one that receives answers.
// None of this changes what is done, nor is it needed.
#include "endpoint.h"

#define CACHE_LINE 64
#define SLOT_LINES 16 // of slots, at most
#define BALANCE_LINES 6

// What every packet reads of the endpoint itself.
static inline __attribute__((always_inline)) void fetch_self(const struct endpoint *endpoint)
{
	__builtin_prefetch(endpoint, 1);
	__builtin_prefetch(&endpoint->is_pooled);
	__builtin_prefetch(&endpoint->control[0], 1);
	__builtin_prefetch(&endpoint->counters.data_packets, 1);
	__builtin_prefetch(&endpoint->counters.plane_bytes[0], 1);
	__builtin_prefetch(&endpoint->counters.sacks_sent, 1);
	__builtin_prefetch(&endpoint->counters.data_received, 1);
	__builtin_prefetch(&endpoint->counters.paths_reinstated, 1);
	__builtin_prefetch(&endpoint->timers);
	__builtin_prefetch(&endpoint->credit_bps);
	__builtin_prefetch(&endpoint->completions_head);
	__builtin_prefetch(&endpoint->dma_writes_head);
	__builtin_prefetch(&endpoint->window_min);
	__builtin_prefetch(&endpoint->shape.ports_down);
}

// A context up to its congestion control, what each packet reads of its paths, and the ends of
// requests.
static inline __attribute__((always_inline)) void fetch_context(const struct qp *qp)
{
	const char *hot = (const char *)qp;
	for (uint32_t at = 0; at < offsetof(struct qp, cc) + 2 * CACHE_LINE; at += CACHE_LINE)
		__builtin_prefetch(hot + at, 1);
	__builtin_prefetch(&qp->path, 1);
	__builtin_prefetch(&qp->path.planes, 1);
	__builtin_prefetch(&qp->number);
}

// What is in flight and leaves next, and what the next path is chosen by.
static inline __attribute__((always_inline)) void fetch_sender(const struct endpoint *endpoint,
							       const struct qp *qp)
{
	const uint32_t mask = endpoint->mpr_mask, line = CACHE_LINE / sizeof(struct slot);
	uint32_t flying = qp->psn_next - qp->una;
	for (uint32_t at = 0; at <= flying && at < SLOT_LINES * line; at += line)
		__builtin_prefetch(&qp->slots[(qp->una + at) & mask], 1);
	__builtin_prefetch(&qp->slots[qp->psn_next & mask], 1);
	__builtin_prefetch(&qp->acked[(qp->una & mask) / 64], 1);
	__builtin_prefetch(&qp->sends[qp->send_una & endpoint->sends_mask]);
	__builtin_prefetch(&qp->sends[qp->send_at & endpoint->sends_mask]);
	const char *balance = (const char *)qp->path.balance;
	for (uint32_t at = 0; balance != NULL && at < BALANCE_LINES * CACHE_LINE; at += CACHE_LINE)
		__builtin_prefetch(balance + at, 1);
}

void endpoint_fetch(const struct endpoint *endpoint, enum endpoint_fetch step)
{
	const struct qp *receives = endpoint->recent[0], *sends = endpoint->recent[1];
	if (step == ENDPOINT_FETCH_SELF) {
		fetch_self(endpoint);
	} else if (step == ENDPOINT_FETCH_CONTEXTS) {
		__builtin_prefetch(endpoint->timers.items, 1);
		__builtin_prefetch(endpoint->regions.places);
		if (receives != NULL)
			fetch_context(receives);
		if (sends != NULL && sends != receives)
			fetch_context(sends);
	} else {
		if (receives != NULL)
			__builtin_prefetch(
				&receives->received[(receives->rcv_next & endpoint->mpr_mask) / 64],
				1);
		if (sends != NULL)
			fetch_sender(endpoint, sends);
	}
}

void endpoint_fetch_qp(const struct endpoint *endpoint, uint32_t qpn)
{
	const struct qp *qp = endpoint_qp(endpoint, qpn);
	__builtin_prefetch(&endpoint->records[qpn], 1);
	for (uint32_t at = 0; qp != NULL && at < sizeof(*qp); at += CACHE_LINE)
		__builtin_prefetch((const char *)qp + at, 1);
}
