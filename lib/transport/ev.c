// SPDX-License-Identifier: Apache-2.0
// What an operator asks and says of entropy values while an endpoint runs, as the controller's API
// has it: by value, in three states. See path.h for what they mean.
#include "dark.h"
#include "endpoint.h"
#include "place.h"

#include <errno.h>

static bool is_open(const struct qp *qp)
{
	return qp->state == QP_RTR || qp->state == QP_RTS;
}

// The open QP number `*number` or the next one, NULL when there is none.
static struct qp *open_qp(const struct endpoint *endpoint, uint32_t *number)
{
	for (; *number < endpoint->qp_max; ++*number) {
		struct qp *qp = endpoint_qp(endpoint, *number);
		if (qp && is_open(qp))
			return qp;
	}
	return NULL;
}

// How many open QPs have the value, or -EBUSY when for one of them it is the last to be used.
static int count_with(const struct endpoint *endpoint, uint32_t ev)
{
	int count = 0;
	struct qp *qp;
	for (uint32_t number = 0; (qp = open_qp(endpoint, &number)) != NULL; number++) {
		uint32_t index = path_index(&qp->path, ev);
		if (index == PATH_NO_EV)
			continue;
		count++;
		if (qp->path.denied + 1 == endpoint->shape.universe &&
		    path_state(&qp->path, index) != PATH_DENIED)
			return -EBUSY;
	}
	return count;
}

// Whether a QP is at rest hangs on what is denied to it, where contexts are fewer than QPs.
static void touch(struct endpoint *endpoint, struct qp *qp)
{
	if (endpoint->is_pooled)
		context_touch(endpoint, qp);
}

// The number of a value in the profile that new QPs take, PROFILE_NO_EV when there is none.
static uint32_t number_in_profile(const struct endpoint *endpoint, uint32_t ev)
{
	return endpoint->shape.profile ? profile_find(&endpoint->profile, ev) : PROFILE_NO_EV;
}

int endpoint_ev_deny(struct endpoint *endpoint, uint32_t ev)
{
	struct profile *profile = &endpoint->profile;
	uint32_t in_profile = number_in_profile(endpoint, ev);
	if (endpoint->shape.policy != PATH_MRC)
		return -EOPNOTSUPP;
	int count = count_with(endpoint, ev);
	if (count < 0)
		return count;
	if (count == 0 && in_profile == PROFILE_NO_EV)
		return -ENOENT;
	if (in_profile != PROFILE_NO_EV && !bitmap_get(profile->denied, in_profile)) {
		if (profile->denied_count + 1 == profile->count)
			return -EBUSY;
		bitmap_set(profile->denied, in_profile);
		profile->denied_count++;
	}
	struct qp *qp;
	for (uint32_t number = 0; (qp = open_qp(endpoint, &number)) != NULL; number++) {
		uint32_t index = path_index(&qp->path, ev);
		if (index == PATH_NO_EV)
			continue;
		path_deny(&qp->path, index);
		touch(endpoint, qp);
	}
	dark_on_deny(endpoint);
	return 0;
}

int endpoint_ev_allow(struct endpoint *endpoint, uint32_t ev)
{
	struct profile *profile = &endpoint->profile;
	uint32_t in_profile = number_in_profile(endpoint, ev);
	if (endpoint->shape.policy != PATH_MRC)
		return -EOPNOTSUPP;
	bool is_known = in_profile != PROFILE_NO_EV;
	if (is_known && bitmap_get(profile->denied, in_profile)) {
		bitmap_clear(profile->denied, in_profile);
		profile->denied_count--;
	}
	struct qp *qp;
	for (uint32_t number = 0; (qp = open_qp(endpoint, &number)) != NULL; number++) {
		uint32_t index = path_index(&qp->path, ev);
		if (index == PATH_NO_EV)
			continue;
		path_allow(&qp->path, index);
		touch(endpoint, qp);
		is_known = true;
	}
	return is_known ? 0 : -ENOENT;
}

// Whether the numbers have places in the rotation.
static bool are_active(const struct endpoint *endpoint, const uint16_t *numbers, uint32_t count)
{
	uint32_t active = place_count(&endpoint->shape);
	if (count == 0 || count > active)
		return false;
	for (uint32_t i = 0; numbers != NULL && i < count; i++)
		if (numbers[i] >= active)
			return false;
	return true;
}

int endpoint_ev_keep(struct endpoint *endpoint, uint32_t qpn, const uint16_t *numbers,
		     uint32_t count)
{
	if (endpoint->shape.policy > PATH_MRC || endpoint->is_pooled)
		return -EOPNOTSUPP;
	struct qp *qp = qpn < endpoint->qp_max ? endpoint_qp(endpoint, qpn) : NULL;
	if (!qp || !is_open(qp) || !are_active(endpoint, numbers, count))
		return -ENOENT;
	place_keep(&qp->path, numbers, count);
	return 0;
}

int endpoint_ev_state(const struct endpoint *endpoint, uint32_t qpn, uint32_t ev,
		      enum ev_state *ret)
{
	const struct qp *qp = qpn < endpoint->qp_max ? endpoint_qp(endpoint, qpn) : NULL;
	if (!qp || !is_open(qp))
		return -ENOENT;
	uint32_t index = path_index(&qp->path, ev);
	if (index == PATH_NO_EV)
		return -ENOENT;
	static const enum ev_state shown[] = {
		[PATH_GOOD] = EV_GOOD,
		[PATH_SKIP] = EV_GOOD,
		[PATH_ASSUMED_BAD] = EV_ASSUMED_BAD,
		[PATH_DENIED] = EV_DENIED,
	};
	*ret = shown[path_state(&qp->path, index)];
	return 0;
}

int endpoint_ev(const struct endpoint *endpoint, uint32_t qpn, uint32_t index, uint32_t *ret)
{
	const struct qp *qp = qpn < endpoint->qp_max ? endpoint_qp(endpoint, qpn) : NULL;
	if (!qp || !is_open(qp) || index >= endpoint->shape.universe)
		return -ENOENT;
	*ret = path_value(&qp->path, index);
	return 0;
}
