// SPDX-License-Identifier: Apache-2.0
// What triggers start, host by host. See trigger_flows.h.
#include <weft/host/trigger_flows.h>

#include <weft/host/host.h>

void trigger_flows_start(struct world_host *host, uint32_t flow, ps_t at)
{
	host->flows[flow].start_ps = at;
	host_later(host, HOST_FLOW, flow, at);
}

bool trigger_flows_count(struct world_host *host, struct trigger_flows *starter, uint32_t needed,
			 ps_t at)
{
	starter->at = ps_max(starter->at, at);
	if (++starter->fired != needed)
		return false;
	for (uint32_t flow = starter->first; flow > 0; flow = host->flows[flow - 1].next)
		trigger_flows_start(host, flow - 1, starter->at);
	return true;
}

// The next flow of a multishot trigger, if one is left. Only this host fires it.
static void fire_next(struct world_host *host, struct trigger *trigger, struct signal *signal,
		      ps_t now, struct outbox *out)
{
	uint32_t flow = trigger->first;
	if (flow == 0)
		return;
	trigger->first = host->flows[flow - 1].next;
	if (host->flows[flow - 1].from / host->nic_count == signal->from) {
		trigger_flows_start(host, flow - 1, now);
		return;
	}
	signal->flow = flow;
	outbox_signal(out, signal);
}

void trigger_flows_fire(struct world_host *host, uint32_t number, ps_t now, struct outbox *out)
{
	const struct starters *starters = host->starters;
	if (number == 0)
		return;
	struct trigger *trigger = &host->triggers[number - 1];
	struct signal signal = {.at = now + starters->delay_ps,
				.from = host->first_nic / host->nic_count,
				.trigger = number};
	bool is_heard = false;
	if (trigger->kind == TRIGGER_MULTISHOT) {
		fire_next(host, trigger, &signal, now, out);
		return;
	}
	for (uint32_t at = starters->first[number - 1]; at > 0; at = starters->list[at - 1].next) {
		struct trigger_flows *starter = &starters->list[at - 1];
		if (starter->host == signal.from)
			trigger_flows_count(host, starter, trigger->needed, now);
		else
			is_heard = true;
	}
	if (is_heard)
		outbox_signal(out, &signal);
}
