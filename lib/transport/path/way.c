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

// How much a path set holds against paths. A dead plane is all of its EVs.
static uint32_t bad_of(const struct path_set *path)
{
	return path->held + path->closed * path->shape->per_plane;
}

// The QP that tells the others to a peer; NULL: none. What one that failed knew would never end, as
// it probes no more, nor what is denied to it.
static struct qp *teller(const struct endpoint *endpoint, const struct peer *peer)
{
	struct qp *qp = peer->knower == 0 ? NULL : endpoint_qp(endpoint, peer->knower - 1);
	return qp && qp->state == QP_RTS && qp->path.denied == 0 ? qp : NULL;
}

struct path_set *way_known(const struct endpoint *endpoint, struct qp *qp)
{
	uint32_t number = endpoint->records[qp->number].peer;
	const struct peer *peer = number == 0 ? NULL : &endpoint->peers.peers[number - 1];
	if (__builtin_expect(!peer || peer->knower == 0, 1))
		return &qp->path;
	struct qp *other = teller(endpoint, peer);
	bool is_better = other && other->path.shape == qp->path.shape &&
		bad_of(&other->path) > bad_of(&qp->path);
	return is_better ? &other->path : &qp->path;
}

void way_lost(struct endpoint *endpoint, const struct qp *qp)
{
	uint32_t number = endpoint->records[qp->number].peer;
	if (number == 0)
		return;
	struct peer *peer = &endpoint->peers.peers[number - 1];
	const struct qp *other = teller(endpoint, peer);
	// one without a timer no longer learns what came back
	if (!other || !other->has_probe_timer || bad_of(&qp->path) >= bad_of(&other->path))
		peer->knower = qp->number + 1;
}
