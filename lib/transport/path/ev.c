// SPDX-License-Identifier: Apache-2.0
// What an operator asks and says of entropy values while an endpoint runs, as the controller's API
// has it: by value, in three states. See path.h for what they mean.
#include "endpoint/endpoint.h"
#include "ev_slot.h"
#include "own_port.h"
#include "pair.h"

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

// The number of the EV with this value on plane `*plane`, or the next plane that has it; PATH_NO_EV
// when there is none. `only` is the one plane that is asked for, EV_ANY_PLANE: any.
static uint32_t next_pair(const struct path_set *set, uint32_t ev, uint32_t only, uint32_t *plane)
{
	for (; *plane < set->shape->planes; ++*plane) {
		if (only != EV_ANY_PLANE && only != *plane)
			continue;
		uint32_t index = pair_find(set, ev, *plane);
		if (index != PATH_NO_EV)
			return index;
	}
	return PATH_NO_EV;
}

// How many paths of open QPs these are, or -EBUSY when they are the last that one of them may use.
static int count_with(const struct endpoint *endpoint, uint32_t ev, uint32_t only)
{
	int count = 0;
	struct qp *qp;
	for (uint32_t number = 0; (qp = open_qp(endpoint, &number)) != NULL; number++) {
		uint32_t index, anew = 0;
		for (uint32_t plane = 0;
		     (index = next_pair(&qp->path, ev, only, &plane)) != PATH_NO_EV; plane++) {
			anew += path_state(&qp->path, index) != PATH_DENIED;
			count++;
		}
		if (anew > 0 && qp->path.denied + anew == qp->path.shape->universe)
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

// The profile number `number` of those that new QPs may take: NULL when it has none, or each draws.
static struct profile *profile_at(struct endpoint *endpoint, uint32_t number)
{
	struct ev_choice *choice = number == 0 ? NULL : &endpoint->choices.ev[number - 1];
	if (choice)
		return choice->is_made ? &choice->profile : NULL;
	return endpoint->shape.profile ? &endpoint->profile : NULL;
}

// The numbers that a value has in a profile, on one plane or all.
static uint32_t find_in(const struct profile *profile, uint32_t ev, uint32_t only,
			uint32_t ret_numbers[PLANES_MAX])
{
	uint32_t count = 0;
	for (uint32_t plane = 0; plane < profile->planes; plane++) {
		uint32_t number = PROFILE_NO_EV;
		if (only == EV_ANY_PLANE || only == plane)
			number = profile_find_on(profile, ev, plane);
		if (number != PROFILE_NO_EV)
			ret_numbers[count++] = number;
	}
	return count;
}

// How many paths of profiles these are, or -EBUSY when they are the last of one.
static int count_in_profiles(struct endpoint *endpoint, uint32_t ev, uint32_t only)
{
	int count = 0;
	for (uint32_t i = 0; i <= endpoint->config->ev_profiles_max; i++) {
		const struct profile *profile = profile_at(endpoint, i);
		uint32_t numbers[PLANES_MAX], anew = 0;
		uint32_t found = profile ? find_in(profile, ev, only, numbers) : 0;
		for (uint32_t at = 0; at < found; at++)
			anew += !bitmap_get(profile->denied, numbers[at]);
		if (anew > 0 && profile->denied_count + anew == profile->count)
			return -EBUSY;
		count += (int)found;
	}
	return count;
}

static void change_profiles(struct endpoint *endpoint, uint32_t ev, uint32_t only, bool is_denied)
{
	for (uint32_t i = 0; i <= endpoint->config->ev_profiles_max; i++) {
		struct profile *profile = profile_at(endpoint, i);
		uint32_t numbers[PLANES_MAX];
		uint32_t found = profile ? find_in(profile, ev, only, numbers) : 0;
		for (uint32_t at = 0; at < found; at++)
			if (is_denied)
				profile_deny(profile, numbers[at]);
			else
				profile_allow(profile, numbers[at]);
	}
}

static void change_qps(struct endpoint *endpoint, uint32_t ev, uint32_t only, bool is_denied)
{
	struct qp *qp;
	for (uint32_t number = 0; (qp = open_qp(endpoint, &number)) != NULL; number++) {
		uint32_t index;
		for (uint32_t plane = 0;
		     (index = next_pair(&qp->path, ev, only, &plane)) != PATH_NO_EV; plane++) {
			if (is_denied)
				path_deny(&qp->path, index);
			else
				path_allow(&qp->path, index);
			touch(endpoint, qp);
		}
	}
}

int endpoint_path_deny(struct endpoint *endpoint, uint32_t ev, uint32_t plane)
{
	if (endpoint->shape.policy != PATH_MRC)
		return -EOPNOTSUPP;
	int in_qps = count_with(endpoint, ev, plane);
	if (in_qps < 0)
		return in_qps;
	int in_profiles = count_in_profiles(endpoint, ev, plane);
	if (in_profiles < 0)
		return in_profiles;
	if (in_qps + in_profiles == 0)
		return -ENOENT;
	change_profiles(endpoint, ev, plane, true);
	change_qps(endpoint, ev, plane, true);
	own_port_on_deny(endpoint);
	return 0;
}

int endpoint_path_allow(struct endpoint *endpoint, uint32_t ev, uint32_t plane)
{
	if (endpoint->shape.policy != PATH_MRC)
		return -EOPNOTSUPP;
	uint32_t numbers[PLANES_MAX], found = 0, at = 0, qps = 0;
	for (uint32_t i = 0; i <= endpoint->config->ev_profiles_max; i++) {
		const struct profile *profile = profile_at(endpoint, i);
		found += profile ? find_in(profile, ev, plane, numbers) : 0;
	}
	for (struct qp *qp; (qp = open_qp(endpoint, &at)) != NULL; at++) {
		uint32_t first = 0;
		qps += next_pair(&qp->path, ev, plane, &first) != PATH_NO_EV;
	}
	change_profiles(endpoint, ev, plane, false);
	change_qps(endpoint, ev, plane, false);
	return found + qps > 0 ? 0 : -ENOENT;
}

// Whether the numbers have places in the rotation.
static bool are_active(const struct path_shape *shape, const uint16_t *numbers, uint32_t count)
{
	uint32_t active = ev_slot_count(shape);
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
	if (!qp || !is_open(qp) || !are_active(qp->path.shape, numbers, count))
		return -ENOENT;
	ev_slot_keep(&qp->path, numbers, count);
	return 0;
}

int endpoint_ev_deny(struct endpoint *endpoint, uint32_t ev)
{
	return endpoint_path_deny(endpoint, ev, EV_ANY_PLANE);
}

int endpoint_ev_allow(struct endpoint *endpoint, uint32_t ev)
{
	return endpoint_path_allow(endpoint, ev, EV_ANY_PLANE);
}

int endpoint_path_state(const struct endpoint *endpoint, uint32_t qpn, uint32_t ev, uint32_t plane,
			enum ev_state *ret)
{
	static const enum ev_state shown[] = {
		[PATH_GOOD] = EV_GOOD,
		[PATH_SKIP] = EV_GOOD,
		[PATH_ASSUMED_BAD] = EV_ASSUMED_BAD,
		[PATH_DENIED] = EV_DENIED,
	};
	const struct qp *qp = qpn < endpoint->qp_max ? endpoint_qp(endpoint, qpn) : NULL;
	if (!qp || !is_open(qp))
		return -ENOENT;
	uint32_t index, count = 0;
	enum ev_state best = EV_DENIED;
	for (uint32_t at = 0; (index = next_pair(&qp->path, ev, plane, &at)) != PATH_NO_EV; at++) {
		enum ev_state state = shown[path_state(&qp->path, index)];
		best = state < best ? state : best;
		count++;
	}
	if (count == 0)
		return -ENOENT;
	*ret = best;
	return 0;
}

int endpoint_ev_state(const struct endpoint *endpoint, uint32_t qpn, uint32_t ev,
		      enum ev_state *ret)
{
	return endpoint_path_state(endpoint, qpn, ev, EV_ANY_PLANE, ret);
}

int endpoint_ev(const struct endpoint *endpoint, uint32_t qpn, uint32_t index, uint32_t *ret)
{
	const struct qp *qp = qpn < endpoint->qp_max ? endpoint_qp(endpoint, qpn) : NULL;
	if (!qp || !is_open(qp) || index >= qp->path.shape->universe)
		return -ENOENT;
	*ret = path_value(&qp->path, index);
	return 0;
}
