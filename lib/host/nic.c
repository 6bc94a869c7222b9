// SPDX-License-Identifier: Apache-2.0
// The lines of a NIC.

#include <weft/host/nic.h>

// The line that is free first among those not in `idle`, or `planes`. Lines that are free at the
// same time take turns, so that a NIC that waits for its window loads its planes alike.
static uint32_t first_free(const struct nic *nic, uint32_t idle)
{
	uint32_t best = nic->planes, plane = nic->turn;
	for (uint32_t i = 0; i < nic->planes; i++) {
		if (!(idle >> plane & 1) &&
		    (best == nic->planes || nic->free_at[plane] < nic->free_at[best]))
			best = plane;
		plane = plane + 1 < nic->planes ? plane + 1 : 0;
	}
	return best;
}

// The line of a plane of a NIC that has changes, at `now`.
__attribute__((noinline)) static line_t slow_line(struct nic *nic, uint32_t plane, ps_t now)
{
	struct nic_slow *slow = &nic->slow[plane];
	for (; slow->count > 0 && slow->changes->at <= now; slow->changes++, slow->count--)
		slow->line = line_slowed(nic->line, slow->changes->rate_ppb);
	return slow->line;
}

// A line found nothing to send, but a QP may wait for its rate: the line is free until that may
// send. False when that is after `now`; then the least of `next` is returned.
__attribute__((noinline)) static bool wait_for_rate(struct nic *nic, uint32_t plane, ps_t now,
						    ps_t *next)
{
	ps_t at = endpoint_next_at(nic->endpoint);
	if (at > now) {
		*next = ps_min(*next, at);
		return false;
	}
	check(at > nic->free_at[plane]);
	nic->free_at[plane] = at;
	return true;
}

// What a plane that is paused may send at `start`: control, or PACKET_NONE. The line waits for the
// end of its pause, when that comes up to `now`, else the plane is idle.
__attribute__((noinline)) static uint32_t next_paused(struct nic *nic, uint32_t plane, ps_t now,
						      struct outbox *out, uint32_t *idle,
						      ps_t *ends_at)
{
	ps_t until = nic->pauses[plane].until;
	uint32_t packet = endpoint_next_control(nic->endpoint, plane, nic->free_at[plane], out);
	if (packet != PACKET_NONE)
		return packet;
	if (until <= now) {
		nic->free_at[plane] = until;
	} else {
		*idle |= 1u << plane;
		*ends_at = ps_min(*ends_at, until);
	}
	return PACKET_NONE;
}

// Puts a packet on the line of a plane at `start`; returns when that is free again.
static inline ps_t put(struct nic *nic, uint32_t plane, uint32_t packet, ps_t start,
		       struct outbox *out)
{
	uint32_t bytes = packet_at(out->packets, packet)->wire_bytes;
	outbox_send(out, nic->first_port + plane, packet, bytes, start);
	line_t line = __builtin_expect(nic->slow != NULL, 0) ? slow_line(nic, plane, start)
							     : nic->line;
	return start + line_ps(line, bytes);
}

// Puts packets of data on the line of a plane as long as they start up to `last` and nothing comes
// between them: none, if it changes its rate. Returns when it is free again.
static inline ps_t put_train(struct nic *nic, uint32_t plane, ps_t start, ps_t last,
			     struct outbox *out)
{
	if (__builtin_expect(nic->slow != NULL, 0))
		return start;
	struct train train = {plane, nic->first_port + plane, start, last, nic->line};
	return endpoint_next_train(nic->endpoint, &train, out);
}

// Emits what starts at or before `now`, by the only line. Returns when it is free, PS_NEVER when it
// found nothing to send.
static ps_t emit_plain(struct nic *nic, ps_t now, struct outbox *out)
{
	ps_t start = nic->free_at[0];
	while (start <= now) {
		nic->free_at[0] = start = put_train(nic, 0, start, now, out);
		if (start > now)
			break;
		uint32_t packet = endpoint_next(nic->endpoint, 0, start, out);
		if (packet == PACKET_NONE)
			return PS_NEVER;
		nic->free_at[0] = start = put(nic, 0, packet, start, out);
	}
	return start;
}

// Puts the next packet, or a train of one, on the line of a plane that is free at
// `start`. False when there is none.
static inline bool put_next(struct nic *nic, uint32_t plane, ps_t start, struct outbox *out)
{
	ps_t free_at = put_train(nic, plane, start, start, out);
	if (free_at == start) {
		uint32_t packet = endpoint_next(nic->endpoint, plane, start, out);
		if (packet == PACKET_NONE)
			return false;
		free_at = put(nic, plane, packet, start, out);
	}
	nic->free_at[plane] = free_at;
	return true;
}

// Emits what starts at or before `now`, by any number of lines. Lines that found nothing to send
// are in `ret_idle`, bit per plane.
static __attribute__((noinline)) ps_t emit_any(struct nic *nic, ps_t now, struct outbox *out,
					       uint32_t *ret_idle)
{
	uint32_t idle = 0;
	ps_t next = PS_NEVER, ends_at = PS_NEVER;
	for (uint32_t plane; (plane = first_free(nic, idle)) < nic->planes;) {
		ps_t start = nic->free_at[plane];
		if (start > now) {
			next = ps_min(next, start);
			break;
		}
		bool is_sent;
		if (__builtin_expect(nic->pauses != NULL, 0) && start < nic->pauses[plane].until) {
			uint32_t packet = next_paused(nic, plane, now, out, &idle, &ends_at);
			if (packet == PACKET_NONE)
				continue;
			nic->free_at[plane] = put(nic, plane, packet, start, out);
			is_sent = true;
		} else {
			is_sent = put_next(nic, plane, start, out);
		}
		if (is_sent)
			nic->turn = plane + 1 < nic->planes ? plane + 1 : 0;
		else if (!__builtin_expect(nic->is_paced, 0) ||
			 !wait_for_rate(nic, plane, now, &next))
			idle |= 1u << plane;
	}
	*ret_idle = idle;
	return ps_min(next, ends_at);
}

// Whether it has one line, which is never paused and waits for no rate.
static inline bool is_plain(const struct nic *nic)
{
	return nic->planes == 1 && nic->pauses == NULL && !nic->is_paced;
}

// What idle lines send next is caused by the change at `now`.
static inline void nic_rest(struct nic *nic, uint32_t idle, ps_t now)
{
	for (uint32_t plane = 0; plane < nic->planes; plane++)
		if (idle >> plane & 1)
			nic->free_at[plane] = ps_max(nic->free_at[plane], now);
}

void nic_advance(struct nic *nic, ps_t now, struct outbox *out)
{
	uint32_t idle = ~0u;
	if (is_plain(nic)) {
		if (nic->free_at[0] > now)
			return;
		if (!endpoint_has_work(nic->endpoint) || emit_plain(nic, now, out) == PS_NEVER)
			nic->free_at[0] = ps_max(nic->free_at[0], now);
		return;
	}
	if (endpoint_has_work(nic->endpoint))
		emit_any(nic, now, out, &idle);
	nic_rest(nic, idle, now);
}

ps_t nic_settle(struct nic *nic, ps_t until, struct outbox *out)
{
	uint32_t idle;
	if (!endpoint_has_work(nic->endpoint))
		return PS_NEVER;
	if (is_plain(nic))
		return emit_plain(nic, until - 1, out);
	return emit_any(nic, until - 1, out, &idle);
}
