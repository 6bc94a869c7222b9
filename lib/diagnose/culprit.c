// SPDX-License-Identifier: Apache-2.0
// First each link, NIC, switch and host is held against what it should be or what its like are;
// then those that stand out together are put down to the smallest place that has them all.

#include "culprit.h"
#include "culprit_location.h"
#include <weft/core/order.h>
#include <weft/host/qps.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE_LEAST 0.98	       // of a line's rate; below it is slow
#define PACKETS_LEAST 16u      // on a line that is judged by its rate
#define SPRAYED_LEAST 64u      // data packets of a NIC's port that is judged by its paths
#define PEERS_LEAST 4u	       // NICs or hosts, before one of them can stand out
#define SPREAD_LEAST 0.5       // of the evenness of others
#define LATE_MOST 1.05	       // times what the work of others takes longer than planned
#define SILENT_MOST 0.02       // of the mean over the ports of a NIC
#define WAITED_LEAST PS_PER_US // a host takes at once what comes
#define HARMED_LEAST (LINK_SPREAD_CELLS / 2) // lost packets: each may cost a NIC one path
#define OWN_EVS "flows have entropy values of their own"

// ---------------------------------------------------------------- what stands out on links

static const struct link_plan *link_of(const struct culprit_search *search, uint32_t link)
{
	return &search->world->topology.links[link];
}

static const struct link_count *count_of(const struct culprit_search *search, uint32_t link,
					 uint32_t direction)
{
	return &search->world->links.counts[2 * link + direction];
}

static double at_rate_ps(uint64_t bytes, const struct link_plan *link)
{
	return (double)bytes * 8 * (double)PS_PER_S / (double)link->rate_bps;
}

// How long a line took for its packets.
static double taken_ps(const struct link_count *count, const struct link_plan *link)
{
	return (double)count->slow_ps + at_rate_ps(count->bytes - count->slow_bytes, link);
}

// What is left of the rate of a line.
static double rate_left(const struct link_count *count, const struct link_plan *link)
{
	return count->bytes > 0 ? at_rate_ps(count->bytes, link) / taken_ps(count, link) : 1;
}

static bool stands_out(const struct link_count *count, const struct link_plan *link,
		       enum culprit_finding finding)
{
	switch (finding) {
	case CULPRIT_DOWN:
		return count->lost_down > 0;
	case CULPRIT_LOSSY:
		return count->lost_random + count->damaged > 0;
	case CULPRIT_TWICE:
		return count->doubled > 0;
	case CULPRIT_ORDER:
		return count->held_back > 0;
	default:
		return count->packets >= PACKETS_LEAST && rate_left(count, link) < RATE_LEAST;
	}
}

static void mark_links(struct culprit_search *search, enum culprit_finding finding)
{
	for (uint32_t i = 0; i < search->world->topology.link_count; i++) {
		struct culprit_mark *mark = &search->marks[i];
		*mark = (struct culprit_mark){0};
		for (uint32_t direction = 0; direction < DIRECTIONS; direction++) {
			const struct link_count *count = count_of(search, i, direction);
			mark->is_used |= count->packets > 0;
			mark->is_bad[direction] = stands_out(count, link_of(search, i), finding);
		}
	}
}

static bool has_been_down(const struct culprit_search *search, const struct link_plan *link)
{
	const struct topology *topology = &search->world->topology;
	uint32_t ports = topology->nics_per_host * topology->planes;
	return search->world->links.was_down[(size_t)link->node_a * ports + link->port_a];
}

// A port with light may carry nothing as the port of everyone that it talks to is dead: those
// without are to blame, if there are any in its plane.
static void pardon_lit(struct culprit_search *search)
{
	const struct topology *topology = &search->world->topology;
	bool has_down[PLANES_MAX] = {false};
	for (uint32_t i = 0; i < topology->link_count; i++)
		has_down[link_of(search, i)->plane] |= mark_is_bad(&search->marks[i]) &&
			search->marks[i].is_down;
	for (uint32_t i = 0; i < topology->link_count; i++) {
		struct culprit_mark *mark = &search->marks[i];
		if (has_down[link_of(search, i)->plane] && !mark->is_down)
			mark->is_bad[0] = mark->is_bad[1] = false;
	}
}

// Ports of NICs that carry nothing, while the NIC's others do: on both ways.
static void mark_silent(struct culprit_search *search)
{
	const struct topology *topology = &search->world->topology;
	uint64_t *sums = calloc(topology->nics, sizeof(*sums));
	memset(search->marks, 0, topology->link_count * sizeof(*search->marks));
	for (uint32_t i = 0; sums != NULL && i < topology->link_count; i++)
		if (link_of(search, i)->tier == 0)
			sums[culprit_nic_of(search->world, link_of(search, i))] +=
				count_of(search, i, 0)->packets + count_of(search, i, 1)->packets;
	for (uint32_t i = 0; sums != NULL && i < topology->link_count; i++) {
		const struct link_plan *link = link_of(search, i);
		uint64_t sum = link->tier == 0 ? sums[culprit_nic_of(search->world, link)] : 0;
		const struct link_count *up = count_of(search, i, 0),
					*down = count_of(search, i, 1);
		double mean = (double)sum / topology->planes;
		struct culprit_mark *mark = &search->marks[i];
		mark->is_used = mean >= SPRAYED_LEAST;
		mark->is_bad[0] = mark->is_bad[1] = mark->is_used &&
			up->lost_down + down->lost_down == 0 &&
			(double)(up->packets + down->packets) < SILENT_MOST * mean;
		mark->is_down = link->tier == 0 && has_been_down(search, link);
	}
	pardon_lit(search);
	free(sums);
}

// ---------------------------------------------------------------- paths of NICs

static double median(double *values, uint32_t count)
{
	qsort(values, count, sizeof(*values), order_double);
	return count == 0 ? 0 : values[count / 2];
}

// Jain's index of the cells of a port: 1 when its packets go by all of them alike. Below zero when
// there are too few packets to tell.
static double evenness(const uint32_t cells[LINK_SPREAD_CELLS])
{
	double sum = 0, squares = 0;
	for (uint32_t i = 0; i < LINK_SPREAD_CELLS; i++) {
		sum += cells[i];
		squares += (double)cells[i] * cells[i];
	}
	return sum < SPRAYED_LEAST ? -1 : sum * sum / (LINK_SPREAD_CELLS * squares);
}

// Mean over the ports of a NIC that have packets enough; below zero: none has.
static double nic_evenness(const struct world *world, uint32_t nic)
{
	uint32_t planes = world->topology.planes, count = 0;
	double sum = 0;
	for (uint32_t plane = 0; plane < planes; plane++) {
		double value = evenness(world->links.spread[(size_t)nic * planes + plane]);
		sum += value < 0 ? 0 : value;
		count += value >= 0;
	}
	return count == 0 ? -1 : sum / count;
}

// A connection gives up paths on which packets get lost. Whose ports lost many have few left, and
// so have those that talk to them: the ports are named for that.
static bool *harmed_nics(const struct culprit_search *search)
{
	const struct topology *topology = &search->world->topology;
	uint64_t *lost = calloc(topology->nics, sizeof(*lost));
	bool *harmed = calloc(topology->nics, sizeof(*harmed));
	for (uint32_t i = 0; lost != NULL && harmed != NULL && i < topology->link_count; i++) {
		if (link_of(search, i)->tier > 0)
			continue;
		uint32_t nic = culprit_nic_of(search->world, link_of(search, i));
		for (uint32_t direction = 0; direction < DIRECTIONS; direction++) {
			const struct link_count *count = count_of(search, i, direction);
			lost[nic] += count->lost_down + count->lost_random + count->damaged;
		}
		harmed[nic] = lost[nic] >= HARMED_LEAST;
	}
	free(lost);
	return harmed;
}

// At least half of the QPs of a NIC end at such NICs.
static bool talks_to_harmed(const struct world *world, const bool *harmed, uint32_t nic)
{
	const struct world_host *host = world->hosts[nic / world->topology.nics_per_host];
	uint32_t to_harmed = 0, count = 0;
	struct host_qp qp;
	for (uint32_t i = 0; host_qp(host, i, &qp); i++) {
		if (qp.nic != nic)
			continue;
		to_harmed += harmed[qp.remote_nic];
		count++;
	}
	return count > 0 && 2 * to_harmed >= count;
}

static void pardon_harmed(struct culprit_search *search)
{
	bool *harmed = harmed_nics(search);
	for (uint32_t i = 0; harmed != NULL && i < search->world->topology.link_count; i++) {
		if (!mark_is_bad(&search->marks[i]))
			continue;
		uint32_t nic = culprit_nic_of(search->world, link_of(search, i));
		if (harmed[nic] || talks_to_harmed(search->world, harmed, nic))
			search->marks[i].is_bad[0] = false;
	}
	free(harmed);
}

// Returns the evenness of a NIC in the middle; below zero: too few to compare.
static double mark_evs(struct culprit_search *search, uint32_t *ret_nics)
{
	const struct topology *topology = &search->world->topology;
	uint32_t count = 0;
	memset(search->marks, 0, topology->link_count * sizeof(*search->marks));
	for (uint32_t nic = 0; nic < topology->nics; nic++) {
		double value = nic_evenness(search->world, nic);
		if (value >= 0)
			search->values[count++] = value;
	}
	*ret_nics = count;
	double middle = median(search->values, count);
	if (count < PEERS_LEAST)
		return -1;
	for (uint32_t i = 0; i < topology->link_count; i++) {
		const struct link_plan *link = link_of(search, i);
		double value = link->tier == 0
			? nic_evenness(search->world, culprit_nic_of(search->world, link))
			: -1;
		search->marks[i].is_used = value >= 0;
		search->marks[i].is_bad[0] = value >= 0 && value < SPREAD_LEAST * middle;
	}
	pardon_harmed(search);
	return middle;
}

// ---------------------------------------------------------------- what a culprit came to

// Packets of a cable to which happened what is found, and when first.
static uint64_t hit_of(const struct link_count *count, enum culprit_finding finding,
		       ps_t *ret_since_ps)
{
	bool is_odd = finding == CULPRIT_TWICE || finding == CULPRIT_ORDER;
	*ret_since_ps = is_odd ? count->first_odd_ps : count->first_lost_ps;
	switch (finding) {
	case CULPRIT_DOWN:
		return count->lost_down;
	case CULPRIT_TWICE:
		return count->doubled;
	case CULPRIT_ORDER:
		return count->held_back;
	default:
		return count->lost_random + count->damaged;
	}
}

// Sums what the links of the place measured, those that stand out.
static void sum_up(const struct culprit_search *search, uint32_t place, struct culprit *culprit)
{
	double nominal = 0, busy = 0;
	bool is_down = true;
	culprit->since_ps = PS_NEVER;
	for (uint32_t i = 0; i < search->world->topology.link_count; i++) {
		const struct culprit_mark *mark = &search->marks[i];
		if (!mark_is_bad(mark) || !culprit_search_holds(search, place, i))
			continue;
		is_down &= mark->is_down;
		culprit->up |= mark->is_bad[0];
		culprit->down |= mark->is_bad[1];
		for (uint32_t direction = 0; direction < DIRECTIONS; direction++) {
			const struct link_count *count = count_of(search, i, direction);
			if (!mark->is_bad[direction])
				continue;
			ps_t since;
			culprit->packets += count->packets;
			culprit->lost += hit_of(count, culprit->finding, &since);
			if (count->downs > culprit->downs)
				culprit->downs = count->downs;
			culprit->since_ps = ps_min(culprit->since_ps, since);
			culprit->longest_ps = ps_max(culprit->longest_ps, count->held_max_ps);
			busy += taken_ps(count, link_of(search, i));
			nominal += at_rate_ps(count->bytes, link_of(search, i));
		}
	}
	if (search->world->transport.port_status)
		culprit->link_state = is_down ? LINK_STATE_DOWN : LINK_STATE_UP;
	if (culprit->finding == CULPRIT_SLOW) {
		culprit->expected = 1;
		culprit->measured = busy > 0 ? nominal / busy : 0;
	} else if (culprit->finding != CULPRIT_EVS) {
		culprit->measured = culprit->packets > 0
			? (double)culprit->lost / (double)culprit->packets
			: 0;
	}
}

static void forget(struct culprit_search *search, uint32_t place)
{
	for (uint32_t i = 0; i < search->world->topology.link_count; i++)
		if (mark_is_bad(&search->marks[i]) && culprit_search_holds(search, place, i))
			search->marks[i] = (struct culprit_mark){0};
}

// Puts the links that stand out down to places, one after the other.
static void put_down(struct culprit_search *search, struct culprits *culprits,
		     enum culprit_finding finding, double expected)
{
	while (culprit_search_count(search) > 0) {
		struct culprit *culprit = culprit_add(culprits, finding);
		if (culprit == NULL)
			return;
		uint32_t place = culprit_search_best(search);
		culprit_search_name(search, place, culprit);
		culprit->expected = expected;
		sum_up(search, place, culprit);
		if (finding == CULPRIT_EVS) {
			uint32_t nic = culprit->index;
			if (culprit->place == CULPRIT_HOST)
				nic *= search->world->topology.nics_per_host;
			culprit->measured = culprit->place <= CULPRIT_HOST
				? nic_evenness(search->world, nic)
				: 0;
		}
		forget(search, place);
	}
}

// ---------------------------------------------------------------- hosts

static double longer(const struct work_count *work)
{
	return work->planned_ps > 0 ? (double)work->taken_ps / (double)work->planned_ps : -1;
}

static void find_late(struct culprit_search *search, struct culprits *culprits)
{
	const struct world *world = search->world;
	uint32_t count = 0;
	for (uint32_t i = 0; i < world->topology.hosts; i++)
		if (longer(&world->links.work[i]) >= 0)
			search->values[count++] = longer(&world->links.work[i]);
	culprits->hosts = count;
	double middle = median(search->values, count);
	if (count < PEERS_LEAST) {
		culprits->reason[CULPRIT_LATE] = "too few hosts have work of their own";
		return;
	}
	for (uint32_t i = 0; i < world->topology.hosts; i++) {
		double value = longer(&world->links.work[i]);
		struct culprit *culprit = value > LATE_MOST * middle
			? culprit_add(culprits, CULPRIT_LATE)
			: NULL;
		if (culprit == NULL)
			continue;
		culprit->place = CULPRIT_HOST;
		culprit->index = i;
		culprit->measured = value;
		culprit->expected = middle;
	}
}

static void find_stalled(struct culprits *culprits, const struct world *world)
{
	for (uint32_t i = 0; i < world->topology.hosts; i++) {
		const struct work_count *work = &world->links.work[i];
		if (work->waited == 0 || work->waited_max_ps < WAITED_LEAST)
			continue;
		struct culprit *culprit = culprit_add(culprits, CULPRIT_STALLED);
		if (culprit == NULL)
			return;
		culprit->place = CULPRIT_HOST;
		culprit->index = i;
		culprit->measured = (double)work->waited_max_ps;
		culprit->lost = work->waited;
		culprit->since_ps = work->waited_from_ps;
		culprit->longest_ps = work->waited_max_ps;
	}
}

// ---------------------------------------------------------------- all of it

static void find_silent(struct culprit_search *search, struct culprits *culprits)
{
	const struct transport_config *transport = &search->world->transport;
	if (search->world->topology.planes == 1)
		culprits->reason[CULPRIT_SILENT] = "NICs have one port";
	else if (transport->kind != TRANSPORT_MRC || transport->path_policy == PATH_SINGLE)
		culprits->reason[CULPRIT_SILENT] = "connections do not use all planes";
	else if (search->world->scenario->flow_evs_count > 0)
		culprits->reason[CULPRIT_SILENT] = OWN_EVS;
	else {
		mark_silent(search);
		put_down(search, culprits, CULPRIT_SILENT, 0);
	}
}

// Whether the QPs of a host have fewer EVs than the scenario gives. Where many have, none stands
// out.
static bool has_few_evs(const struct world *world)
{
	// a world that was not built has no hosts
	uint32_t hosts = world->hosts != NULL ? world->topology.hosts : 0;
	for (uint32_t i = 0; i < hosts; i++) {
		uint32_t evs = 0, qps = host_qps(world->hosts[i]), none;
		for (uint32_t qp = 0; qp < qps && evs == 0; qp++) // one without a context has none
			evs = host_evs(world->hosts[i], qp, 0, NULL, 0, &none);
		if (evs > 0 && evs < ev_universe(&world->transport))
			return true;
	}
	return false;
}

static void find_evs(struct culprit_search *search, struct culprits *culprits)
{
	uint32_t before = culprits->count;
	if (search->world->transport.kind != TRANSPORT_MRC ||
	    search->world->transport.path_policy == PATH_SINGLE) {
		culprits->reason[CULPRIT_EVS] = "connections have one path";
		return;
	}
	if (search->world->scenario->flow_evs_count > 0) {
		culprits->reason[CULPRIT_EVS] = OWN_EVS;
		return;
	}
	double middle = mark_evs(search, &culprits->nics);
	search->prefers_host = true;
	if (middle < 0)
		culprits->reason[CULPRIT_EVS] = "too few NICs sent packets enough";
	else
		put_down(search, culprits, CULPRIT_EVS, middle);
	search->prefers_host = false;
	if (culprits->count == before && has_few_evs(search->world))
		culprits->reason[CULPRIT_EVS] =
			"cannot be judged: connections have fewer entropy values than "
			"transport.evs, and no NIC stands out by its packets";
}

// Of one finding those that cost more come first: what is left of a rate, or is lost of packets.
static double cost_of(const struct culprit *culprit)
{
	switch (culprit->finding) {
	case CULPRIT_SLOW:
	case CULPRIT_EVS:
		return 1 - culprit->measured;
	case CULPRIT_LATE:
		return culprit->measured;
	default:
		return (double)culprit->lost;
	}
}

static int by_cost(const void *a, const void *b)
{
	const struct culprit *left = a, *right = b;
	if (left->finding != right->finding)
		return left->finding < right->finding ? -1 : 1;
	double more = cost_of(right) - cost_of(left);
	return (more > 0) - (more < 0);
}

int culprits_find(struct culprits *ret, const struct world *world)
{
	static const enum culprit_finding of_links[] = {CULPRIT_DOWN, CULPRIT_LOSSY, CULPRIT_TWICE,
							CULPRIT_ORDER, CULPRIT_SLOW};
	struct culprit_search search = {0};
	*ret = (struct culprits){0};
	int rc = culprit_search_init(&search, world);
	for (uint32_t i = 0; rc == 0 && i < world->topology.link_count; i++)
		ret->links += count_of(&search, i, 0)->packets + count_of(&search, i, 1)->packets >
			0;
	for (size_t i = 0; rc == 0 && i < sizeof(of_links) / sizeof(*of_links); i++) {
		mark_links(&search, of_links[i]);
		put_down(&search, ret, of_links[i], 0);
	}
	if (rc == 0) {
		find_silent(&search, ret);
		find_evs(&search, ret);
		find_stalled(ret, world);
		culprit_find_ecn(ret, world);
		find_late(&search, ret);
		qsort(ret->list, ret->count, sizeof(*ret->list), by_cost);
	}
	culprit_search_free(&search);
	return rc;
}
