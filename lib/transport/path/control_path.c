// SPDX-License-Identifier: Apache-2.0
// The way of control packets to a peer. See control_path.h.
#include "control_path.h"

#include "doubt.h"
#include "ev_slot.h"

// How bad a plane is for a control packet: 0 as good as any, 1 down at the peer or held dead, 2
// down here, 3 denied.
static uint32_t badness(const struct path_set *set, uint32_t plane)
{
	if (set->planes[plane].is_denied)
		return 3;
	if (set->shape->ports_down >> plane & 1)
		return 2;
	return (set->peer_down >> plane & 1) | set->planes[plane].is_closed;
}

uint32_t path_control_plane(const struct path_set *set, uint32_t plane)
{
	uint32_t best = plane, planes = set->shape->planes;
	for (uint32_t i = 1; i < planes && badness(set, best) > 0; i++) {
		uint32_t other = (plane + i) % planes;
		if (badness(set, other) < badness(set, best))
			best = other;
	}
	return best;
}

uint32_t path_control(struct path_set *set, uint32_t plane)
{
	const struct path_shape *shape = set->shape;
	if (shape->policy == PATH_SINGLE)
		return set->single;
	uint64_t dice = rng_next(&set->control_rng);
	uint32_t in_plane = (uint32_t)dice & (shape->per_plane - 1);
	bool is_last = shape->planes == 1 && set->planes[plane].is_closed; // none is known good
	bool is_any = is_last || (path_is_in_doubt(set, plane) && (dice >> 32 & 3) == 0);
	uint32_t first = PATH_NO_EV; // better than one that is denied
	for (uint32_t left = shape->per_plane;; left--) {
		uint32_t place = in_plane * shape->planes + plane;
		uint32_t index = set->planes[plane].is_moved ? set->ev_slots[place] : place;
		if (set->planes[plane].bad == 0 || !ev_slot_is_blocked(set, index))
			return index;
		if (is_any && path_state(set, index) != PATH_DENIED)
			return index;
		if (first == PATH_NO_EV && path_state(set, index) != PATH_DENIED)
			first = index;
		if (left == 1)
			return first != PATH_NO_EV ? first : index;
		in_plane = (in_plane + 1) & (shape->per_plane - 1);
	}
}

uint32_t path_answer(struct path_set *set, uint32_t plane)
{
	uint32_t index = path_control(set, plane), last = PATH_NO_EV;
	if (set->shape->planes == 1 && (set->control_rng.state & 1) == 0)
		last = path_last_heard(set, plane);
	return last != PATH_NO_EV ? last : index;
}

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

uint32_t control_path_plane(const struct endpoint *endpoint, const struct peer *peer,
			    uint32_t plane)
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

uint32_t control_path_ev(const struct endpoint *endpoint, const struct peer *peer, uint32_t plane)
{
	struct path_set *path = path_of(endpoint, peer);
	if (path)
		return path_value(path, path_answer(path, plane));
	const struct profile *profile = endpoint->shape.profile;
	return profile ? profile->values[plane] : endpoint->shape.fixed | plane;
}

// How much a QP knows to avoid.
static uint32_t known_bad(const struct path_set *path)
{
	return path->bad + path->closed * path->shape->per_plane;
}

// Whether `other` is to be asked before `qp`: what its own data lost is certain, while a probe of a
// QP that only receives seems lost, too, when its answer is.
static bool knows_more(const struct qp *other, const struct qp *qp)
{
	uint32_t others = known_bad(&other->path);
	bool has_data = other->una != other->psn_posted;
	if (has_data != (qp->una != qp->psn_posted))
		return has_data && others > 0;
	return others > known_bad(&qp->path);
}

// The QP to a peer that knew most when it last lost a packet; NULL: none may be asked. What a QP
// that failed knew would never end, as it probes no more, nor what is denied to it.
static struct qp *knower_of(const struct endpoint *endpoint, uint32_t peer,
			    const struct path_shape *shape)
{
	uint32_t knower = endpoint->peers.peers[peer - 1].knower;
	struct qp *qp = knower == 0 ? NULL : endpoint_qp(endpoint, knower - 1);
	bool is_fresh = qp && qp->state == QP_RTS && qp->path.denied == 0 &&
		qp->path.shape == shape;
	return is_fresh ? qp : NULL;
}

struct path_set *control_path_known(const struct endpoint *endpoint, struct qp *qp)
{
	uint32_t peer = endpoint->records[qp->number].peer;
	if (peer == 0 || __builtin_expect(endpoint->peers.peers[peer - 1].knower == 0, 1))
		return &qp->path;
	struct qp *other = knower_of(endpoint, peer, qp->path.shape);
	return other && knows_more(other, qp) ? &other->path : &qp->path;
}

void control_path_lost(struct endpoint *endpoint, const struct qp *qp)
{
	uint32_t peer = endpoint->records[qp->number].peer;
	if (peer == 0)
		return;
	struct qp *other = knower_of(endpoint, peer, qp->path.shape);
	if (!other || !knows_more(other, qp))
		endpoint->peers.peers[peer - 1].knower = qp->number + 1;
}
