// SPDX-License-Identifier: Apache-2.0
// Scenario, meeting, ports: what both ends must agree on before a frame is sent.

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weft/files/files.h>
#include <weft/world/world_work.h>

#include "host.h"
#include "weft_version.h"
#include <weft/run/input_files.h>
#include <weft/run/outcome.h>

#define LOANS 4096u // frames whose payload lies in the generators' memory
#define FRAMES_LEAST 6144u
#define FRAMES_EACH 512u // more for each port
#define PORTS_BYTES ((size_t)64 << 10)
#define LINK_S 20

// Two NICs under one T0, as most pairs are.
static const char pair_text[] = "name: %s\n"
				"fabric: {nics: %u, planes: 2, nics_per_t0: %u, t1_count: 1, "
				"link_rate: 100Gb/s}\n"
				"transport: {evs: 16}\n"
				"%s"
				"traffic: {kind: flows, flows: [{from: 1, to: 0, bytes: 4KiB}]}\n"
				"limits: {time: 3600s}\n";
static const char rc_control[] = "cc: {algorithm: fixed}\n"; // the default of MRC needs its SACKs

// One cable to somebody else's RoCEv2, with times that suit a stack in software.
static const char foreign_text[] =
	"name: foreign\n"
	"fabric: {nics: 2, planes: 1, nics_per_t0: 2, t1_count: 1, link_rate: 1Gb/s}\n"
	"wire: {ip: 4}\n"
	"transport: {kind: rc, payload: 1024B, rto: 67ms}\n"
	"cc: {algorithm: fixed, base_rtt: 1ms}\n"
	"traffic: {kind: flows, flows: [{from: 1, to: 0, bytes: 4KiB}]}\n"
	"limits: {time: 3600s}\n";

void setup_hash(struct call *call, const void *text, size_t bytes) // FNV-1a
{
	for (size_t i = 0; i < bytes; i++)
		call->text_hash = (call->text_hash ^ ((const uint8_t *)text)[i]) *
			UINT64_C(0x100000001b3);
}

// One process is one host, which is a whole scale-up domain.
static int check_hosts(struct call *call)
{
	const struct fabric_config *fabric = &call->scenario.fabric;
	uint32_t ranks = call->choice.foreign_count > 0 ? 2
		: call_is_pair(call)			? 1 + call->choice.callers
							: call->choice.ranks;
	if (call->choice.probe != NULL)
		return 0;
	if (fabric->nics == ranks * fabric->nics_per_host)
		return 0;
	if (call_is_incast(call))
		return refuse(&call->refusal, -EINVAL,
			      "an incast has % NICs here (% callers, one host), not %", ranks,
			      call->choice.callers, fabric->nics);
	if (call_is_pair(call))
		return refuse(&call->refusal, -EINVAL,
			      "a pair is two hosts, and this scenario has % NICs, % a host",
			      fabric->nics, fabric->nics_per_host);
	return refuse(&call->refusal, -EINVAL,
		      "this scenario has % NICs, % a host (fabric.nics_per_host), and % ranks "
		      "were started: one is one host",
		      fabric->nics, fabric->nics_per_host, ranks);
}

// The line of this host alone, so that others need not know of it: the scenario once more, with
// another fabric.link_rate.
static int cap_rate(struct call *call, const char *text, size_t bytes)
{
	static struct scenario slower; // large
	const char *sets[SETS_MAX + 1];
	char rate[64];
	uint32_t count = call->choice.set_count;
	uint64_t line_bps = call->scenario.fabric.link_rate_bps;
	memcpy(sets, call->choice.sets, count * sizeof(*sets));
	snprintf(rate, sizeof(rate), "fabric.link_rate=%s", call->choice.max_rate);
	sets[count] = rate;
	int rc = scenario_parse(&slower, "--max-rate", text, bytes, sets, count + 1,
				&call->refusal);
	if (rc < 0)
		call->refusal = (struct refusal){0}; // what it says of --set, where it stands
	if (rc < 0)
		return outcome_bad_word(&call->refusal, "--max-rate is a rate, as in 10Gb/s, not",
					call->choice.max_rate);
	if (slower.fabric.link_rate_bps >= line_bps)
		return outcome_bad_word(&call->refusal,
					"--max-rate has no effect: not below fabric.link_rate:",
					call->choice.max_rate);
	call->scenario.fabric.link_rate_bps = slower.fabric.link_rate_bps;
	return 0;
}

// In ten steps, as lines that are slow for a while. Only this host of the world runs here.
int setup_ramp(struct call *call)
{
	enum { STEPS = 10 };
	struct scenario *scenario = &call->scenario;
	ps_t each_ps = call->choice.ramp_ns * PS_PER_NS / STEPS;
	if (call->choice.ramp_ns == 0)
		return 0;
	if (scenario->fault_count + STEPS - 1 > SCENARIO_FAULTS_MAX)
		return refuse(&call->refusal, -EINVAL,
			      "--ramp takes % more faults than the scenario has room for",
			      STEPS - 1);
	for (uint32_t step = 1; step < STEPS; step++)
		scenario->faults[scenario->fault_count++] = (struct fault){
			.kind = FAULT_SLOW,
			.at = {.where = LINK_AT_ALL},
			.direction = FAULT_UP,
			.from_ps = (step - 1) * each_ps,
			.until_ps = step * each_ps,
			.rate_ppb = step * (uint32_t)(SHARE_WHOLE / STEPS)};
	return 0;
}

// The job's numbers, without where they lie in this process.
static void hash_plan(struct call *call, const struct plan *plan)
{
	struct architecture architecture;
	struct parallel cut;
	const ps_t times[] = {plan->timing.forward_ps, plan->timing.backward_ps,
			      plan->timing.other_ps};
	memcpy(&architecture, plan->architecture, sizeof(architecture));
	memcpy(&cut, &plan->parallel, sizeof(cut));
	architecture.name = cut.order = NULL;
	setup_hash(call, &architecture, sizeof(architecture));
	setup_hash(call, &cut, sizeof(cut));
	setup_hash(call, plan->parallel.order, strlen(plan->parallel.order) + 1);
	setup_hash(call, times, sizeof(times));
	setup_hash(call, plan->timing.parts, sizeof(plan->timing.parts));
}

static void hash_tree(struct call *call, const struct tree_plan *tree)
{
	for (uint32_t i = 0; i < tree->tiers; i++) {
		const struct tree_tier *tier = &tree->tier[i];
		const uint64_t numbers[] = {tree->nics,	    tree->pod_nics,
					    tier->rate_bps, (uint64_t)tier->delay_ps,
					    tier->down,	    (uint64_t)tier->switch_delay_ps,
					    tier->up,	    tier->bundle};
		setup_hash(call, numbers, sizeof(numbers));
	}
}

// The topology and the models that the scenario names; all ends must have the same.
static int read_files(struct call *call)
{
	struct scenario *scenario = &call->scenario;
	int rc = topology_file_read(scenario, &call->refusal);
	if (rc == 0)
		rc = plan_files_read(scenario, &call->refusal);
	if (rc < 0)
		return rc;
	hash_tree(call, &scenario->fabric.tree);
	if (scenario->traffic.plan != NULL)
		hash_plan(call, scenario->traffic.plan);
	for (uint32_t i = 0; i < scenario->job_count; i++)
		if (scenario->jobs[i].plan != NULL)
			hash_plan(call, scenario->jobs[i].plan);
	return 0;
}

// Whether a pair is of RoCEv2 and leaves its control open.
static bool lacks_control(const struct choice *choice)
{
	static const char control[] = "cc.algorithm=";
	bool is_rc = false, has_control = false;
	for (uint32_t i = 0; i < choice->set_count; i++) {
		is_rc |= strcmp(choice->sets[i], "transport.kind=rc") == 0;
		has_control |= strncmp(choice->sets[i], control, sizeof(control) - 1) == 0;
	}
	return is_rc && !has_control;
}

int setup_scenario(struct call *call)
{
	const struct choice *choice = &call->choice;
	struct data_file file = {.path = "pair"};
	char own[sizeof(pair_text) + sizeof(rc_control) + 64];
	uint32_t nics = 1 + choice->callers;
	size_t bytes = (size_t)snprintf(own, sizeof(own), pair_text,
					call_is_incast(call) ? "incast" : "pair", nics, nics,
					lacks_control(choice) ? rc_control : "");
	const char *used = call->choice.foreign_count > 0 ? foreign_text : own;
	if (used == foreign_text)
		bytes = sizeof(foreign_text) - 1;
	int rc = choice->scenario == NULL
		? 0
		: data_file_read(&file, DATA_PATH_SCENARIOS, choice->scenario, &call->refusal);
	if (rc < 0)
		return rc;
	if (file.text != NULL) {
		used = file.text;
		bytes = file.bytes;
	}
	setup_hash(call, used, bytes);
	for (uint32_t i = 0; i < choice->set_count; i++)
		setup_hash(call, choice->sets[i], strlen(choice->sets[i]) + 1);
	if (choice->gpu != NULL) // data then, and no pattern
		setup_hash(call, "--gpu", sizeof("--gpu"));
	rc = scenario_parse(&call->scenario, file.path, used, bytes, choice->sets,
			    choice->set_count, &call->refusal);
	if (rc == 0)
		rc = read_files(call);
	if (rc == 0 && choice->max_rate != NULL)
		rc = cap_rate(call, used, bytes);
	free(file.text);
	return rc < 0 ? rc : check_hosts(call);
}

// ---------------------------------------------------------------- agreement

// Both ends run the same scenario, and know whether host 0 writes what it came to.
static int agree(struct call *call)
{
	struct agreed {
		uint64_t text_hash, has_out;
	} mine = {call->text_hash, call->choice.out != NULL}, all[MEETING_HOSTS_MAX];
	int rc = meeting_share(&call->meeting, &mine, all, sizeof(*all), &call->refusal);
	for (uint32_t i = 0; rc == 0 && i < call->meeting.options.count; i++) {
		if (all[i].has_out > all[0].has_out)
			return refuse(&call->refusal, -EINVAL,
				      "host % has --out, and host 0, which writes the result of "
				      "all, does not: give it to host 0",
				      i);
		if (all[i].text_hash != call->text_hash)
			return refuse(&call->refusal, -EINVAL,
				      "host % has another scenario, other --set, or --gpu where "
				      "others have none: all must be given the same",
				      i);
	}
	call->gathers = rc == 0 && all[0].has_out;
	return rc;
}

// All callers want the same measured.
static int agree_wish(struct call *call)
{
	static struct pair_wish all[MEETING_HOSTS_MAX];
	struct pair_wish *mine = &call->choice.wish;
	int rc = meeting_share(&call->meeting, mine, all, sizeof(*mine), &call->refusal);
	for (uint32_t i = 2; rc == 0 && i < call->meeting.options.count; i++)
		if (memcmp(&all[i], &all[1], sizeof(*all)) != 0)
			return refuse(&call->refusal, -EINVAL,
				      "callers % and % want other things measured: -b, -e, -f, -n "
				      "and --depth are the same for all",
				      1, i);
	*mine = rc == 0 ? all[1] : *mine;
	return rc;
}

int setup_meeting(struct call *call)
{
	const struct choice *choice = &call->choice;
	uint8_t said[MEETING_WORD_BYTES] = {0}, heard[MEETING_WORD_BYTES];
	const struct meeting_options options = {.address = call_address(call),
						.index = choice->to != NULL ? MEETING_ANY
									    : call->index,
						.count = call->meeting.options.count,
						.timeout_s = choice->timeout_s,
						.version = WEFT_VERSION_TEXT,
						.stop = signals_stop()};
	int rc = meeting_open(&call->meeting, &options, said, heard, &call->refusal);
	call->index = call->meeting.options.index;
	if (rc == 0)
		rc = agree(call);
	return rc == 0 && call_is_pair(call) ? agree_wish(call) : rc;
}

// ---------------------------------------------------------------- ports

int setup_world(struct call *call, struct host_run *host_run)
{
	size_t bytes = call->scenario.memory_bytes_max;
	int rc = memory_arena(&host_run->arena, bytes, &call->refusal);
	if (rc < 0)
		return rc;
	host_run->memory = host_run->arena.base;
	host_run->memory_bytes = bytes;
	// The result of all is put together from pieces, of which each host is one.
	const struct world_shards hosts = {.count = call->meeting.options.count,
					   .are_processes = true,
					   .index = call->index,
					   .are_hosts = true};
	const struct world_shards one = {.count = 1};
	host_run->host = call->index;
	rc = world_build_shards(&host_run->world, &host_run->arena, &call->scenario,
				call->workload.text, call->workload.bytes,
				host_run->is_dealt ? hosts : one, &call->refusal);
	if (rc == -EINVAL && call->refusal.file[0] == '\0' && call->choice.scenario != NULL)
		snprintf(call->refusal.file, sizeof(call->refusal.file), "%s", call->scenario.path);
	return rc;
}

void setup_world_free(struct host_run *host_run)
{
	if (host_run->memory != NULL)
		memory_release(host_run->memory, host_run->memory_bytes);
	if (host_run->program_memory != NULL)
		memory_release(host_run->program_memory, host_run->program_bytes);
	host_run->memory = host_run->program_memory = NULL;
}

// The world of all hosts, once before they meet: whom this one exchanges packets with, and frames.
static int find_peers(struct call *call)
{
	struct host_run host_run = {0};
	memset(call->peers, 0, sizeof(call->peers));
	int rc = setup_world(call, &host_run);
	if (rc == 0)
		rc = codec_init(&call->codec, &host_run.world, &call->refusal);
	if (rc == 0 && !call_is_pair(call))
		world_peers(&host_run.world, call->index, call->peers);
	setup_world_free(&host_run);
	for (uint32_t host = 0; host < call->meeting.options.count; host++) { // of the calibration
		uint32_t next = call_next(call, host);
		if (host == call->index)
			call->peers[next] = true;
		if (next == call->index)
			call->peers[host] = true;
	}
	return rc;
}

static uint32_t planes_of(const struct call *call)
{
	return call->scenario.fabric.planes * call->scenario.fabric.nics_per_host;
}

// A --port for each plane, or none at all where shared memory does.
static int check_count(struct call *call)
{
	uint32_t planes = planes_of(call), given = call->choice.device_count, peers = 0;
	for (uint32_t host = 0; host < call->meeting.options.count; host++)
		peers += call->peers[host];
	uint32_t wanted = given > 0 ? planes : planes * peers;
	if (given == 0 && strchr(call_address(call), ':') != NULL)
		return refuse(
			&call->refusal, -EINVAL,
			"between machines ports have to be named: --port, one for each plane");
	if (wanted > DEVICES_MAX)
		return refuse(&call->refusal, -EINVAL,
			      "DPDK has % ports here; % are wanted (memif joins two hosts, so each "
			      "plane takes one for each host that this one exchanges with)",
			      DEVICES_MAX, wanted);
	if (given > 0 && given != planes && !call->choice.places[0].is_named)
		return refuse(&call->refusal, -EINVAL,
			      "the scenario has % planes, and % ports were given: --port once for "
			      "each plane",
			      planes, given);
	return 0;
}

static int refuse_place(struct call *call, const struct port_place *place, const char *why)
{
	snprintf(call->refusal.text, sizeof(call->refusal.text), "--port %u/%u=: %s", place->plane,
		 place->peer, why);
	return -EINVAL;
}

// Where in --port the one to a host in a plane is; device_count: there is none.
static uint32_t find_place(const struct choice *choice, uint32_t plane, uint32_t peer)
{
	uint32_t at = 0;
	while (at < choice->device_count &&
	       (choice->places[at].plane != plane || choice->places[at].peer != peer))
		at++;
	return at;
}

// Ports that each join this host with another one in a plane: one for each.
static int check_places(struct call *call)
{
	const struct choice *choice = &call->choice;
	uint32_t planes = planes_of(call), hosts = call->meeting.options.count;
	for (uint32_t i = 0; i < choice->device_count; i++) {
		const struct port_place *place = &choice->places[i];
		if (place->plane >= planes)
			return refuse_place(call, place, "the host has no such plane");
		if (place->peer >= hosts || !call->peers[place->peer])
			return refuse_place(call, place, "this host exchanges nothing with it");
		if (find_place(choice, place->plane, place->peer) < i)
			return refuse_place(call, place, "appears twice");
	}
	for (uint32_t plane = 0; plane < planes; plane++)
		for (uint32_t peer = 0; peer < hosts; peer++) {
			const struct port_place wanted = {true, plane, peer};
			if (call->peers[peer] &&
			    find_place(choice, plane, peer) == choice->device_count)
				return refuse_place(call, &wanted,
						    "is missing: this host exchanges with it");
		}
	return 0;
}

static struct dpdk_options start_of_dpdk(const struct call *call)
{
	const struct dpdk_words *words = &call->choice.words;
	return (struct dpdk_options){.lanes = 1, .words = words->at, .word_count = words->count};
}

// A caller's peer is host 0, whichever it turns out to be itself.
int setup_check(struct call *call)
{
	struct choice *choice = &call->choice;
	const struct dpdk_options dpdk = start_of_dpdk(call);
	if (ports_ring_max() == 0) // without DPDK nobody is waited for: it says so
		return port_device_open(&call->ports, NULL, NULL, 0, NULL, &call->refusal);
	call->index = choice->listen != NULL ? 0 : choice->to != NULL ? 1 : choice->rank;
	call->meeting.options.count = call_is_pair(call) ? 1 + choice->callers : choice->ranks;
	int rc = find_peers(call);
	if (rc == 0)
		rc = port_device_check(choice->devices, choice->device_count,
				       call->codec.frame_bytes_max, &dpdk, &call->refusal);
	if (rc == 0)
		rc = check_count(call);
	return rc == 0 && choice->places[0].is_named ? check_places(call) : rc;
}

// memif by the address: one port for each peer and plane, whose server is the lower host.
static void name_memifs(struct call *call, uint32_t planes, uint32_t hosts)
{
	struct choice *choice = &call->choice;
	uint32_t count = 0;
	for (uint32_t plane = 0; plane < planes; plane++)
		for (uint32_t peer = 0; peer < hosts; peer++) {
			uint32_t low = peer < call->index ? peer : call->index;
			if (!call->peers[peer])
				continue;
			struct device *device = &choice->devices[count];
			snprintf(device->word, sizeof(device->word), "memif:%.48s-%u-%u-%u",
				 call_address(call), plane, low, low == peer ? call->index : peer);
			device->is_server = call->index < peer;
			call->wall_ports[count] = (struct wall_port){
				.port = plane, .peer = peer, .rx_queue = count, .tx_queue = count};
			count++;
		}
	choice->device_count = count;
}

// Ports that each join this host with another one, in the order of planes and peers.
static void name_places(struct call *call, uint32_t planes, uint32_t hosts)
{
	struct choice *choice = &call->choice;
	uint32_t count = 0;
	struct device devices[DEVICES_MAX];
	for (uint32_t plane = 0; plane < planes; plane++)
		for (uint32_t peer = 0; peer < hosts; peer++) {
			if (!call->peers[peer])
				continue;
			devices[count] = choice->devices[find_place(choice, plane, peer)];
			devices[count].is_server = call->index < peer;
			call->wall_ports[count] = (struct wall_port){
				.port = plane, .peer = peer, .rx_queue = count, .tx_queue = count};
			count++;
		}
	memcpy(choice->devices, devices, count * sizeof(*devices));
}

static void name_devices(struct call *call)
{
	struct choice *choice = &call->choice;
	uint32_t planes = planes_of(call), hosts = call->meeting.options.count;
	if (choice->device_count == 0)
		name_memifs(call, planes, hosts);
	else if (choice->places[0].is_named)
		name_places(call, planes, hosts);
	else
		for (uint32_t i = 0; i < planes; i++) {
			choice->devices[i].is_server = call->index == 0;
			call->wall_ports[i] = (struct wall_port){
				.port = i, .peer = WALL_ANY_HOST, .rx_queue = i, .tx_queue = i};
		}
}

static int open_devices(struct call *call, const struct world *world)
{
	struct arena arena;
	const struct dpdk_options dpdk = start_of_dpdk(call);
	int rc = codec_init(&call->codec, world, &call->refusal);
	if (rc < 0)
		return rc;
	call->ports_bytes = PORTS_BYTES;
	call->ports_memory = memory_reserve(PORTS_BYTES);
	if (call->ports_memory == NULL)
		return refuse(&call->refusal, -ENODEV, "no memory for ports");
	arena_init(&arena, call->ports_memory, PORTS_BYTES);
	for (uint32_t i = 0; i < call->choice.device_count; i++) {
		uint32_t port = call->wall_ports[i].port, planes = world->fabric.planes;
		call->choice.devices[i].filter = codec_filter(
			&call->codec, call->index * world->fabric.nics_per_host + port / planes,
			(uint8_t)(port % planes));
	}
	call->ports.frames = FRAMES_LEAST + FRAMES_EACH * call->choice.device_count;
	call->ports.frame_bytes_max = call->codec.frame_bytes_max;
	call->ports.loans = call->choice.gpu != NULL ? LOANS : 0;
	return port_device_open(&call->ports, &arena, call->choice.devices,
				call->choice.device_count, &dpdk, &call->refusal);
}

static int await_link(struct call *call, uint32_t index, time_t deadline)
{
	while (!port_device_is_up(&call->ports, index)) {
		struct timespec step = {.tv_nsec = 1000000};
		if (*signals_stop() != 0)
			return refuse(&call->refusal, -EINTR, "interrupted");
		if (time(NULL) > deadline) {
			snprintf(call->refusal.text, sizeof(call->refusal.text),
				 "port '%.180s' has had no link for %d s",
				 call->choice.devices[index].word, LINK_S);
			return -ENODEV;
		}
		nanosleep(&step, NULL);
	}
	return 0;
}

int setup_meet(struct call *call)
{
	uint8_t mine = 1, all[MEETING_HOSTS_MAX];
	return meeting_share(&call->meeting, &mine, all, 1, &call->refusal);
}

// One host after the other, in their order: servers of shared memory are there before their
// clients, which DPDK wants.
int setup_ports(struct call *call, const struct world *world)
{
	if (call->ports.queue_count > 0)
		return 0;
	int rc = check_count(call); // also where nobody is met
	if (rc == 0)
		name_devices(call);
	for (uint32_t host = 0; rc == 0 && host < call->meeting.options.count; host++) {
		if (host == call->index)
			rc = open_devices(call, world);
		if (rc == 0)
			rc = setup_meet(call);
	}
	time_t deadline = time(NULL) + LINK_S;
	for (uint32_t i = 0; rc == 0 && i < call->choice.device_count; i++)
		rc = await_link(call, i, deadline);
	for (uint32_t i = 0; rc == 0 && i < call->choice.device_count; i++)
		call->wall_ports[i].has_mac = port_device_mac(&call->ports, i,
							      call->wall_ports[i].mac);
	return rc < 0 ? rc : port_device_settle(&call->ports, &call->refusal);
}
