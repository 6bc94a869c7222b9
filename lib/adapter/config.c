// SPDX-License-Identifier: Apache-2.0
// What an adapter is like: the defaults, and the numbers that follow from others. They are those of
// a scenario where it has the same (docs/scenario.md); sizes are those of real frames.
#include "adapter.h"

#include <errno.h>
#include <string.h>

#include <weft/transport/transport_auto.h>

#define QP_MAX 65536u
#define COMPLETIONS_MAX (1u << 24)
#define RECEIVES_MAX 32767u // messages are numbered with 16 bits

void adapter_config_default(struct adapter_config *ret)
{
	*ret = (struct adapter_config){
		.qp_max = 1,
		.completion_max = 256,
		.plane_bps = 100000000000,
		.seed = 1,
		.transport = {.planes = 2,
			      .payload_bytes = 4096,
			      .ev_count = 256,
			      .path_policy = PATH_MRC,
			      .mpr = 4096,
			      .sends_max = 64,
			      .wimm_max = 64,
			      .regions_max = 16,
			      .sack_rule = SACK_MRC,
			      .sack_bytes = 16384,
			      .trim_nack = true,
			      .refused = REFUSED_NAK, // a program's mistake is no loss
			      .rto_ps = 262144 * PS_PER_NS,
			      .rto_linear = 7,
			      .rto_doublings = 7,
			      .path_retry_ps = PS_PER_MS,
			      .port_status = true,
			      .probe_idle = PROBE_IDLE_AUTO,
			      .cc = {.name = "nscc",
				     .base_rtt_ps = 10 * PS_PER_US,
				     .has_trimming = true,
				     .qa_gate = 3}},
	};
	wire_config_default(6, &ret->wire);
}

static uint32_t frame_overhead(const struct wire_config *wire, uint8_t opcode)
{
	struct packet packet = {.opcode = opcode};
	return (uint32_t)wire_frame_bytes(wire, &packet) + WIRE_LINE_BYTES;
}

// The sizes that the endpoint counts with are those of its frames, at both ends alike.
static void fill_sizes(struct adapter_config *config)
{
	struct transport_config *transport = &config->transport;
	struct wire_config *wire = &config->wire;
	wire->has_tseth = true; // round trips are measured with it
	wire->addresses = wire->entropy == WIRE_ENTROPY_SRV6 ? WIRE_ADDRESSES_BY_RULE
							     : WIRE_ADDRESSES_GIVEN;
	wire->icrc_ignored = wire->icrc_unchecked = false; // what is damaged is not placed
	if (transport->header_bytes == 0)
		transport->header_bytes = frame_overhead(wire, PACKET_WRITE_MIDDLE);
	if (transport->control_bytes == 0)
		transport->control_bytes = frame_overhead(wire, PACKET_SACK);
	wire->full_payload_bytes = (uint16_t)transport->payload_bytes;
	wire->charged_header_bytes = (uint16_t)transport->header_bytes;
	wire->charged_control_bytes = (uint16_t)transport->control_bytes;
	wire->charged_trimmed_bytes = (uint16_t)transport->control_bytes;
}

static void fill_transport(struct adapter_config *config)
{
	struct transport_config *transport = &config->transport;
	bool is_port = config->wire.ip_version == 4 || config->wire.entropy == WIRE_ENTROPY_PORT;
	if (transport->ev_bits == 0)
		transport->ev_bits = is_port ? 16 : 32;
	if (transport->cc.rate_bps == 0)
		transport->cc.rate_bps = config->plane_bps * transport->planes;
	if (transport->cc.mtu_bytes == 0)
		transport->cc.mtu_bytes = transport->payload_bytes + transport->header_bytes;
	transport_derive(transport);
}

static int refuse_numbers(const struct adapter_config *config, struct refusal *refusal)
{
	if (config->qp_max < 1 || config->qp_max > QP_MAX)
		return refuse(refusal, -EINVAL, "% QPs: must be 1 to %", config->qp_max, QP_MAX);
	if (config->completion_max < 1 || config->completion_max > COMPLETIONS_MAX)
		return refuse(refusal, -EINVAL, "% completions: must be 1 to %",
			      config->completion_max, COMPLETIONS_MAX);
	if (config->receives_max > RECEIVES_MAX)
		return refuse(refusal, -EINVAL, "% receive requests: must be 0 to %",
			      config->receives_max, RECEIVES_MAX);
	if (config->transport.kind != TRANSPORT_MRC) // its packets do not say where they belong
		return refuse(refusal, -EINVAL, "an adapter's transport is MRC");
	if (config->plane_bps < 1000000 || config->plane_bps > 10000000000000)
		return refuse(refusal, -EINVAL, "a plane of % bit/s: must be 1 Mb/s to 10 Tb/s",
			      (int64_t)config->plane_bps);
	return 0;
}

// Each port has an address of its own: by that it is known where a frame came in.
static int refuse_ends(const struct adapter_config *config, struct refusal *refusal)
{
	const struct wire_end *ends = config->ends;
	if (config->wire.entropy == WIRE_ENTROPY_SRV6)
		return refuse(refusal, -EINVAL, "SRv6 routes go by the rule of addresses");
	for (uint32_t plane = 0; plane < config->transport.planes && plane < PLANES_MAX; plane++) {
		if (wire_gid_version(ends[plane].gid) != config->wire.ip_version)
			return refuse(refusal, -EINVAL, "the GID of plane % is not of IPv%", plane,
				      config->wire.ip_version);
		if (!wire_end_is_possible(&ends[plane]))
			return refuse(refusal, -EINVAL,
				      "the GID or MAC of plane % belongs to no NIC", plane);
		for (uint32_t other = 0; other < plane; other++)
			if (memcmp(ends[other].gid, ends[plane].gid, sizeof(ends->gid)) == 0)
				return refuse(refusal, -EINVAL, "planes % and % have one GID",
					      other, plane);
	}
	return 0;
}

static int refuse_addresses(const struct adapter_config *config, struct refusal *refusal)
{
	if (config->ends != NULL)
		return refuse_ends(config, refusal);
	uint32_t nics = wire_nics_max(&config->wire), planes = wire_planes_max(&config->wire);
	if (config->nic >= nics)
		return refuse(refusal, -EINVAL, "NIC %: there are addresses for %", config->nic,
			      nics);
	if (config->transport.planes > planes)
		return refuse(refusal, -EINVAL, "% planes: there are addresses for %",
			      config->transport.planes, planes);
	return 0;
}

// The endpoint knows best what it can be: without memory it refuses for lack of it, once all else
// is right.
static int refuse_transport(const struct adapter_config *config, struct refusal *refusal)
{
	struct endpoint *endpoint;
	struct arena none;
	arena_init(&none, NULL, 0);
	int rc = endpoint_create(&endpoint, &none, &config->transport, config->nic, config->qp_max,
				 config->seed, refusal);
	if (rc != -ENOMEM)
		return rc;
	if (config->transport.payload_bytes < ADAPTER_MTU_MIN) // peers would refuse it
		return refuse(refusal, -EINVAL, "an MTU of %: must be % or more",
			      config->transport.payload_bytes, ADAPTER_MTU_MIN);
	return 0;
}

int config_complete(const struct adapter_config *given, struct adapter_config *ret,
		    struct refusal *refusal)
{
	struct adapter_config config = *given;
	int rc = refuse_numbers(&config, refusal);
	if (rc == 0)
		rc = wire_config_check(&config.wire, refusal);
	if (rc == 0)
		rc = refuse_addresses(&config, refusal);
	if (rc != 0)
		return rc;
	fill_sizes(&config);
	fill_transport(&config);
	rc = wire_config_check(&config.wire, refusal);
	if (rc == 0)
		rc = refuse_transport(&config, refusal);
	if (rc != 0)
		return rc;
	config.transport.cc.name =
		cc_find(config.transport.cc.name)->name; // ours, not the caller's
	*ret = config;
	return 0;
}
