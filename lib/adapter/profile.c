// SPDX-License-Identifier: Apache-2.0
// Paths and congestion control that QPs have of their own. The endpoint numbers entropy values over
// the planes in turn; programs name a value and its plane.
#include "adapter.h"

#include <errno.h>

// Numbers the paths, each plane's in their order. -EINVAL with the reason.
static int number_paths(const struct adapter *adapter, const struct adapter_path *paths,
			uint32_t count, uint32_t *ret_values, struct refusal *refusal)
{
	uint32_t planes = adapter->config.transport.planes, of_plane[PLANES_MAX] = {0};
	if (count % planes != 0)
		return refuse(refusal, -EINVAL, "% paths on % planes: each plane needs as many",
			      count, planes);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t plane = paths[i].plane;
		if (plane >= planes)
			return refuse(refusal, -EINVAL, "path % is on plane %: there are %", i,
				      plane, planes);
		if (of_plane[plane] == count / planes)
			return refuse(refusal, -EINVAL,
				      "more than % of % paths are on plane %: each needs as many",
				      count / planes, count, plane);
		ret_values[of_plane[plane]++ * planes + plane] = paths[i].ev;
	}
	return 0;
}

int adapter_ev_profile(struct adapter *adapter, uint32_t number, const struct adapter_path *paths,
		       uint32_t count, struct refusal *refusal)
{
	const struct transport_config *transport = &adapter->config.transport;
	if (number < 1 || number > transport->ev_profiles_max)
		return refuse(refusal, -EINVAL, "EV profile %: there are 1 to %", number,
			      transport->ev_profiles_max);
	if (paths == NULL || count == 0 || count > transport->ev_count)
		return refuse(refusal, -EINVAL, "% paths: must be 1 to %", paths ? count : 0,
			      transport->ev_count);
	int rc = number_paths(adapter, paths, count, adapter->values, refusal);
	if (rc != 0)
		return rc;
	return endpoint_ev_profile(adapter->endpoint, number, adapter->values, count, refusal);
}

int adapter_cc_profile(struct adapter *adapter, uint32_t number, const struct cc_config *cc,
		       struct refusal *refusal)
{
	struct cc_config config = *cc;
	if (config.rate_bps == 0)
		config.rate_bps = adapter->config.transport.cc.rate_bps;
	if (config.mtu_bytes == 0)
		config.mtu_bytes = adapter->config.transport.cc.mtu_bytes;
	return endpoint_cc_profile(adapter->endpoint, number, &config, refusal);
}

int adapter_choose(struct adapter *adapter, uint32_t qpn, uint32_t ev_profile, uint32_t cc_profile,
		   struct refusal *refusal)
{
	uint32_t number = adapter_number(qpn);
	if (number >= adapter->opened)
		return refuse(refusal, -EINVAL, "QP % is not open", qpn);
	struct connection *connection = &adapter->connections[number];
	if (connection->state != ADAPTER_INIT)
		return refuse(refusal, -EISCONN, "QP % was connected before", qpn);
	if (!endpoint_has_profiles(adapter->endpoint, ev_profile, cc_profile))
		return refuse(refusal, -EINVAL,
			      "EV profile % or congestion control profile % was not made",
			      ev_profile, cc_profile);
	connection->ev_profile = (uint16_t)ev_profile;
	connection->cc_profile = (uint16_t)cc_profile;
	return 0;
}

int adapter_path(const struct adapter *adapter, uint32_t qpn, uint32_t index,
		 struct adapter_path *ret)
{
	uint32_t ev;
	int rc = endpoint_ev(adapter->endpoint, adapter_number(qpn), index, &ev);
	if (rc == 0)
		*ret = (struct adapter_path){ev, index % adapter->config.transport.planes};
	return rc;
}

int adapter_path_deny(struct adapter *adapter, const struct adapter_path *path)
{
	return endpoint_path_deny(adapter->endpoint, path->ev, path->plane);
}

int adapter_path_allow(struct adapter *adapter, const struct adapter_path *path)
{
	return endpoint_path_allow(adapter->endpoint, path->ev, path->plane);
}

int adapter_path_state(const struct adapter *adapter, uint32_t qpn, const struct adapter_path *path,
		       enum ev_state *ret)
{
	return endpoint_path_state(adapter->endpoint, adapter_number(qpn), path->ev, path->plane,
				   ret);
}
