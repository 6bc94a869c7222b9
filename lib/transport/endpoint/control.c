// SPDX-License-Identifier: Apache-2.0
// The way of an answer, and its address. See control.h.
#include "control.h"

#include "path/control_path.h"

void control_route(const struct endpoint *endpoint, struct qp *qp, struct packet *packet)
{
	struct path_set *path = control_path_known(endpoint, qp);
	packet->plane = (uint8_t)path_control_plane(path, packet->plane);
	packet->ev = path_value(path, path_answer(path, packet->plane));
}

void control_address(const struct endpoint *endpoint, uint32_t remote_qpn, struct packet *packet)
{
	packet->target = packet->source;
	packet->source = endpoint->nic;
	packet->payload = 0;
	packet->wire_bytes = (uint16_t)endpoint->config->control_bytes;
	packet->payload_bytes = 0;
	packet->klass = PACKET_CLASS_CONTROL;
	packet->flags = 0;
	packet->hop = 0;
	packet->bth = 0;
	packet->qpn = remote_qpn;
}

void control_answer(struct endpoint *endpoint, struct qp *qp, uint32_t index, struct outbox *out)
{
	struct packet *packet = packet_at(out->packets, index);
	control_route(endpoint, qp, packet);
	control_address(endpoint, qp->remote_qpn, packet);
	packet->payload = service_is_left_out(endpoint, qp); // until it leaves
	control_send(endpoint, index, out);
}
