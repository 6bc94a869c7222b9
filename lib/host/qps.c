// SPDX-License-Identifier: Apache-2.0
// QPs of a host, looked at. See qps.h.

#include <weft/host/qps.h>

#include <weft/host/host.h>
#include <weft/host/nic.h>
#include <weft/transport/ev.h>
#include <weft/transport/qp.h>

// The NIC of a QP, whose number there goes to `ret_qpn`. NULL: there are not so many.
static const struct nic *nic_of(const struct world_host *host, uint32_t index, uint32_t *ret_qpn)
{
	for (uint32_t i = 0; i < host->nic_count; i++) {
		const struct nic *nic = &host->nics[i];
		if (nic->endpoint == NULL)
			continue;
		*ret_qpn = index;
		if (index < nic->qp_count)
			return nic;
		index -= nic->qp_count;
	}
	return NULL;
}

uint32_t host_qps(const struct world_host *host)
{
	uint32_t total = 0;
	for (uint32_t i = 0; i < host->nic_count; i++)
		if (host->nics[i].endpoint != NULL)
			total += host->nics[i].qp_count;
	return total;
}

static void count_evs(const struct endpoint *endpoint, struct host_qp *ret)
{
	enum ev_state state;
	uint32_t ev;
	for (uint32_t i = 0; endpoint_ev(endpoint, ret->qpn, i, &ev) == 0; i++) {
		if (endpoint_ev_state(endpoint, ret->qpn, ev, &state) < 0)
			continue;
		ret->evs_good += state == EV_GOOD;
		ret->evs_bad += state != EV_GOOD;
	}
}

bool host_qp(const struct world_host *host, uint32_t index, struct host_qp *ret)
{
	struct qp_view qp;
	*ret = (struct host_qp){0};
	const struct nic *nic = nic_of(host, index, &ret->qpn);
	if (nic == NULL || endpoint_query(nic->endpoint, ret->qpn, &qp) < 0)
		return false;
	ret->nic = host->first_nic + (uint32_t)(nic - host->nics);
	ret->remote_nic = qp.remote_nic;
	ret->window_bytes = qp.window_bytes;
	ret->flight_bytes = qp.flight_bytes;
	ret->psns_lost = qp.psns_lost;
	ret->is_error = qp.state == QP_ERROR;
	count_evs(nic->endpoint, ret);
	return true;
}

uint32_t host_evs(const struct world_host *host, uint32_t index, uint32_t first,
		  struct host_ev *ret, uint32_t max, uint32_t *ret_count)
{
	uint32_t qpn, ev, total = 0;
	const struct nic *nic = nic_of(host, index, &qpn);
	*ret_count = 0;
	for (; nic != NULL && endpoint_ev(nic->endpoint, qpn, total, &ev) == 0; total++) {
		enum ev_state state = EV_DENIED;
		if (total < first || *ret_count == max)
			continue;
		endpoint_ev_state(nic->endpoint, qpn, ev, &state);
		ret[(*ret_count)++] = (struct host_ev){ev, (uint32_t)state};
	}
	return total;
}
