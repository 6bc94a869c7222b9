// SPDX-License-Identifier: Apache-2.0
// What must hold between the keys of a scenario and can be said without building its world. What
// needs the topology (counts that do not divide) is refused by topology_build().

#include <stdio.h>
#include <string.h>

#include "scenario_draft.h"

// ---------------------------------------------------------------- settling

static bool is_sampled(const struct draft *draft)
{
	const struct scenario_key *keys = scenario_keys();
	for (int i = 0; keys[i].path != NULL; i++)
		if (draft->is_given[i] && strncmp(keys[i].path, "sample.", 7) == 0)
			return true;
	return false;
}

// RC has one path per QP and no trimming. Keys that ask for something else have no effect there
// (scenario_use.c); here go their defaults, which are MRC's.
static void settle_rc(struct scenario *scenario)
{
	scenario->transport.path_policy = PATH_SINGLE;
	scenario->fabric.trim_on = false;
}

// As scenarios say it 0 is 0 and the highest number is auto; a configuration has it the other way.
static void settle_knobs(struct cc_config *cc)
{
	uint32_t *const knobs[] = {&cc->eta_bytes, &cc->fi_bytes, &cc->qa_gate};
	for (size_t i = 0; i < sizeof(knobs) / sizeof(*knobs); i++)
		*knobs[i] = *knobs[i] == UINT32_MAX ? 0 : *knobs[i] == 0 ? CC_ZERO : *knobs[i];
	if (cc->fi_scale_ppb == UINT64_MAX)
		cc->fi_scale_ppb = 0;
	else if (cc->fi_scale_ppb == 0)
		cc->fi_scale_ppb = CC_ZERO_PPB;
}

// Whether trimming was asked for beside `path`, which excludes it: in the file both, or by an
// assignment.
static bool is_trim_asked(const struct draft *draft, const char *path)
{
	bool is_own = draft_is_own(draft, draft_mark(draft, "queue.trim"));
	return draft->scenario->fabric.trim_on && draft_is_given(draft, "queue.trim") &&
		(is_own || !draft_mark(draft, path).is_set);
}

void draft_settle(struct draft *draft)
{
	struct scenario *scenario = draft->scenario;
	struct fabric_config *fabric = &scenario->fabric;
	struct transport_config *transport = &scenario->transport;
	if ((uint32_t)fabric->kind == TOPOLOGY_LEAF_SPINE)
		fabric->kind = TOPOLOGY_CLOS; // planes are 1 by default
	if (!scenario->has_cut_through)
		fabric->cut_bytes = 0;
	draft->is_trim_asked = is_trim_asked(draft,
					     fabric->pfc.is_on ? "queue.pfc" : "transport.kind");
	if (fabric->pfc.is_on)
		fabric->trim_on = false;
	if (transport->kind == TRANSPORT_RC)
		settle_rc(scenario);
	draft_settle_sizes(draft);
	transport->planes = fabric->planes;
	draft_settle_fabric(draft);
	draft_settle_usid(draft);
	draft_settle_srh(draft);
	fabric->mtu_bytes = transport->payload_bytes + transport->header_bytes;
	fabric->control_bytes = transport->control_bytes;
	transport->cc.mtu_bytes = fabric->mtu_bytes;
	transport->cc.payload_bytes = transport->payload_bytes;
	settle_knobs(&transport->cc);
	transport->trim_nack = transport->trim_nack && fabric->trim_on;
	transport->cc.has_trimming = transport->trim_nack; // a trim that nobody reports is a loss
	if (transport->path_policy != PATH_MRC) // a QP that spreads blindly cannot leave a plane
		transport->port_status = false;
	uint32_t jobs = scenario_use_holds(USE_JOBS, scenario) ? scenario->traffic.jobs : 1;
	if (scenario_use_holds(USE_RANKS, scenario) && scenario->traffic.ring.ranks == 0)
		scenario->traffic.ring.ranks = fabric->nics / jobs;
	scenario->traffic.has_auto_channels = scenario->traffic.ring.channels == 0;
	if (scenario->traffic.has_auto_channels)
		scenario->traffic.ring.channels = scenario_channels(scenario);
	if (is_sampled(draft))
		scenario->sample.is_on = true;
	else
		memset(&scenario->sample, 0, sizeof(scenario->sample)); // `off` took it back
}

// ---------------------------------------------------------------- figures

static bool is_power_of_two(uint32_t value)
{
	return value != 0 && (value & (value - 1)) == 0;
}

// The place of the first of two keys that was given.
static struct mark either_mark(const struct draft *draft, const char *first, const char *second)
{
	return draft_is_given(draft, first) ? draft_mark(draft, first) : draft_mark(draft, second);
}

// No switch may have to send faster than it gets. Then what each kind needs.
static int check_cut(struct draft *draft)
{
	const struct fabric_config *fabric = &draft->scenario->fabric;
	if (fabric->cut_bytes > 0 && fabric->trunk_rate_bps > 0 &&
	    fabric->trunk_rate_bps != fabric->link_rate_bps)
		return draft_refuse(draft, draft_mark(draft, "fabric.trunk_rate"),
				    "fabric.trunk_rate: with cut_through all links have one rate, "
				    "that of fabric.link_rate");
	return draft_check_kind(draft);
}

static int check_fabric(struct draft *draft)
{
	const struct fabric_config *fabric = &draft->scenario->fabric;
	if (fabric->nics % fabric->nics_per_host != 0)
		return draft_refuse(draft,
				    either_mark(draft, "fabric.nics_per_host", "fabric.nics"),
				    "fabric.nics_per_host: %u NICs cannot be cut into hosts of %u",
				    fabric->nics, fabric->nics_per_host);
	if (fabric->nics_per_host * fabric->planes > MACHINE_PORTS_MAX)
		return draft_refuse(
			draft, either_mark(draft, "fabric.nics_per_host", "fabric.planes"),
			"fabric.nics_per_host: %u NICs of %u planes; a host has at most "
			"%u ports",
			fabric->nics_per_host, fabric->planes, (uint32_t)MACHINE_PORTS_MAX);
	int rc = check_cut(draft);
	return rc == 0 ? draft_check_usid(draft) : rc;
}

// A switch makes no packet longer: were a trim to leave more than the headers, one with little
// payload would stay as it is, and trimmed packets would differ in size.
static int check_trim(struct draft *draft)
{
	const struct fabric_config *fabric = &draft->scenario->fabric;
	uint32_t header = draft->scenario->transport.header_bytes;
	if (fabric->trim_on && fabric->trim_bytes > header)
		return draft_refuse(draft,
				    either_mark(draft, "queue.trim_bytes", "transport.header"),
				    "queue.trim_bytes: %u B is above transport.header, %u B; a "
				    "trim keeps only headers",
				    fabric->trim_bytes, header);
	return 0;
}

// Turns by packets are of two, and no shares of bytes.
static int check_rounds(struct draft *draft)
{
	const struct fabric_config *fabric = &draft->scenario->fabric;
	const char *control = "queue.control_packets", *data = "queue.data_packets";
	if ((fabric->round_control == 0) != (fabric->round_data == 0))
		return draft_refuse(draft, either_mark(draft, control, data),
				    "%s and %s go together: set both, or none", control, data);
	if (fabric->round_control > 0 && fabric->control_share_ppb > 0)
		return draft_refuse(draft, draft_mark(draft, control),
				    "%s: turns by packets and queue.control_share exclude each "
				    "other",
				    control);
	return 0;
}

// It holds a packet, and alpha lets a queue begin.
static int check_shared(struct draft *draft)
{
	const struct fabric_config *fabric = &draft->scenario->fabric;
	uint64_t bytes = fabric->buffer.bytes;
	if (bytes > 0 && bytes < fabric->mtu_bytes)
		return draft_refuse(draft, draft_mark(draft, "queue.shared"),
				    "queue.shared: %llu B do not hold a full packet of %u B",
				    (unsigned long long)bytes, fabric->mtu_bytes);
	return 0;
}

// Nothing that is lossless is trimmed, and nothing of RC.
static int check_trim_asked(struct draft *draft)
{
	bool is_pfc = draft->scenario->fabric.pfc.is_on;
	if (!draft->is_trim_asked || (!is_pfc && draft->scenario->transport.kind != TRANSPORT_RC))
		return 0;
	return draft_refuse(draft, draft_mark(draft, "queue.trim"),
			    "queue.trim: true has no effect with %s",
			    is_pfc ? "queue.pfc; data are lossless then"
				   : "transport.kind rc, which knows no trimming");
}

// xon is below xoff, which holds a packet.
static int check_pfc(struct draft *draft)
{
	const struct fabric_config *fabric = &draft->scenario->fabric;
	const struct pfc_config *pfc = &fabric->pfc;
	const char *xoff = "queue.pfc_xoff", *xon = "queue.pfc_xon";
	uint64_t xoff_bytes = pfc->xoff_bytes > 0 ? pfc->xoff_bytes : fabric->queue_bytes;
	if (!pfc->is_on)
		return 0;
	if (pfc->xoff_bytes > 0 && pfc->xoff_bytes < fabric->mtu_bytes)
		return draft_refuse(draft, draft_mark(draft, xoff),
				    "%s: %llu B do not hold a full packet of %u B", xoff,
				    (unsigned long long)pfc->xoff_bytes, fabric->mtu_bytes);
	if (xoff_bytes > 0 && pfc->xon_bytes >= xoff_bytes)
		return draft_refuse(draft, either_mark(draft, xon, xoff),
				    "%s: %llu B is not below %s, %llu B", xon,
				    (unsigned long long)pfc->xon_bytes, xoff,
				    (unsigned long long)xoff_bytes);
	return 0;
}

// A port that counts the packet on its line has no other way to serve.
static int check_counts(struct draft *draft)
{
	const struct fabric_config *fabric = &draft->scenario->fabric;
	const char *other = fabric->control_share_ppb > 0 ? "queue.control_share"
		: fabric->round_control > 0		  ? "queue.control_packets"
		: fabric->cut_bytes > 0			  ? "fabric.switching: cut_through"
							  : NULL;
	if (!fabric->counts_line || other == NULL)
		return 0;
	return draft_refuse(draft, draft_mark(draft, "queue.counts"),
			    "queue.counts: line goes with control packets first and store and "
			    "forward, not with %s",
			    other);
}

static int check_queue(struct draft *draft)
{
	const struct fabric_config *fabric = &draft->scenario->fabric;
	const char *low = "queue.ecn_low";
	const char *high = "queue.ecn_high";
	if ((fabric->ecn_low_bytes == 0) != (fabric->ecn_high_bytes == 0))
		return draft_refuse(
			draft, either_mark(draft, low, high),
			"queue.ecn_low and queue.ecn_high go together: set both, or none");
	if (fabric->ecn_low_bytes > fabric->ecn_high_bytes)
		return draft_refuse(draft, draft_mark(draft, low),
				    "queue.ecn_low: %llu B is above queue.ecn_high, %llu B",
				    (unsigned long long)fabric->ecn_low_bytes,
				    (unsigned long long)fabric->ecn_high_bytes);
	if (fabric->queue_bytes != 0 && fabric->ecn_low_bytes > fabric->queue_bytes)
		return draft_refuse(draft, draft_mark(draft, low),
				    "queue.ecn_low: %llu B is never reached in a queue of %llu B",
				    (unsigned long long)fabric->ecn_low_bytes,
				    (unsigned long long)fabric->queue_bytes);
	if (fabric->queue_bytes != 0 && fabric->queue_bytes < fabric->mtu_bytes)
		return draft_refuse(draft, draft_mark(draft, "queue.bytes"),
				    "queue.bytes: %llu B do not hold a full packet of %u B",
				    (unsigned long long)fabric->queue_bytes, fabric->mtu_bytes);
	int rc = check_rounds(draft);
	if (rc == 0)
		rc = check_counts(draft);
	if (rc == 0)
		rc = check_shared(draft);
	if (rc == 0)
		rc = check_trim_asked(draft);
	if (rc == 0)
		rc = check_pfc(draft);
	return rc != 0 ? rc : check_trim(draft);
}

static int check_timer(struct draft *draft)
{
	const struct transport_config *transport = &draft->scenario->transport;
	if (transport->rto_ps > (PS_NEVER / 4) >> transport->rto_doublings)
		return draft_refuse(draft,
				    either_mark(draft, "transport.rto_doublings", "transport.rto"),
				    "transport.rto_doublings: %u doublings of transport.rto pass "
				    "the end of time; take fewer",
				    transport->rto_doublings);
	return 0;
}

static int check_transport(struct draft *draft)
{
	const struct transport_config *transport = &draft->scenario->transport;
	const char *evs = "transport.evs";
	if (draft->scenario->fabric.mtu_bytes > UINT16_MAX)
		return draft_refuse(
			draft, draft_mark(draft, "transport.payload"),
			"transport.payload: payload and header are %u B; a packet has at "
			"most 65535 B",
			draft->scenario->fabric.mtu_bytes);
	if (transport->ev_count % transport->planes != 0 ||
	    !is_power_of_two(transport->ev_count / transport->planes))
		return draft_refuse(draft, either_mark(draft, evs, "fabric.planes"),
				    "transport.evs: %u over %u planes is not a power of two per "
				    "plane",
				    transport->ev_count, transport->planes);
	if (transport->mpr != 0 && transport->mpr != 64 && transport->mpr % MPR_GRANT_UNIT != 0)
		return draft_refuse(draft, draft_mark(draft, "transport.mpr"),
				    "transport.mpr: %u is no multiple of %u", transport->mpr,
				    MPR_GRANT_UNIT);
	if (transport->dynamic_mpr && transport->mpr != 0 && transport->mpr < MPR_GRANT_UNIT)
		return draft_refuse(draft, draft_mark(draft, "transport.mpr"),
				    "transport.mpr: %u cannot be offered in units of %u",
				    transport->mpr, MPR_GRANT_UNIT);
	int rc = draft_check_evs(draft);
	return rc != 0 ? rc : check_timer(draft);
}

// Which choice leaves an EV no room but the UDP source port, or NULL.
static const char *cause_of_ports(const struct scenario *scenario)
{
	if (scenario->frames.ip_version == 4)
		return "wire.ip 4";
	return scenario->frames.entropy == FRAMES_ENTROPY_PORT ? "wire.entropy port" : NULL;
}

// Some frames have no room for an EV but the UDP source port. Run with frames or without, a world
// then makes EVs that fit there, and both give the same result.
static int check_frames(struct draft *draft)
{
	const struct frames_config *frames = &draft->scenario->frames;
	if (frames->ip_version == 5)
		return draft_refuse(draft, draft_mark(draft, "wire.ip"),
				    "wire.ip: 5 is not known here; it may be: 4, 6");
	if (frames->udp_port != 4791 && frames->udp_port != 4971)
		return draft_refuse(draft, draft_mark(draft, "wire.port"),
				    "wire.port: %u is not known here; it may be: 4791, 4971",
				    frames->udp_port);
	int rc = draft_check_dscp(draft);
	if (rc != 0)
		return rc;
	const char *cause = cause_of_ports(draft->scenario);
	uint32_t evs = ev_universe(&draft->scenario->transport);
	if (cause != NULL && evs > EVS_OF_PORT_MAX)
		return draft_refuse(draft,
				    either_mark(draft, "transport.universe", "transport.evs"),
				    "transport.evs: %u is above %u, the UDP source ports that name "
				    "paths with %s",
				    evs, EVS_OF_PORT_MAX, cause);
	if (frames->entropy == FRAMES_ENTROPY_SRV6 && draft->scenario->fabric.kind != TOPOLOGY_CLOS)
		return draft_refuse(
			draft, draft_mark(draft, "wire.entropy"),
			"wire.entropy: srv6 has uSIDs for the two tiers of a clos only");
	return 0;
}

// The transport gives the algorithm what it works on, or it is refused with those that run there.
static int check_algorithm(struct draft *draft)
{
	const char *name = draft->scenario->transport.cc.name;
	bool is_rc = draft->scenario->transport.kind == TRANSPORT_RC;
	uint32_t transport = is_rc ? CC_ON_RC : CC_ON_MRC;
	char list[160] = "";
	size_t used = 0;
	if (cc_find(name)->transports & transport)
		return 0;
	for (const struct cc_ops *const *ops = cc_all; *ops != NULL && used < sizeof(list); ops++)
		if ((*ops)->transports & transport)
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
						 used == 0 ? "" : ", ", (*ops)->name);
	return draft_refuse(draft, either_mark(draft, "cc.algorithm", "transport.kind"),
			    "cc.algorithm: %s%s does not run on transport.kind %s, which has %s; "
			    "set one that does: %s",
			    name, draft_is_given(draft, "cc.algorithm") ? "" : ", the default,",
			    is_rc ? "rc" : "mrc", is_rc ? "no SACKs" : "no CNPs", list);
}

static int check_rate(struct draft *draft)
{
	const struct cc_config *cc = &draft->scenario->transport.cc;
	uint64_t line_bps = draft->scenario->fabric.link_rate_bps;
	if (cc_find(cc->name)->has_credit && draft->scenario->transport.contexts != 0)
		return draft_refuse(draft, draft_mark(draft, "transport.contexts"),
				    "transport.contexts: cc.algorithm %s needs one for each "
				    "connection; leave it at all",
				    cc->name);
	if (draft->scenario->transport.shares_cc &&
	    (draft->scenario->transport.contexts != 0 || draft->scenario->transport.sleek))
		return draft_refuse(draft, draft_mark(draft, "cc.context"),
				    "cc.context: destination needs transport.contexts all and "
				    "transport.sleek false");
	bool is_min = cc->rate_min_bps > line_bps; // which is rate_ai where it is not given
	const char *path = is_min ? "cc.rate_min" : "cc.rate_ai";
	if (is_min || cc->rate_ai_bps > line_bps)
		return draft_refuse(
			draft, draft_mark(draft, path),
			"%s: %llu b/s is above fabric.link_rate, %llu b/s", path,
			(unsigned long long)(is_min ? cc->rate_min_bps : cc->rate_ai_bps),
			(unsigned long long)line_bps);
	return 0;
}

static int check_window(struct draft *draft)
{
	const struct cc_config *cc = &draft->scenario->transport.cc;
	bool is_small = cc->window_bytes != 0 && cc->window_bytes < cc->mtu_bytes;
	bool is_max_small = cc->max_cwnd_bytes != 0 && cc->max_cwnd_bytes < cc->mtu_bytes;
	const char *path = is_small ? "cc.window" : "cc.max_window";
	if (is_small || is_max_small)
		return draft_refuse(draft, draft_mark(draft, path),
				    "%s: a window below one full packet, %u B, sends nothing", path,
				    cc->mtu_bytes);
	return 0;
}

static int check_slices(struct draft *draft)
{
	const struct ring_config *ring = &draft->scenario->traffic.ring;
	const char *slices = "traffic.slices";
	if (ring->slices > ring->chunk_bytes_max)
		return draft_refuse(draft, draft_mark(draft, slices),
				    "traffic.slices: there are more slices than bytes in a chunk");
	if (ring->credits <= ring->slices)
		return draft_refuse(
			draft, either_mark(draft, "traffic.credits", slices),
			"traffic.credits: %u credits let a ring of %u slices stand still; "
			"take more credits than slices",
			ring->credits, ring->slices);
	if (draft->scenario->transport.sends_max < ring->credits)
		return draft_refuse(draft, either_mark(draft, "transport.sends", "traffic.credits"),
				    "transport.sends: a queue of %u does not hold the %u slices "
				    "that traffic.credits allows under way",
				    draft->scenario->transport.sends_max, ring->credits);
	return 0;
}

// Its file is read by who has files: a refusal of it needs the place.
static void note_model(struct draft *draft)
{
	const struct mark mark = draft_mark(draft, "traffic.model");
	struct traffic_config *traffic = &draft->scenario->traffic;
	traffic->model_line = mark.line;
	traffic->model_column = mark.column;
	traffic->is_model_set = mark.is_set;
}

static int check_traffic(struct draft *draft)
{
	enum traffic_kind kind = draft->scenario->traffic.kind;
	int rc = 0;
	if (scenario_use_holds(USE_RANKS, draft->scenario))
		rc = draft_check_collective(draft);
	else
		rc = draft_check_flows(draft);
	if (kind == TRAFFIC_MODEL)
		note_model(draft);
	if (rc == 0 && draft->scenario->traffic.beside_bytes > 0)
		rc = draft_check_shares(draft, "traffic.beside",
					draft->scenario->traffic.beside_bytes);
	if (rc == 0 && scenario_use_holds(USE_PIPELINED, draft->scenario))
		rc = check_slices(draft);
	return rc;
}

// What is jumped over is in no bin and on no dead cable. That a sample's steps would be left out
// twice is said when the world is built: a command may put another sample in place of this one.
static int check_skip(struct draft *draft)
{
	const struct scenario *scenario = draft->scenario;
	struct mark mark = draft_mark(draft, "skip.steady");
	if (!scenario->skip.is_on)
		return 0;
	uint32_t least_ppb = 1000000000 / (8 * scenario->skip.block);
	if (scenario->skip.tolerance_ppb < least_ppb)
		return draft_refuse(
			draft, draft_mark(draft, "skip.tolerance"),
			"skip.tolerance: of two blocks of %u steps no mean step is known "
			"better than %u.%04u %%; raise skip.block or the tolerance",
			scenario->skip.block, least_ppb / 10000000, least_ppb / 1000 % 10000);
	if (scenario->watch.bin_ps > 0 || scenario->watch.bypasses > 0 ||
	    scenario->watch.packets > 0 || scenario->watch.has_delays)
		return draft_refuse(draft, mark,
				    "skip.steady: watch counts what runs over time, and nothing of "
				    "what is jumped over; one of both");
	return 0;
}

// Bins that get longer fit nothing else that goes by bins.
static int check_watch(struct draft *draft)
{
	const struct watch_config *watch = &draft->scenario->watch;
	if (watch->halves && watch->has_nics)
		return draft_refuse(draft, draft_mark(draft, "watch.halve"),
				    "watch.halve: the bins of watch.nics stay as they are; one of "
				    "both");
	return 0;
}

int draft_check(struct draft *draft)
{
	static int (*const checks[])(struct draft *) = {
		check_algorithm, check_fabric,	check_transport, check_queue, check_window,
		check_rate,	 check_traffic, check_frames,	 check_skip,  check_watch,
	};
	for (uint32_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		int rc = checks[i](draft);
		if (rc != 0)
			return rc;
	}
	return 0;
}
