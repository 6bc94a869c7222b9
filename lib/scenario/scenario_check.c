// SPDX-License-Identifier: Apache-2.0
// What must hold between the keys of a scenario and can be said without building its world. What
// needs the topology (counts that do not divide) is refused by topology_build().

#include <stdio.h>
#include <string.h>

#include <weft/core/integer.h>
#include <weft/transport/transport_auto.h>

#include "scenario_reader.h"

// ---------------------------------------------------------------- settling

static bool is_sampled(const struct reader *reader)
{
	const struct scenario_key *keys = scenario_keys();
	for (int i = 0; keys[i].path != NULL; i++)
		if (reader->is_given[i] && strncmp(keys[i].path, "sample.", 7) == 0)
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
static void settle_cc_settings(struct cc_config *cc)
{
	uint32_t *const values[] = {&cc->eta_bytes, &cc->fi_bytes, &cc->qa_gate};
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		*values[i] = *values[i] == UINT32_MAX ? 0 : *values[i] == 0 ? CC_ZERO : *values[i];
	if (cc->fi_scale_ppb == UINT64_MAX)
		cc->fi_scale_ppb = 0;
	else if (cc->fi_scale_ppb == 0)
		cc->fi_scale_ppb = CC_ZERO_PPB;
}

// Whether trimming was asked for beside `path`, which excludes it: in the file both, or by an
// assignment.
static bool is_trim_asked(const struct reader *reader, const char *path)
{
	bool is_own = reader_is_own(reader, reader_mark(reader, "queue.trim"));
	bool is_given = reader_is_given(reader, "queue.trim") &&
		!reader->is_preset[scenario_key_find("queue.trim")];
	return reader->scenario->fabric.trim_on && is_given &&
		(is_own || !reader_mark(reader, path).is_set);
}

void reader_settle(struct reader *reader)
{
	struct scenario *scenario = reader->scenario;
	struct fabric_config *fabric = &scenario->fabric;
	struct transport_config *transport = &scenario->transport;
	if ((uint32_t)fabric->kind == TOPOLOGY_LEAF_SPINE)
		fabric->kind = TOPOLOGY_CLOS; // planes are 1 by default
	if (!scenario->has_cut_through)
		fabric->cut_bytes = 0;
	reader->is_trim_asked = is_trim_asked(reader,
					      fabric->pfc.is_on ? "queue.pfc" : "transport.kind");
	if (fabric->pfc.is_on)
		fabric->trim_on = false;
	if (transport->kind == TRANSPORT_RC)
		settle_rc(scenario);
	reader_settle_sizes(reader);
	transport->planes = fabric->planes;
	reader_settle_fabric(reader);
	reader_settle_usid(reader);
	reader_settle_srh(reader);
	fabric->mtu_bytes = transport->payload_bytes + transport->header_bytes;
	fabric->control_bytes = transport->control_bytes;
	fabric->bdp_packets_least = transport_bdp_packets_least(transport);
	transport->cc.mtu_bytes = fabric->mtu_bytes;
	transport->cc.payload_bytes = transport->payload_bytes;
	settle_cc_settings(&transport->cc);
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
	if (is_sampled(reader))
		scenario->sample.is_on = true;
	else
		memset(&scenario->sample, 0, sizeof(scenario->sample)); // `off` took it back
}

// ---------------------------------------------------------------- figures

// The place of the first of two keys that was given.
static struct mark either_mark(const struct reader *reader, const char *first, const char *second)
{
	return reader_is_given(reader, first) ? reader_mark(reader, first)
					      : reader_mark(reader, second);
}

// No switch may have to send faster than it gets. Then what each kind needs.
static int check_cut(struct reader *reader)
{
	const struct fabric_config *fabric = &reader->scenario->fabric;
	if (fabric->cut_bytes > 0 && fabric->trunk_rate_bps > 0 &&
	    fabric->trunk_rate_bps != fabric->link_rate_bps)
		return reader_refuse(reader, reader_mark(reader, "fabric.trunk_rate"),
				     "fabric.trunk_rate: with cut_through all links have one rate, "
				     "that of fabric.link_rate");
	return reader_check_kind(reader);
}

static int check_fabric(struct reader *reader)
{
	const struct fabric_config *fabric = &reader->scenario->fabric;
	if (fabric->nics % fabric->nics_per_host != 0)
		return reader_refuse(reader,
				     either_mark(reader, "fabric.nics_per_host", "fabric.nics"),
				     "fabric.nics_per_host: %u NICs cannot be cut into hosts of %u",
				     fabric->nics, fabric->nics_per_host);
	if (fabric->nics_per_host * fabric->planes > MACHINE_PORTS_MAX)
		return reader_refuse(
			reader, either_mark(reader, "fabric.nics_per_host", "fabric.planes"),
			"fabric.nics_per_host: %u NICs of %u planes; a host has at most "
			"%u ports",
			fabric->nics_per_host, fabric->planes, (uint32_t)MACHINE_PORTS_MAX);
	int rc = check_cut(reader);
	return rc == 0 ? reader_check_usid(reader) : rc;
}

// A switch makes no packet longer: were a trim to leave more than the headers, one with little
// payload would stay as it is, and trimmed packets would differ in size.
static int check_trim(struct reader *reader)
{
	const struct fabric_config *fabric = &reader->scenario->fabric;
	uint32_t header = reader->scenario->transport.header_bytes;
	if (fabric->trim_on && fabric->trim_bytes > header)
		return reader_refuse(reader,
				     either_mark(reader, "queue.trim_bytes", "transport.header"),
				     "queue.trim_bytes: %u B is above transport.header, %u B; a "
				     "trim keeps only headers",
				     fabric->trim_bytes, header);
	return 0;
}

// Turns by packets are of two, and no shares of bytes.
static int check_rounds(struct reader *reader)
{
	const struct fabric_config *fabric = &reader->scenario->fabric;
	const char *control = "queue.control_packets", *data = "queue.data_packets";
	if ((fabric->round_control == 0) != (fabric->round_data == 0))
		return reader_refuse(reader, either_mark(reader, control, data),
				     "%s and %s go together: set both, or none", control, data);
	if (fabric->round_control > 0 && fabric->control_share_ppb > 0)
		return reader_refuse(reader, reader_mark(reader, control),
				     "%s: turns by packets and queue.control_share exclude each "
				     "other",
				     control);
	return 0;
}

// It holds a packet, and alpha lets a queue begin.
static int check_shared(struct reader *reader)
{
	const struct fabric_config *fabric = &reader->scenario->fabric;
	uint64_t bytes = fabric->buffer.bytes;
	if (bytes > 0 && bytes < fabric->mtu_bytes)
		return reader_refuse(reader, reader_mark(reader, "queue.shared"),
				     "queue.shared: %llu B do not hold a full packet of %u B",
				     (unsigned long long)bytes, fabric->mtu_bytes);
	return 0;
}

// Nothing that is lossless is trimmed, and nothing of RC.
static int check_trim_asked(struct reader *reader)
{
	bool is_pfc = reader->scenario->fabric.pfc.is_on;
	if (!reader->is_trim_asked || (!is_pfc && reader->scenario->transport.kind != TRANSPORT_RC))
		return 0;
	return reader_refuse(reader, reader_mark(reader, "queue.trim"),
			     "queue.trim: true has no effect with %s",
			     is_pfc ? "queue.pfc; data are lossless then"
				    : "transport.kind rc, which knows no trimming");
}

// xon is below xoff, which holds a packet.
static int check_pfc(struct reader *reader)
{
	const struct fabric_config *fabric = &reader->scenario->fabric;
	const struct pfc_config *pfc = &fabric->pfc;
	const char *xoff = "queue.pfc_xoff", *xon = "queue.pfc_xon";
	uint64_t xoff_bytes = pfc->xoff_bytes > 0 ? pfc->xoff_bytes : fabric->queue_bytes;
	if (!pfc->is_on)
		return 0;
	if (pfc->xoff_bytes > 0 && pfc->xoff_bytes < fabric->mtu_bytes)
		return reader_refuse(reader, reader_mark(reader, xoff),
				     "%s: %llu B do not hold a full packet of %u B", xoff,
				     (unsigned long long)pfc->xoff_bytes, fabric->mtu_bytes);
	if (xoff_bytes > 0 && pfc->xon_bytes >= xoff_bytes)
		return reader_refuse(reader, either_mark(reader, xon, xoff),
				     "%s: %llu B is not below %s, %llu B", xon,
				     (unsigned long long)pfc->xon_bytes, xoff,
				     (unsigned long long)xoff_bytes);
	return 0;
}

// A port that counts the packet on its line has no other way to serve.
static int check_counts(struct reader *reader)
{
	const struct fabric_config *fabric = &reader->scenario->fabric;
	const char *other = fabric->control_share_ppb > 0 ? "queue.control_share"
		: fabric->round_control > 0		  ? "queue.control_packets"
		: fabric->cut_bytes > 0			  ? "fabric.switching: cut_through"
							  : NULL;
	if (!fabric->counts_line || other == NULL)
		return 0;
	return reader_refuse(reader, reader_mark(reader, "queue.counts"),
			     "queue.counts: line goes with control packets first and store and "
			     "forward, not with %s",
			     other);
}

static int check_queue(struct reader *reader)
{
	const struct fabric_config *fabric = &reader->scenario->fabric;
	const char *low = "queue.ecn_low";
	const char *high = "queue.ecn_high";
	if ((fabric->ecn_low_bytes == 0) != (fabric->ecn_high_bytes == 0))
		return reader_refuse(
			reader, either_mark(reader, low, high),
			"queue.ecn_low and queue.ecn_high go together: set both, or none");
	if (fabric->ecn_low_bytes > fabric->ecn_high_bytes)
		return reader_refuse(reader, reader_mark(reader, low),
				     "queue.ecn_low: %llu B is above queue.ecn_high, %llu B",
				     (unsigned long long)fabric->ecn_low_bytes,
				     (unsigned long long)fabric->ecn_high_bytes);
	if (fabric->queue_bytes != 0 && fabric->ecn_low_bytes > fabric->queue_bytes)
		return reader_refuse(reader, reader_mark(reader, low),
				     "queue.ecn_low: %llu B is never reached in a queue of %llu B",
				     (unsigned long long)fabric->ecn_low_bytes,
				     (unsigned long long)fabric->queue_bytes);
	if (fabric->queue_bytes != 0 && fabric->queue_bytes < fabric->mtu_bytes)
		return reader_refuse(reader, reader_mark(reader, "queue.bytes"),
				     "queue.bytes: %llu B do not hold a full packet of %u B",
				     (unsigned long long)fabric->queue_bytes, fabric->mtu_bytes);
	int rc = check_rounds(reader);
	if (rc == 0)
		rc = check_counts(reader);
	if (rc == 0)
		rc = check_shared(reader);
	if (rc == 0)
		rc = check_trim_asked(reader);
	if (rc == 0)
		rc = check_pfc(reader);
	return rc != 0 ? rc : check_trim(reader);
}

static int check_timer(struct reader *reader)
{
	const struct transport_config *transport = &reader->scenario->transport;
	bool is_forever = transport->rto_doublings == RTO_DOUBLINGS_FOREVER; // waits have an end
	if (!is_forever && transport->rto_ps > (PS_NEVER / 4) >> transport->rto_doublings)
		return reader_refuse(
			reader, either_mark(reader, "transport.rto_doublings", "transport.rto"),
			"transport.rto_doublings: %u doublings of transport.rto pass "
			"the end of time; take fewer",
			transport->rto_doublings);
	return 0;
}

static int check_transport(struct reader *reader)
{
	const struct transport_config *transport = &reader->scenario->transport;
	const char *evs = "transport.evs";
	if (reader->scenario->fabric.mtu_bytes > UINT16_MAX)
		return reader_refuse(
			reader, reader_mark(reader, "transport.payload"),
			"transport.payload: payload and header are %u B; a packet has at "
			"most 65535 B",
			reader->scenario->fabric.mtu_bytes);
	if (transport->ev_count % transport->planes != 0 ||
	    !is_power_of_two(transport->ev_count / transport->planes))
		return reader_refuse(reader, either_mark(reader, evs, "fabric.planes"),
				     "transport.evs: %u over %u planes is not a power of two per "
				     "plane",
				     transport->ev_count, transport->planes);
	if (transport->mpr != 0 && transport->mpr != 64 && transport->mpr % MPR_GRANT_UNIT != 0)
		return reader_refuse(reader, reader_mark(reader, "transport.mpr"),
				     "transport.mpr: %u is not a multiple of %u", transport->mpr,
				     MPR_GRANT_UNIT);
	if (transport->dynamic_mpr && transport->mpr != 0 && transport->mpr < MPR_GRANT_UNIT)
		return reader_refuse(reader, reader_mark(reader, "transport.mpr"),
				     "transport.mpr: %u cannot be offered in units of %u",
				     transport->mpr, MPR_GRANT_UNIT);
	int rc = reader_check_evs(reader);
	return rc != 0 ? rc : check_timer(reader);
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
static int check_frames(struct reader *reader)
{
	const struct frames_config *frames = &reader->scenario->frames;
	if (frames->ip_version == 5)
		return reader_refuse(reader, reader_mark(reader, "wire.ip"),
				     "wire.ip: 5 is not known here; it may be: 4, 6");
	if (frames->udp_port != 4791 && frames->udp_port != 4971)
		return reader_refuse(reader, reader_mark(reader, "wire.port"),
				     "wire.port: %u is not known here; it may be: 4791, 4971",
				     frames->udp_port);
	int rc = reader_check_dscp(reader);
	if (rc != 0)
		return rc;
	const char *cause = cause_of_ports(reader->scenario);
	uint32_t evs = ev_universe(&reader->scenario->transport);
	if (cause != NULL && evs > EVS_OF_PORT_MAX)
		return reader_refuse(
			reader, either_mark(reader, "transport.universe", "transport.evs"),
			"transport.evs: %u is above %u, the UDP source ports that name "
			"paths with %s",
			evs, EVS_OF_PORT_MAX, cause);
	if (frames->entropy == FRAMES_ENTROPY_SRV6 &&
	    reader->scenario->fabric.kind != TOPOLOGY_CLOS)
		return reader_refuse(
			reader, reader_mark(reader, "wire.entropy"),
			"wire.entropy: srv6 has uSIDs for the two tiers of a clos only");
	return 0;
}

// The transport gives the algorithm what it works on, or it is refused with those that run there.
static int check_algorithm(struct reader *reader)
{
	const char *name = reader->scenario->transport.cc.name;
	bool is_rc = reader->scenario->transport.kind == TRANSPORT_RC;
	uint32_t transport = is_rc ? CC_ON_RC : CC_ON_MRC;
	char list[160] = "";
	size_t used = 0;
	if (cc_find(name)->transports & transport)
		return 0;
	for (const struct cc_ops *const *ops = cc_all; *ops != NULL && used < sizeof(list); ops++)
		if ((*ops)->transports & transport)
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
						 used == 0 ? "" : ", ", (*ops)->name);
	return reader_refuse(reader, either_mark(reader, "cc.algorithm", "transport.kind"),
			     "cc.algorithm: %s%s does not run on transport.kind %s, which has %s; "
			     "set one that does: %s",
			     name, reader_is_given(reader, "cc.algorithm") ? "" : ", the default,",
			     is_rc ? "rc" : "mrc", is_rc ? "no SACKs" : "no CNPs", list);
}

static int check_rate(struct reader *reader)
{
	const struct cc_config *cc = &reader->scenario->transport.cc;
	uint64_t line_bps = reader->scenario->fabric.link_rate_bps;
	if (cc_find(cc->name)->has_credit && reader->scenario->transport.contexts != 0)
		return reader_refuse(reader, reader_mark(reader, "transport.contexts"),
				     "transport.contexts: cc.algorithm %s needs one for each "
				     "connection; leave it at all",
				     cc->name);
	if (reader->scenario->transport.shares_cc &&
	    (reader->scenario->transport.contexts != 0 || reader->scenario->transport.sleek))
		return reader_refuse(reader, reader_mark(reader, "cc.context"),
				     "cc.context: destination needs transport.contexts all and "
				     "transport.sleek false");
	bool is_min = cc->rate_min_bps > line_bps; // which is rate_ai where it is not given
	const char *path = is_min ? "cc.rate_min" : "cc.rate_ai";
	if (is_min || cc->rate_ai_bps > line_bps)
		return reader_refuse(
			reader, reader_mark(reader, path),
			"%s: %llu b/s is above fabric.link_rate, %llu b/s", path,
			(unsigned long long)(is_min ? cc->rate_min_bps : cc->rate_ai_bps),
			(unsigned long long)line_bps);
	return 0;
}

static int check_window(struct reader *reader)
{
	const struct cc_config *cc = &reader->scenario->transport.cc;
	bool is_small = cc->window_bytes != 0 && cc->window_bytes < cc->mtu_bytes;
	bool is_max_small = cc->max_cwnd_bytes != 0 && cc->max_cwnd_bytes < cc->mtu_bytes;
	const char *path = is_small ? "cc.window" : "cc.max_window";
	if (is_small || is_max_small)
		return reader_refuse(reader, reader_mark(reader, path),
				     "%s: a window below one full packet, %u B, sends nothing",
				     path, cc->mtu_bytes);
	return 0;
}

static int check_slices(struct reader *reader)
{
	const struct ring_config *ring = &reader->scenario->traffic.ring;
	const char *slices = "traffic.slices";
	if (ring->slices > ring->chunk_bytes_max)
		return reader_refuse(reader, reader_mark(reader, slices),
				     "traffic.slices: there are more slices than bytes in a chunk");
	if (ring->credits <= ring->slices)
		return reader_refuse(
			reader, either_mark(reader, "traffic.credits", slices),
			"traffic.credits: %u credits let a ring of %u slices stand still; "
			"take more credits than slices",
			ring->credits, ring->slices);
	if (reader->scenario->transport.sends_max < ring->credits)
		return reader_refuse(reader,
				     either_mark(reader, "transport.sends", "traffic.credits"),
				     "transport.sends: a queue of %u does not hold the %u slices "
				     "that traffic.credits allows under way",
				     reader->scenario->transport.sends_max, ring->credits);
	return 0;
}

// Its file is read by who has files: a refusal of it needs the place.
static void note_model(struct reader *reader)
{
	const struct mark mark = reader_mark(reader, "traffic.model");
	struct traffic_config *traffic = &reader->scenario->traffic;
	traffic->model_line = mark.line;
	traffic->model_column = mark.column;
	traffic->is_model_set = mark.is_set;
}

static int check_step_channels(struct reader *reader)
{
	uint32_t channels = reader->scenario->traffic.step_channels;
	uint32_t qps = reader->scenario->qps_per_connection;
	if (channels == 0 || qps % channels == 0)
		return 0;
	return reader_refuse(
		reader,
		either_mark(reader, "transport.qps_per_connection", "traffic.step_channels"),
		"transport.qps_per_connection: %u QPs are not a multiple of the %u "
		"channels of traffic.step_channels, each of which has QPs of its own",
		qps, channels);
}

static int check_traffic(struct reader *reader)
{
	enum traffic_kind kind = reader->scenario->traffic.kind;
	int rc = 0;
	if (scenario_use_holds(USE_RANKS, reader->scenario))
		rc = reader_check_collective(reader);
	else
		rc = reader_check_flows(reader);
	if (kind == TRAFFIC_MODEL)
		note_model(reader);
	if (rc == 0 && reader->scenario->traffic.beside_bytes > 0)
		rc = reader_check_shares(reader, "traffic.beside",
					 reader->scenario->traffic.beside_bytes);
	if (rc == 0 && scenario_use_holds(USE_PIPELINED, reader->scenario))
		rc = check_slices(reader);
	if (rc == 0)
		rc = check_step_channels(reader);
	return rc;
}

// What is jumped over is in no bin and on no dead cable. That a sample's steps would be left out
// twice is said when the world is built: a command may put another sample in place of this one.
static int check_fast_forward(struct reader *reader)
{
	const struct scenario *scenario = reader->scenario;
	struct mark mark = reader_mark(reader, "fast_forward.steady");
	if (!scenario->fast_forward.is_on)
		return 0;
	uint32_t least_ppb = 1000000000 / (8 * scenario->fast_forward.block);
	if (scenario->fast_forward.tolerance_ppb < least_ppb)
		return reader_refuse(
			reader, reader_mark(reader, "fast_forward.tolerance"),
			"fast_forward.tolerance: of two blocks of %u steps no mean step is known "
			"better than %u.%04u %%; raise fast_forward.block or the tolerance",
			scenario->fast_forward.block, least_ppb / 10000000,
			least_ppb / 1000 % 10000);
	if (scenario->watch.bin_ps > 0 || scenario->watch.bypasses > 0 ||
	    scenario->watch.packets > 0 || scenario->watch.has_delays)
		return reader_refuse(
			reader, mark,
			"fast_forward.steady: watch counts what runs over time, and nothing of "
			"what is jumped over; one of both");
	return 0;
}

// Bins that get longer fit nothing else that goes by bins.
static int check_watch(struct reader *reader)
{
	const struct watch_config *watch = &reader->scenario->watch;
	if (watch->halves && watch->has_nics)
		return reader_refuse(reader, reader_mark(reader, "watch.halve"),
				     "watch.halve: the bins of watch.nics stay as they are; one of "
				     "both");
	return 0;
}

int reader_check(struct reader *reader)
{
	static int (*const checks[])(struct reader *) = {
		check_algorithm, check_fabric,	check_transport, check_queue,	     check_window,
		check_rate,	 check_traffic, check_frames,	 check_fast_forward, check_watch,
	};
	for (uint32_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		int rc = checks[i](reader);
		if (rc != 0)
			return rc;
	}
	return 0;
}
