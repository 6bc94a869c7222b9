// SPDX-License-Identifier: Apache-2.0
// --out: what all hosts of a scenario measured, as one result that host 0 writes. Each host is a
// shard of the world, and gives host 0 the pieces of its own; what is not there at the end of a run
// that was cut is left out, and the result says so.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <weft/diagnose/diagnose.h>
#include <weft/result/put.h>
#include <weft/result/report.h>
#include <weft/world/world_pieces.h>

#include "host.h"
#include "weft_version.h"

#define CUT_TIMEOUT_MS 250u // for those that a cut run has left

// What a host gives: this, what it saw of each other one, and the pieces of its shard.
struct head {
	struct host_summary host_summary;
	ps_t began_ps; // after the first of all began
};

// Pieces, to be written behind each other or read again.
struct pieces {
	uint8_t *data;
	uint64_t bytes, room, at;
	bool is_bad; // no memory, or they end too early
};

static void write_piece(void *context, void *memory, size_t bytes)
{
	struct pieces *pieces = context;
	if (pieces->is_bad)
		return;
	if (pieces->bytes + bytes > pieces->room) {
		uint64_t room = 2 * (pieces->bytes + bytes);
		uint8_t *more = realloc(pieces->data, room);
		pieces->is_bad = more == NULL;
		if (more == NULL)
			return;
		pieces->data = more;
		pieces->room = room;
	}
	memcpy(pieces->data + pieces->bytes, memory, bytes);
	pieces->bytes += bytes;
}

static void read_piece(void *context, void *memory, size_t bytes)
{
	struct pieces *pieces = context;
	pieces->is_bad |= bytes > pieces->bytes - pieces->at;
	if (pieces->is_bad)
		return;
	memcpy(memory, pieces->data + pieces->at, bytes);
	pieces->at += bytes;
}

// ---------------------------------------------------------------- before traffic

int folder_begin(struct call *call)
{
	const struct choice *choice = &call->choice;
	char place[STAGING_PATH_BYTES];
	if (choice->out == NULL || choice->rank != 0)
		return 0;
	int rc = staging_begin(&call->staging, choice->out, NULL, &call->refusal);
	if (rc == 0 && choice->pcap != NULL && staging_place(&call->staging, choice->pcap, place))
		return refuse(&call->refusal, -EINVAL,
			      "--pcap lies in the folder of --out, which holds the result of all "
			      "hosts: name another place");
	return rc;
}

// ---------------------------------------------------------------- all together

struct folder {
	uint32_t hosts, reported_count;
	struct head *heads; // [hosts]
	bool *has_reported; // [hosts]
	uint64_t digest;
};

static ps_t first_ps(const struct call *call)
{
	int64_t first_ns = 0;
	for (uint32_t i = 1; i < call->meeting.options.count; i++)
		if (clocks_shift_ns(call, i) < first_ns)
			first_ns = clocks_shift_ns(call, i);
	return first_ns * PS_PER_NS;
}

static int give(struct call *call, struct host_run *host_run, struct pieces *ret)
{
	struct head head = {0};
	uint32_t hosts = call->meeting.options.count;
	head.began_ps = clocks_shift_ns(call, call->index) * PS_PER_NS - first_ps(call);
	world_move_times(&host_run->world, call->index, head.began_ps);
	world_collect(&host_run->world);
	host_summary_of(&head.host_summary, call, host_run);
	write_piece(ret, &head, sizeof(head));
	for (uint32_t i = 0; i < hosts; i++) {
		struct seen_pair seen;
		seen_pair(wall_seen(host_run->wall), call->index, i, &seen);
		write_piece(ret, &seen, sizeof(seen));
	}
	world_pieces(&host_run->world, call->index, call->index, write_piece, ret);
	return ret->is_bad ? refuse(&call->refusal, -ENOMEM, "no memory for what hosts give") : 0;
}

static void hash(struct folder *folder, const struct pieces *pieces) // FNV-1a
{
	for (uint64_t i = 0; i < pieces->bytes; i++)
		folder->digest = (folder->digest ^ pieces->data[i]) * UINT64_C(0x100000001b3);
}

// What host `host` gave becomes part of this process' world.
static int take(struct call *call, struct host_run *host_run, struct folder *folder, uint32_t host,
		struct pieces *from)
{
	uint32_t hosts = folder->hosts;
	hash(folder, from);
	read_piece(from, &folder->heads[host], sizeof(folder->heads[host]));
	for (uint32_t i = 0; i < hosts; i++) {
		struct seen_pair seen = {0};
		read_piece(from, &seen, sizeof(seen));
		if (call->pairs.of != NULL)
			call->pairs.of[(size_t)host * hosts + i] = seen;
	}
	if (host != call->index)
		world_pieces(&host_run->world, host, call->index, read_piece, from);
	folder->has_reported[host] = true;
	folder->reported_count++;
	return !from->is_bad ? 0
			     : refuse(&call->refusal, -EINVAL,
				      "host % gave another result than this scenario has", host);
}

static int gather(struct call *call, struct host_run *host_run, struct folder *folder)
{
	uint32_t hosts = call->meeting.options.count;
	bool is_done = host_run->end == WALL_END_DONE;
	struct pieces mine = {0};
	struct meeting_part *parts = calloc(hosts, sizeof(*parts));
	int rc = parts == NULL ? refuse(&call->refusal, -ENOMEM, "no memory for hosts")
			       : give(call, host_run, &mine);
	const struct meeting_part part = {mine.data, mine.bytes};
	if (rc == 0)
		rc = meeting_gather(&call->meeting, &part, parts,
				    is_done ? call->choice.timeout_s * 1000 : CUT_TIMEOUT_MS,
				    &call->refusal);
	if (rc == 0 && call->index == 0)
		rc = take(call, host_run, folder, 0, &mine);
	for (uint32_t i = 1; call->index == 0 && parts != NULL && i < hosts; i++) {
		struct pieces pieces = {.data = parts[i].data, .bytes = parts[i].bytes};
		if (rc == 0 && pieces.data != NULL)
			rc = take(call, host_run, folder, i, &pieces);
		free(parts[i].data);
	}
	free(parts);
	free(mine.data);
	return rc;
}

// ---------------------------------------------------------------- the result

static void put_clocks(json_t *to, const struct call *call, const struct folder *folder)
{
	int64_t error_ns = 0;
	ps_t last_ps = 0;
	if (!call->clocks.is_whole) {
		put_reason(to, "clock_error_ns", "clocks were not read behind the run");
		put_reason(to, "began_within_ns", "clocks were not read behind the run");
		return;
	}
	for (uint32_t i = 0; i < folder->hosts; i++) {
		const struct host_clock *clock = &call->clocks.of[i];
		error_ns = clock->before.error_ns > error_ns ? clock->before.error_ns : error_ns;
		last_ps = ps_max(last_ps, folder->heads[i].began_ps);
	}
	put_count(to, "clock_error_ns", (uint64_t)error_ns);
	put_count(to, "began_within_ns", (uint64_t)(last_ps / PS_PER_NS));
}

static json_t *wall_json(const struct call *call, const struct folder *folder,
			 const struct report_input *input)
{
	json_t *to = json_object();
	put_count(to, "hosts", folder->hosts);
	put_count(to, "hosts_told", folder->reported_count);
	if (folder->reported_count < folder->hosts)
		put_reason(to, "frames_unseen", "not all hosts reported their figures");
	else
		put_count(to, "frames_unseen",
			  input->run.sent > input->run.delivered
				  ? input->run.sent - input->run.delivered
				  : 0);
	put_clocks(to, call, folder);
	put(to, "measured", json_times(call));
	json_t *each = array_in(to, "each");
	for (uint32_t i = 0; i < folder->hosts; i++) {
		if (!folder->has_reported[i])
			continue;
		json_t *one = host_summary_json(&folder->heads[i].host_summary);
		put_count(one, "host", i);
		put_time(one, "began_ps", folder->heads[i].began_ps);
		put_text(one, "end",
			 wall_end_name((enum wall_end)folder->heads[i].host_summary.end));
		json_array_append_new(each, one);
	}
	return to;
}

// Frames between hosts, as those that reported saw them.
static void count_frames(const struct call *call, const struct folder *folder,
			 struct report_input *ret)
{
	for (uint32_t i = 0; call->pairs.of != NULL && i < folder->hosts; i++)
		for (uint32_t k = 0; folder->has_reported[i] && k < folder->hosts; k++) {
			const struct seen_pair *seen =
				&call->pairs.of[(size_t)i * folder->hosts + k];
			ret->run.sent += seen->frames_left;
			ret->run.delivered += seen->frames_came;
		}
}

static const char *limit_of(const struct host_run *host_run)
{
	return host_run->end == WALL_END_TIME	  ? "limits.time"
		: host_run->end == WALL_END_LIMIT ? "limits.packets"
						  : NULL;
}

static int write_all(struct call *call, const struct host_run *host_run,
		     const struct folder *folder)
{
	struct host_summary *host_summary = calloc(folder->hosts, sizeof(*host_summary)), sum;
	uint32_t count = 0;
	if (host_summary == NULL)
		return refuse(&call->refusal, -ENOMEM, "no memory for a result");
	for (uint32_t i = 0; i < folder->hosts; i++)
		if (folder->has_reported[i])
			host_summary[count++] = folder->heads[i].host_summary;
	host_summary_add(&sum, host_summary, count);
	free(host_summary);
	struct report_input input = {
		.world = &host_run->world,
		.end = wall_end_name(host_run->end),
		.is_partial = host_run->end != WALL_END_DONE,
		.is_whole = count == folder->hosts,
		.limit_option = limit_of(host_run),
		.run = {.digest = folder->digest,
			.data_packets = host_run->world.outcome->transport.data_packets,
			.now_ps = ps_max(sum.wall_ps, host_run->world.outcome->end_ps),
			.cpu_s = (double)sum.cpu_ns / 1e9,
			.wall_s = host_run->wall_s,
			.ranks = count},
		.memory_peak_bytes = sum.memory_bytes,
		.version = WEFT_VERSION_TEXT,
		.command = call->command,
		.out_dir = call->staging.part,
		.diagnosis = &diagnose_section,
	};
	count_frames(call, folder, &input);
	pairs_fidelity(&input.fidelity, call);
	snprintf(input.fidelity.conclude, sizeof(input.fidelity.conclude), "%s",
		 table_fidelity(call, sum.lateness_ps, sum.stalled_ps,
				(ps_t)(host_run->wall_s * (double)PS_PER_S) * count));
	input.wall = wall_json(call, folder, &input);
	int rc = report_write(&input, &call->refusal);
	json_decref(input.wall);
	call->is_missed = !input.is_partial && !report_is_expected(&input);
	if (rc == 0)
		rc = manifest_write(call->staging.part, &call->inputs, WEFT_VERSION_TEXT,
				    &call->refusal);
	return rc == 0 ? staging_end(&call->staging, &call->refusal) : rc == -EINVAL ? rc : -EIO;
}

int folder_write(struct call *call, struct host_run *host_run)
{
	uint32_t hosts = call->meeting.options.count;
	struct folder folder = {.hosts = hosts, .digest = UINT64_C(0xcbf29ce484222325)};
	if (!call->gathers)
		return 0;
	folder.heads = calloc(hosts, sizeof(*folder.heads));
	folder.has_reported = calloc(hosts, sizeof(*folder.has_reported));
	int rc = folder.heads == NULL || folder.has_reported == NULL
		? refuse(&call->refusal, -ENOMEM, "no memory for hosts")
		: gather(call, host_run, &folder);
	if (rc == 0 && call->index == 0) {
		call->pairs.is_whole = call->pairs.of != NULL && folder.reported_count == hosts;
		world_collect(&host_run->world);
		rc = write_all(call, host_run, &folder);
	}
	free(folder.heads);
	free(folder.has_reported);
	return rc;
}
