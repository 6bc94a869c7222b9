// SPDX-License-Identifier: Apache-2.0
// What NICs tell each other of ports that are down. A request is made when
// a line that is up takes it, so it always tells what holds then. See status.h.
#include "status.h"

#include "control_path.h"
#include "endpoint/control.h"
#include "mrc/loss.h"

// Requests travel over paths that overtake each other, and are repeated: one whose id is so little
// behind the newest is an old one. Further behind it is of a NIC that counts anew.
#define OLD_IDS 64u

static uint32_t all_ports(const struct endpoint *endpoint)
{
	return (UINT32_C(1) << endpoint->shape.planes) - 1;
}

// ---------------------------------------------------------------- who is to be informed

void status_refresh(struct endpoint *endpoint)
{
	endpoint->is_untold = endpoint->shape.ports_down != 0 || endpoint->words != 0;
	endpoint->has_port_work = endpoint->shape.ports_down != 0 || endpoint->ask_head != 0;
}

static void enqueue(struct endpoint *endpoint, struct peer *peer)
{
	if (peer->is_queued)
		return;
	peer->is_queued = true;
	peer->ask_next = endpoint->ask_head;
	endpoint->ask_head = peers_index(&endpoint->peers, peer) + 1;
	endpoint->work++;
	endpoint->has_port_work = true;
}

void status_touch(struct endpoint *endpoint, struct qp *qp)
{
	struct peer *peer = &endpoint->peers.peers[endpoint->records[qp->number].peer - 1];
	if (peer->word != endpoint->shape.ports_down && !status_has_no_port(endpoint))
		enqueue(endpoint, peer);
}

// ---------------------------------------------------------------- peers

// Takes a peer off the list of those to be informed.
static void unqueue(struct endpoint *endpoint, struct peer *peer)
{
	if (!peer->is_queued)
		return;
	uint32_t *link = &endpoint->ask_head;
	while (*link != peers_index(&endpoint->peers, peer) + 1)
		link = &endpoint->peers.peers[*link - 1].ask_next;
	*link = peer->ask_next;
	peer->is_queued = false;
	endpoint->work--;
}

static void set_word(struct endpoint *endpoint, struct peer *peer, uint32_t word)
{
	endpoint->words += (word != 0) - (peer->word != 0);
	peer->word = word;
}

// Makes room for a peer where there is one that no QP leads to any more. There must be, for there
// are as many places as QPs.
static struct peer *replace_one(struct endpoint *endpoint, uint32_t nic)
{
	struct peers *peers = &endpoint->peers;
	struct peer *peer = peers->peers;
	while (peer->first_qp != 0)
		peer++;
	check(peer < peers->peers + peers->count);
	set_word(endpoint, peer, 0);
	heap_remove(&endpoint->timers, status_timer_key(peers_index(peers, peer)));
	peers_replace(peers, peer, nic);
	return peer;
}

void status_join(struct endpoint *endpoint, uint32_t number)
{
	struct qp_record *record = &endpoint->records[number];
	struct peer *peer = peers_find(&endpoint->peers, record->remote_nic);
	if (!peer)
		peer = peers_are_full(&endpoint->peers)
			? replace_one(endpoint, record->remote_nic)
			: peers_add(&endpoint->peers, record->remote_nic);
	record->peer = peers_index(&endpoint->peers, peer) + 1;
	record->peer_prev = 0;
	record->peer_next = peer->first_qp;
	if (peer->first_qp != 0)
		endpoint->records[peer->first_qp - 1].peer_prev = number + 1;
	peer->first_qp = number + 1;
	peer->has_heard = false; // it may have begun anew, and count so
	struct qp *qp = endpoint_qp(endpoint, number);
	if (qp)
		qp->path.peer_down = peer->down;
	status_refresh(endpoint);
}

// What a NIC and this one knew of each other is not certain any more when no QP joins them.
static void part(struct endpoint *endpoint, struct peer *peer)
{
	unqueue(endpoint, peer);
	if (peer->word != 0 || peer->is_out)
		set_word(endpoint, peer, WORD_UNKNOWN);
	peer->is_out = false;
	peer->down = 0;
}

void status_leave(struct endpoint *endpoint, uint32_t number)
{
	struct qp_record *record = &endpoint->records[number];
	struct peer *peer = &endpoint->peers.peers[record->peer - 1];
	if (record->peer_prev != 0)
		endpoint->records[record->peer_prev - 1].peer_next = record->peer_next;
	else
		peer->first_qp = record->peer_next;
	if (record->peer_next != 0)
		endpoint->records[record->peer_next - 1].peer_prev = record->peer_prev;
	record->peer = record->peer_next = record->peer_prev = 0;
	if (peer->knower == number + 1)
		peer->knower = 0;
	if (peer->first_qp == 0)
		part(endpoint, peer);
	status_refresh(endpoint);
}

void status_renew(struct endpoint *endpoint, const struct peer *peer, uint32_t planes, ps_t now)
{
	for (uint32_t next = peer->first_qp; next != 0;) {
		struct qp *qp = endpoint_qp(endpoint, next - 1);
		next = endpoint->records[next - 1].peer_next;
		for (uint32_t rest = qp ? planes : 0; rest != 0; rest &= rest - 1)
			path_renew(&qp->path, (uint32_t)__builtin_ctz(rest), now);
	}
}

// ---------------------------------------------------------------- telling

// Whether the peer is informed anew, or once more.
static bool is_due(const struct endpoint *endpoint, const struct peer *peer, ps_t now)
{
	return peer->word != endpoint->shape.ports_down ||
		(peer->is_out && now >= peer->deadline_ps);
}

// Whether a request to the peer may take a plane that is up here: none is better.
static bool is_way(const struct endpoint *endpoint, const struct peer *peer, uint32_t plane)
{
	return control_path_plane(endpoint, peer, plane) == plane;
}

// Whether any port leads to the peer: else a request would wait for as long as none does, and keep
// its NIC awake.
static bool has_way(const struct endpoint *endpoint, const struct peer *peer)
{
	for (uint32_t plane = 0; plane < endpoint->shape.planes; plane++)
		if (!status_is_down(endpoint, plane) && is_way(endpoint, peer, plane))
			return true;
	return false;
}

// The peer may have missed the last request; it is informed when there is a path again.
static void give_up(struct endpoint *endpoint, struct peer *peer)
{
	unqueue(endpoint, peer);
	peer->is_out = false;
	set_word(endpoint, peer, WORD_UNKNOWN);
	status_refresh(endpoint);
}

void status_on_failure(struct endpoint *endpoint, const struct qp *qp)
{
	uint32_t number = endpoint->records[qp->number].peer;
	if (number == 0) // ports are not spoken of
		return;
	struct peer *peer = &endpoint->peers.peers[number - 1];
	if (peer->is_queued && !has_way(endpoint, peer))
		give_up(endpoint, peer);
}

// Takes the next peer that is to be informed by `plane` off the list; NULL when there is none.
static struct peer *dequeue(struct endpoint *endpoint, uint32_t plane, ps_t now)
{
	for (uint32_t *link = &endpoint->ask_head; *link != 0;) {
		struct peer *peer = &endpoint->peers.peers[*link - 1];
		bool is_still_due = is_due(endpoint, peer, now);
		if (is_still_due && !is_way(endpoint, peer, plane)) {
			link = &peer->ask_next;
			continue;
		}
		*link = peer->ask_next;
		peer->is_queued = false;
		endpoint->work--;
		if (is_still_due)
			return peer;
	}
	return NULL;
}

// Notes what a peer is sent, and how long its answer is waited for.
static void note_word(struct endpoint *endpoint, struct peer *peer, ps_t now)
{
	uint32_t down = endpoint->shape.ports_down;
	if (!peer->is_out || peer->word != down) { // not a repetition
		peer->has_all_ids |= ++peer->request_id == 0;
		peer->tries = 0;
	}
	set_word(endpoint, peer, down);
	peer->is_out = true;
	peer->deadline_ps = now + ((ps_t)loss_wait(endpoint, peer->tries) << SENT_SHIFT);
	if (!peer->has_timer)
		heap_push(&endpoint->timers, peer->deadline_ps,
			  status_timer_key(peers_index(&endpoint->peers, peer)));
	peer->has_timer = true;
}

// What requests and responses to a peer have in common.
static struct packet packet_to(const struct endpoint *endpoint, const struct peer *peer,
			       uint32_t plane)
{
	return (struct packet){
		.source = endpoint->nic,
		.target = peer->nic,
		.ev = control_path_ev(endpoint, peer, plane),
		.wire_bytes = (uint16_t)endpoint->config->control_bytes,
		.klass = PACKET_CLASS_CONTROL,
		.plane = (uint8_t)plane,
		.qpn = PACKET_ENDPOINT_QPN,
	};
}

static void describe(struct endpoint *endpoint, const struct peer *peer, uint32_t plane, ps_t now,
		     struct packet *packet)
{
	*packet = packet_to(endpoint, peer, plane);
	packet->opcode = PACKET_ENDPOINT_REQUEST;
	packet->timestamp = (uint16_t)(now / TIMESTAMP_PS);
	packet->psn = peer->request_id;
	packet->u.request.port_status_mask = all_ports(endpoint) & ~peer->word;
	packet->u.request.op = PACKET_REQUEST_PORT_STATUS;
}

uint32_t status_next(struct endpoint *endpoint, uint32_t plane, ps_t now, struct outbox *out)
{
	if (endpoint->ask_head == 0)
		return PACKET_NONE;
	uint32_t index = packet_get(out->packets);
	if (index == PACKET_NONE) {
		out->limit = OUTBOX_NO_PACKET;
		return PACKET_NONE;
	}
	struct peer *peer = dequeue(endpoint, plane, now);
	if (!peer) {
		packet_put(out->packets, index);
		index = PACKET_NONE;
	} else {
		note_word(endpoint, peer, now);
		describe(endpoint, peer, plane, now, packet_at(out->packets, index));
		endpoint->counters.requests_sent++;
	}
	status_refresh(endpoint);
	return index;
}

// ---------------------------------------------------------------- being informed

// Whether a NIC can say this of its ports: it has them, and the one that it says it by is up.
static bool is_possible(const struct endpoint *endpoint, const struct packet *packet)
{
	uint32_t up = packet->u.request.port_status_mask;
	return (up & ~all_ports(endpoint)) == 0 && (up >> packet->plane & 1);
}

static bool is_old(const struct peer *peer, uint16_t id)
{
	uint16_t behind = (uint16_t)(peer->heard_id - id);
	return peer->has_heard && behind > 0 && behind < OLD_IDS;
}

// What a peer says of its ports holds for every QP that leads there.
static void believe(struct endpoint *endpoint, struct peer *peer, const struct packet *packet,
		    ps_t now)
{
	uint32_t down = all_ports(endpoint) & ~packet->u.request.port_status_mask;
	uint32_t back = peer->down & ~down;
	peer->has_heard = true;
	peer->heard_id = (uint16_t)packet->psn;
	peer->down = down;
	for (uint32_t next = peer->first_qp; next != 0;) {
		struct qp *qp = endpoint_qp(endpoint, next - 1);
		next = endpoint->records[next - 1].peer_next;
		if (qp)
			qp->path.peer_down = down;
	}
	status_renew(endpoint, peer, back, now);
}

// Turns a request into its response, which goes back the way it came.
static void respond(struct endpoint *endpoint, const struct peer *peer, uint32_t index,
		    struct outbox *out)
{
	struct packet *packet = packet_at(out->packets, index);
	struct packet response = packet_to(endpoint, peer,
					   control_path_plane(endpoint, peer, packet->plane));
	response.opcode = PACKET_ENDPOINT_RESPONSE;
	response.timestamp = packet->timestamp;
	response.psn = packet->psn & PACKET_REQUEST_ID_MASK;
	response.u.response.op = packet->u.request.op;
	*packet = response;
	endpoint->counters.responses_sent++;
	control_send(endpoint, index, out);
}

static void on_request(struct endpoint *endpoint, struct peer *peer, uint32_t index, ps_t now,
		       struct outbox *out)
{
	const struct packet *packet = packet_at(out->packets, index);
	bool is_status = packet->u.request.op == PACKET_REQUEST_PORT_STATUS;
	if (is_status ? !is_possible(endpoint, packet)
		      : packet->u.request.op != PACKET_REQUEST_EV_PROBE) {
		endpoint->counters.refused[REFUSED_REQUEST]++;
		packet_put(out->packets, index);
		return;
	}
	endpoint->counters.requests_received++;
	if (is_status && !is_old(peer, (uint16_t)packet->psn))
		believe(endpoint, peer, packet, now);
	respond(endpoint, peer, index, out);
}

// Whether a request of that id was sent lately. The answer to one that was repeated, or that a
// newer one has followed, is nothing wrong.
static bool is_answer(const struct peer *peer, uint16_t id)
{
	uint16_t behind = (uint16_t)(peer->request_id - id);
	return behind < OLD_IDS && (peer->has_all_ids || behind < peer->request_id);
}

// It is known by the id alone: readers disagree where the operation stands.
static void on_response(struct endpoint *endpoint, struct peer *peer, const struct packet *packet)
{
	uint16_t id = (uint16_t)packet->psn;
	if (!is_answer(peer, id)) {
		endpoint->counters.refused[REFUSED_RESPONSE]++;
		return;
	}
	endpoint->counters.responses_received++;
	if (id == peer->request_id)
		peer->is_out = false;
}

void status_receive(struct endpoint *endpoint, uint32_t index, ps_t now, struct outbox *out)
{
	const struct packet *packet = packet_at(out->packets, index);
	struct peer *peer = NULL;
	if (packet->qpn == PACKET_ENDPOINT_QPN && packet->plane < endpoint->shape.planes)
		peer = peers_find(&endpoint->peers, packet->source);
	if (peer && peer->first_qp == 0)
		peer = NULL;
	if (peer && packet->opcode == PACKET_ENDPOINT_REQUEST) {
		on_request(endpoint, peer, index, now, out);
		return;
	}
	if (peer)
		on_response(endpoint, peer, packet);
	else
		endpoint->counters.no_qp++;
	packet_put(out->packets, index);
}

// ---------------------------------------------------------------- timers

void status_on_time(struct endpoint *endpoint, uint32_t id, ps_t now)
{
	const struct transport_config *config = endpoint->config;
	struct peer *peer = &endpoint->peers.peers[id];
	peer->has_timer = false;
	if (!peer->is_out)
		return;
	if (now < peer->deadline_ps) { // of an earlier request
		peer->has_timer = true;
		heap_push(&endpoint->timers, peer->deadline_ps, status_timer_key(id));
	} else if (!has_way(endpoint, peer)) {
		give_up(endpoint, peer);
	} else if (++peer->tries < config->rto_linear + config->rto_doublings) {
		enqueue(endpoint, peer);
	} else {
		peer->is_out = false;
		endpoint->counters.requests_lost++;
	}
}
