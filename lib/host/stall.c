// SPDX-License-Identifier: Apache-2.0
// Hosts that faults hit. See stall.h.

#include <weft/host/stall.h>

#include <weft/host/host.h>

ps_t stall_until(const struct cable_fault *faults, uint32_t count, ps_t at)
{
	for (uint32_t i = 0; i < count; i++) {
		if (faults[i].kind != FAULT_STALL || at < faults[i].from_ps ||
		    at >= faults[i].until_ps)
			continue;
		at = faults[i].until_ps;
		i = UINT32_MAX; // others may go on: from the first again
	}
	return at;
}

ps_t stall_next(const struct host_faults *faults, ps_t at)
{
	ps_t next = PS_NEVER;
	for (uint32_t i = 0; i < faults->stall_count; i++)
		if (faults->stalls[i].until_ps > at)
			next = ps_min(next, ps_max(at, faults->stalls[i].from_ps));
	return next;
}

ps_t stall_work_done(const struct host_faults *faults, ps_t work_ps)
{
	return stall_work_until(faults, 0, work_ps);
}

ps_t stall_work_until(const struct host_faults *faults, ps_t from, ps_t work_ps)
{
	ps_t at = from;
	uint64_t rate_ppb = SHARE_WHOLE;
	unsigned __int128 left = (unsigned __int128)work_ps * SHARE_WHOLE; // in 10^-9 ps
	for (uint32_t i = 0; i < faults->work_count; i++) {
		const struct rate_change *change = &faults->work[i];
		if (change->at <= from) {
			rate_ppb = change->rate_ppb;
			continue;
		}
		unsigned __int128 done = (unsigned __int128)(change->at - at) * rate_ppb;
		if (done >= left)
			break;
		left -= done;
		at = change->at;
		rate_ppb = change->rate_ppb;
	}
	if (rate_ppb == 0)
		return left > 0 ? PS_NEVER : at;
	unsigned __int128 takes = (left + rate_ppb - 1) / rate_ppb;
	return takes < (unsigned __int128)(PS_NEVER - at) ? at + (ps_t)takes : PS_NEVER;
}

void host_hold_line(struct world_host *host, uint32_t port, ps_t until)
{
	struct nic *nic = &host->nics[host->nic_of_port[port]];
	ps_t *free_at = &nic->free_at[port - nic->first_port];
	*free_at = ps_max(*free_at, until);
}
