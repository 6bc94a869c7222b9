// SPDX-License-Identifier: Apache-2.0
// The birth of a QP of RC, and which file takes which packet.
#include "rc.h"

#include <weft/core/opcode.h>

#define STASHES_MIN 32u // wimm_max is never below

static_assert(sizeof(struct rc) <= STASHES_MIN * sizeof(struct pending_imm),
	      "it lies in their place");

// The plane of a connection, the same for its two ends: by a hash of both, as a bond of ports
// chooses one.
static uint32_t plane_of(const struct endpoint *endpoint, const struct qp *qp,
			 const struct qp_config *config)
{
	uint64_t here = (uint64_t)config->local_nic << 32 | qp->number;
	uint64_t there = (uint64_t)config->remote_nic << 32 | config->remote_qpn;
	uint64_t low = here < there ? here : there, high = here < there ? there : here;
	uint64_t hash = rng_mix(rng_mix(rng_mix(endpoint->seed) + low) + high);
	return (uint32_t)((hash >> 32) * endpoint->shape.planes >> 32);
}

void rc_open(struct endpoint *endpoint, struct qp *qp, const struct qp_config *config)
{
	struct rc *rc = rc_of(qp);
	uint32_t planes = endpoint->shape.planes;
	uint32_t in_plane = qp->path.single / planes; // drawn from the QP's own stream
	qp->ready_plane = (uint8_t)plane_of(endpoint, qp, config);
	qp->path.single = in_plane * planes + qp->ready_plane;
	*rc = (struct rc){.sent_end = config->first_psn, .deadline_ps = PS_NEVER};
}

void rc_receive(struct endpoint *endpoint, struct qp *qp, uint32_t index, ps_t now,
		struct outbox *out)
{
	const struct packet *packet = packet_at(out->packets, index);
	bool is_write = packet->opcode >= RC_WRITE_FIRST && packet->opcode <= RC_WRITE_ONLY_IMM;
	if (is_write || rc_request_of(packet->opcode) != RC_REQUEST_COUNT) {
		rc_receive_data(endpoint, qp, index, now, out);
		return;
	}
	if (packet->opcode == RC_ACK)
		rc_send_on_answer(endpoint, qp, packet, now);
	else if (packet->opcode == RC_CNP)
		rc_send_on_cnp(endpoint, qp, now);
	else
		endpoint->counters.refused[REFUSED_OPCODE]++;
	packet_put(out->packets, index);
}
