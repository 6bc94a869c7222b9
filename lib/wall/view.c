// SPDX-License-Identifier: Apache-2.0
// What a look finds. See view.h.

#include "view.h"

#include <unistd.h>

#include <weft/host/host.h>
#include <weft/host/nic.h>

#include "loop.h"

bool viewer_ask(struct viewer *viewer, enum view_of of, uint32_t first, uint32_t qp,
		uint32_t wait_ms)
{
	if (__atomic_load_n(&viewer->state, __ATOMIC_ACQUIRE) == VIEWER_ASKS)
		return false; // the last one was not answered
	viewer->view.of = of;
	viewer->view.first = first;
	viewer->view.qp = qp;
	__atomic_store_n(&viewer->state, VIEWER_ASKS, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < wait_ms * 10; i++) {
		if (__atomic_load_n(&viewer->state, __ATOMIC_ACQUIRE) == VIEWER_TOLD)
			return true;
		usleep(100);
	}
	uint32_t asks = VIEWER_ASKS; // taken back, unless it is answered just now
	return !__atomic_compare_exchange_n(&viewer->state, &asks, VIEWER_IDLE, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static void put_quantiles(const struct hist *hist, int64_t ret[3])
{
	static const uint32_t parts[3] = {500000, 990000, 999000};
	for (int i = 0; i < 3; i++)
		ret[i] = hist->total > 0 ? hist_quantile(hist, parts[i]) : 0;
}

static void fill_run(const struct wall *wall, struct view *ret)
{
	const struct outcome *outcome = wall->host->record->outcome;
	const struct hist *slowest = &outcome->message_ns[0];
	ret->messages = 0;
	for (int i = 0; i < PAIR_CLASS_COUNT; i++) {
		ret->messages += outcome->message_ns[i].total;
		if (outcome->message_ns[i].total > slowest->total)
			slowest = &outcome->message_ns[i];
	}
	put_quantiles(slowest, ret->message_ns); // of the kind that there is most of
	put_quantiles(&wall->turn_ns, ret->turn_ns);
	ret->counts = wall->counts;
	ret->counts.turn_ns = NULL;
	ret->counts.frames_dropped = missed_by_ports(wall) - wall->missed_before;
	ret->counts.yields = wall->rest.yields;
	ret->counts.sleeps = wall->rest.sleeps;
	ret->counts.asleep_ns = wall->rest.asleep_ns;
	ret->data_packets = ret->data_resent = ret->data_bytes = 0;
	for (uint32_t i = 0; i < wall->host->nic_count; i++) {
		if (wall->host->nics[i].endpoint == NULL)
			continue;
		const struct transport_counters *count = endpoint_counters(
			wall->host->nics[i].endpoint);
		ret->data_packets += count->data_packets;
		for (int k = 0; k < RTX_REASON_COUNT; k++)
			ret->data_resent += count->rtx[k];
		for (uint32_t k = 0; k < wall->host->planes; k++)
			ret->data_bytes += count->plane_bytes[k];
	}
}

static void fill_lines(const struct wall *wall, struct view *ret)
{
	uint32_t ports = wall->machine.port_count, planes = wall->host->planes;
	ret->total = ret->count = ports < VIEW_LINES ? ports : VIEW_LINES;
	for (uint32_t port = 0; port < ret->count; port++) {
		const struct nic *nic = &wall->host->nics[port / planes];
		ret->lines[port] = (struct view_line){.is_down = wall->cut[port]};
		if (nic->endpoint != NULL)
			ret->lines[port].bytes =
				endpoint_counters(nic->endpoint)->plane_bytes[port % planes];
	}
	for (uint32_t i = 0; i < wall->line_count; i++) {
		uint32_t port = wall->lines[i].wall_port.port;
		if (port >= ret->count)
			continue;
		ret->lines[port].waiting += line_count(&wall->lines[i]);
		ret->lines[port].is_down |= wall->lines[i].is_down;
	}
}

static void fill_qps(const struct wall *wall, struct view *ret)
{
	ret->total = host_qps(wall->host);
	for (ret->count = 0; ret->count < VIEW_QPS && ret->first + ret->count < ret->total;
	     ret->count++)
		host_qp(wall->host, ret->first + ret->count, &ret->qps[ret->count]);
}

void view_fill(struct wall *wall, ps_t now, struct view *view)
{
	view->at = now;
	view->work = wall_work(wall);
	view->count = view->total = 0;
	switch ((enum view_of)view->of) {
	case VIEW_RUN:
		fill_run(wall, view);
		return;
	case VIEW_PLANES:
		fill_lines(wall, view);
		return;
	case VIEW_QPS_FROM:
		fill_qps(wall, view);
		return;
	case VIEW_EVS_OF:
		view->total = host_evs(wall->host, view->qp, view->first, view->evs, VIEW_EVS,
				       &view->count);
		return;
	}
}
