// SPDX-License-Identifier: Apache-2.0
// The fabric that the closed forms assume.

#include <errno.h>

#include <weft/run/fidelity_sample.h>

#define QUEUE_BYTES (UINT64_C(1) << 30)
#define HEADER_BYTES 1u // the least that a packet can have beside its payload

const char *const fidelity_ideal_text[] = {
	"every byte of the line is payload: headers and SACKs of 1 byte",
	"queues of 1 GiB: nothing is marked, trimmed or dropped; no faults",
	"a fixed window of 1.5 bandwidth-delay products",
	"the delays of this fabric, and all its trunks for the sampled groups alone",
	NULL,
};

int fidelity_ideal(struct scenario *scenario, struct refusal *refusal)
{
	struct fabric_config *fabric = &scenario->fabric;
	struct transport_config *transport = &scenario->transport;
	if (scenario->fault_count > 0)
		return refuse(refusal, -EINVAL,
			      "an ideal fabric has no faults: --explain goes without them");
	if (fabric->kind != TOPOLOGY_CLOS || fabric->pfc.is_on)
		return refuse(refusal, -EINVAL,
			      "--explain knows an ideal fabric for a Clos without PFC alone");
	transport->header_bytes = HEADER_BYTES;
	transport->control_bytes = HEADER_BYTES;
	fabric->mtu_bytes = transport->payload_bytes + HEADER_BYTES;
	fabric->control_bytes = HEADER_BYTES;
	fabric->trim_on = fabric->ecn_on = fabric->ecn_last_hop = false;
	fabric->queue_bytes = fabric->last_hop_queue_bytes = QUEUE_BYTES;
	fabric->control_queue_bytes = QUEUE_BYTES;
	fabric->ecn_low_bytes = fabric->ecn_high_bytes = 0;
	transport->cc = (struct cc_config){.name = "fixed", .mtu_bytes = fabric->mtu_bytes};
	scenario->sample.is_unthinned = true;
	return 0;
}
