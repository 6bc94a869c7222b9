// SPDX-License-Identifier: Apache-2.0
// The way of control packets to a peer. See way.h.
#include "way.h"

// What is known of the paths to a peer: by the first of its QPs that has a context; NULL: none.
static struct path_set *path_of(const struct endpoint *endpoint, const struct peer *peer)
{
	for (uint32_t at = peer->first_qp; at != 0; at = endpoint->records[at - 1].peer_next) {
		struct qp *qp = endpoint_qp(endpoint, at - 1);
		if (qp)
			return &qp->path;
	}
	return NULL;
}

uint32_t way_plane(const struct endpoint *endpoint, const struct peer *peer, uint32_t plane)
{
	const struct path_set *path = path_of(endpoint, peer);
	if (path)
		return path_control_plane(path, plane);
	for (uint32_t i = 0; i < endpoint->shape.planes; i++) {
		uint32_t other = (plane + i) % endpoint->shape.planes;
		if (!((endpoint->shape.ports_down | peer->down) >> other & 1))
			return other;
	}
	return plane;
}

uint32_t way_ev(const struct endpoint *endpoint, const struct peer *peer, uint32_t plane)
{
	struct path_set *path = path_of(endpoint, peer);
	if (path)
		return path_value(path, path_control(path, plane));
	const struct profile *profile = endpoint->shape.profile;
	return profile ? profile->values[plane] : endpoint->shape.fixed | plane;
}

static bool knows_bad(const struct path_set *path)
{
	return (path->bad | path->closed) != 0;
}

struct path_set *way_known(const struct endpoint *endpoint, struct qp *qp)
{
	uint32_t peer = endpoint->records[qp->number].peer;
	uint32_t knower = peer == 0 ? 0 : endpoint->peers.peers[peer - 1].knower;
	if (__builtin_expect(knower == 0, 1) || knows_bad(&qp->path))
		return &qp->path;
	struct qp *other = endpoint_qp(endpoint, knower - 1);
	// what a QP that failed knew would never end, as it probes no more, nor what is denied to
	// it
	bool is_fresh = other && other->state == QP_RTS && knows_bad(&other->path) &&
		other->path.denied == 0 && other->path.shape == qp->path.shape;
	return is_fresh ? &other->path : &qp->path;
}

void way_lost(struct endpoint *endpoint, const struct qp *qp)
{
	uint32_t peer = endpoint->records[qp->number].peer;
	if (peer != 0)
		endpoint->peers.peers[peer - 1].knower = qp->number + 1;
}
