// SPDX-License-Identifier: Apache-2.0
// A pair whose other end is not weft: messages to it and from it, as RDMA writes with immediate
// over RoCEv2. What comes is message i at 64-bit place i * bytes of a region, with i as its
// immediate value, and so is what is sent. Both ends know the bytes: word i of a region is (7 << 32
// ^ i) times an odd constant, low byte first. With --plain they have no immediate, and one more
// message each way has it, which completes behind them.

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <jansson.h>

#include <weft/core/opcode.h>
#include <weft/files/files.h>
#include <weft/result/figures.h>
#include <weft/result/put.h>
#include <weft/run/outcome.h>
#include <weft/workload/program.h>

#include "host.h"
#include "weft_version.h"

#define SEED UINT64_C(7)
#define FACTOR UINT64_C(0x9e3779b97f4a7c15)
#define MESSAGES 1000u
#define QPN_MASK 0xffffffu
#define LINGER_NS INT64_C(2000000000) // that the last answer is given again, if it was lost
#define OWN 0u
#define OTHER 1u

struct foreign {
	struct call *call;
	uint64_t placed, wrong; // bytes that came
	int64_t over_ns;	// when to end; 0: not done
	int news;		// enum wall_news
};

static uint8_t byte_at(uint64_t place)
{
	return (uint8_t)(((SEED << 32 ^ place / 8) * FACTOR) >> (place % 8 * 8));
}

static void fill(void *context, const struct dma_write *where, uint8_t *ret)
{
	const struct foreign *foreign = context;
	const struct choice *choice = &foreign->call->choice;
	uint64_t address = 0;
	for (uint32_t i = 0; i < choice->foreign_count; i++)
		if (choice->foreign[i].qpn == where->qp)
			address = choice->foreign[i].address;
	for (uint32_t i = 0; i < where->bytes; i++)
		ret[i] = byte_at(where->va - address + i);
}

static void store(void *context, const struct dma_write *where, const uint8_t *payload)
{
	struct foreign *foreign = context;
	foreign->placed += where->bytes;
	for (uint32_t i = 0; i < where->bytes; i++)
		foreign->wrong += payload[i] != byte_at(where->va + i);
}

static uint32_t messages_of(const struct call *call)
{
	uint32_t messages = call->choice.wish.messages;
	return messages > 0 ? messages : MESSAGES;
}

// Receives first: their numbers are the immediate values of what comes.
static int make_program(struct call *call, struct host_run *host_run)
{
	struct program *program;
	struct arena arena;
	const struct pair_wish *wish = &call->choice.wish;
	uint32_t bytes = (uint32_t)wish->size_min;
	uint32_t plain = call->choice.is_plain ? messages_of(call) : 0;
	uint32_t told = call->choice.is_plain ? 1 : messages_of(call); // that have an immediate
	uint32_t messages = plain + told;
	host_run->program_bytes = ((size_t)program_bytes(2, 4 * messages, 2 * messages) + 63) &
		~(size_t)63;
	host_run->program_memory = memory_reserve(host_run->program_bytes);
	if (host_run->program_memory == NULL)
		return refuse(&call->refusal, -ENODEV, "no memory for % messages", messages);
	arena_init(&arena, host_run->program_memory, host_run->program_bytes);
	int rc = program_create(&program, &arena, 2, 4 * messages, 2 * messages, &call->refusal);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < told; i++)
		program_receive(program, OWN, OTHER, 0, bytes, 0, false);
	for (uint32_t i = 0; i < told; i++)
		program_send(program, OTHER, OWN, 0, bytes, 0);
	program->has_foreign = true;
	program->plain_bytes = (uint64_t)plain * bytes;
	program->immediate_first = program->op_count + plain;
	for (uint32_t i = 0; i < messages; i++)
		program_receive(program, OTHER, OWN, 0, bytes, 0, false);
	for (uint32_t i = 0; i < messages; i++) {
		uint32_t send = program_send(program, OWN, OTHER, 0, bytes, 0);
		program_wait(program, send, i < wish->depth ? OP_NONE : send - wish->depth);
	}
	call->scenario.traffic.kind = TRAFFIC_GOAL;
	call->scenario.traffic.program = program;
	return program_seal(program, &arena, &call->refusal);
}

// ---------------------------------------------------------------- the run

static void on_done(void *context)
{
	struct foreign *foreign = context;
	foreign->over_ns = clocks_now_ns(NULL) + LINGER_NS;
}

static int64_t clock_ns(void *context)
{
	struct foreign *foreign = context;
	int64_t now = clocks_now_ns(NULL);
	if (foreign->over_ns != 0 && now > foreign->over_ns)
		foreign->news = WALL_ENDED;
	return now;
}

static int build(struct foreign *foreign, struct host_run *host_run)
{
	struct call *call = foreign->call;
	int rc = make_program(call, host_run);
	if (rc == 0)
		rc = setup_world(call, host_run);
	if (rc == 0)
		rc = setup_ports(call, &host_run->world);
	if (rc < 0)
		return rc;
	const struct wall_options options = {
		.host = OWN,
		.ports = &call->ports,
		.wall_ports = call->wall_ports,
		.wall_port_count = call->ports.queue_count,
		.payload = {.fill = fill, .store = store, .payload_context = foreign},
		.taps = {.pcap = call->choice.pcap, .program = WEFT_VERSION_TEXT},
		.foreign = call->choice.foreign,
		.foreign_count = call->choice.foreign_count,
		.stall_ps = STALL_PS,
		.dead_ps = DEAD_PS};
	return wall_create(&host_run->wall, &host_run->world, &options, &call->refusal);
}

static json_t *counts_of(const struct transport_counters *count)
{
	json_t *again = json_object();
	for (enum rtx_reason reason = 0; reason < RTX_REASON_COUNT; reason++)
		json_object_set_new(again, rtx_name(reason),
				    json_integer((json_int_t)count->rtx[reason]));
	return again;
}

// ACKs and NAKs either way, and data behind a gap: a NAK asks for what is missing, once.
static json_t *answers_of(const struct transport_counters *count)
{
	return json_pack("{s:I,s:I,s:I,s:I,s:I}", "acks_sent", (json_int_t)count->sacks_sent,
			 "naks_sent", (json_int_t)count->nacks_sent, "acks_received",
			 (json_int_t)count->sacks_received, "naks_received",
			 (json_int_t)count->nacks_received, "out_of_order",
			 (json_int_t)count->out_of_window);
}

static void print(const struct foreign *foreign, const struct host_run *host_run)
{
	const struct wall_counts *counts = wall_counts(host_run->wall);
	const struct transport_counters *count = &host_run->world.outcome->transport;
	json_t *bad = json_object();
	for (int i = 0; i < WIRE_REASON_COUNT; i++)
		if (counts->bad_frames[i] > 0)
			json_object_set_new(bad, wire_reason_name((enum wire_reason)i),
					    json_integer((json_int_t)counts->bad_frames[i]));
	json_t *asked = json_object();
	for (int i = 0; i < RC_REQUEST_COUNT; i++)
		if (counts->requests[i] > 0)
			json_object_set_new(asked, wall_request_name((enum rc_request)i),
					    json_integer((json_int_t)counts->requests[i]));
	json_t *all = json_pack(
		"{s:s,s:f,s:s,s:o,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:o,s:I,s:I,s:o,s:o}",
		"end", wall_end_name(host_run->end), "wall_s", host_run->wall_s, "conclude",
		host_run_fidelity(foreign->call, host_run), "loop", json_loop(host_run),
		"messages_sent", (json_int_t)count->messages_sent, "messages_received",
		(json_int_t)count->messages_received, "messages_unexpected",
		(json_int_t)host_run->world.outcome->program.unexpected, "payload_bytes_placed",
		(json_int_t)foreign->placed, "payload_bytes_wrong", (json_int_t)foreign->wrong,
		"data_packets", (json_int_t)count->data_packets, "data_received",
		(json_int_t)count->data_received, "duplicates", (json_int_t)count->duplicates,
		"qps_failed", (json_int_t)count->qps_failed, "sent_again", counts_of(count),
		"answers", answers_of(count), "neighbours_learnt",
		(json_int_t)counts->neighbours_learnt, "neighbours_moved",
		(json_int_t)counts->neighbours_moved, "bad_frames", bad, "requests_refused", asked);
	document_print(stdout, all, JSON_REAL_PRECISION(12));
}

// What the peer asked that weft does not have. Returns whether there was any.
static bool tell_requests(const struct wall_counts *counts)
{
	bool has_any = false;
	for (int i = 0; i < RC_REQUEST_COUNT; i++) {
		if (counts->requests[i] == 0)
			continue;
		has_any = true;
		fprintf(stderr,
			"weft host: the peer asked %" PRIu64
			" times for %s, which weft does not have: answered by a NAK (invalid "
			"request)\n",
			counts->requests[i], wall_request_name((enum rc_request)i));
	}
	return has_any;
}

static uint64_t bytes_due(const struct call *call)
{
	return call->choice.wish.size_min * (messages_of(call) + call->choice.is_plain);
}

static int judge(const struct foreign *foreign, const struct host_run *host_run)
{
	bool was_asked = tell_requests(wall_counts(host_run->wall));
	if (foreign->wrong > 0)
		fprintf(stderr, "weft host: wrong payload: %" PRIu64 " bytes\n", foreign->wrong);
	if (host_run->world.outcome->program.unexpected > 0)
		fprintf(stderr,
			"weft host: %" PRIu64
			" messages fit no receive: another length than -b, or "
			"an immediate value that was not to come\n",
			host_run->world.outcome->program.unexpected);
	bool has_gap = host_run->end == WALL_END_DONE && foreign->placed < bytes_due(foreign->call);
	if (has_gap)
		fprintf(stderr,
			"weft host: %" PRIu64 " bytes came before the immediate that says that all "
			"%" PRIu64 " are there\n",
			foreign->placed, bytes_due(foreign->call));
	if (host_run->end == WALL_END_FAILED)
		fprintf(stderr, "weft host: a QP went to ERROR: %s\n",
			was_asked ? "by that NAK" : "its peer did not answer");
	if (host_run->end != WALL_END_DONE && host_run->end != WALL_END_FAILED)
		fprintf(stderr, "weft host: %s\n", wall_end_name(host_run->end));
	if (host_run->end == WALL_END_FAILED)
		return EXIT_PEER_LOST;
	return host_run->end != WALL_END_DONE || foreign->wrong > 0 || has_gap ? EXIT_NOT_VALID
									       : EXIT_SUCCESS;
}

static void run(struct foreign *foreign, struct host_run *host_run)
{
	const struct wall_control control = {.clock = clock_ns,
					     .clock_context = foreign,
					     .stop = signals_stop(),
					     .news = &foreign->news,
					     .done = on_done,
					     .done_context = foreign,
					     .owns_core = foreign->call->choice.owns_core};
	int64_t start_ns = clocks_now_ns(NULL);
	host_run->end = wall_run(host_run->wall, &control);
	host_run->wall_s = (double)(clocks_now_ns(NULL) - start_ns) / 1e9;
	world_collect(&host_run->world);
	host_run->taps_rc = wall_close(host_run->wall, &host_run->taps, &host_run->taps_refusal);
}

int foreign_run(struct call *call)
{
	static struct foreign foreign;
	struct host_run host_run = {0};
	foreign.call = call;
	for (uint32_t i = 0; i < call->choice.foreign_count; i++) // as the world counts them
		call->choice.foreign[i].qpn = (call->choice.foreign[i].qpn - RC_QPN_FIRST) &
			QPN_MASK;
	call->meeting.options = (struct meeting_options){.index = OWN, .count = 1};
	signals_catch();
	int rc = setup_scenario(call);
	if (rc == 0 && call->scenario.frames.is_qpn_drawn)
		rc = refuse(&call->refusal, -EINVAL,
			    "wire.qpns: with --foreign each end says its QP number: counted only");
	if (rc == 0)
		rc = build(&foreign, &host_run);
	int status = rc < 0 ? outcome_refused("host", &call->refusal, rc) : EXIT_SUCCESS;
	if (rc == 0) {
		run(&foreign, &host_run);
		print(&foreign, &host_run);
		status = outcome_end("host", judge(&foreign, &host_run));
		if (host_run.taps_rc < 0 && status == EXIT_SUCCESS)
			status = outcome_refused("host", &host_run.taps_refusal, host_run.taps_rc);
	}
	setup_world_free(&host_run);
	dpdk_stop();
	return status;
}
