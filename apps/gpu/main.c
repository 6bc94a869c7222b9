// SPDX-License-Identifier: Apache-2.0
// weft gpu: takes ranks of a run and has a generator play them.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/files/files.h>
#include <weft/files/signals.h>
#include <weft/gpu/gpu_record.h>

#include "gpu.h"
#include "help.h"
#include "weft_version.h"
#include <weft/run/outcome.h>

#define RECORD_BYTES_MAX ((size_t)1 << 28)
#define NS_PER_S INT64_C(1000000000)

static int claim(struct gpu_link *link, const uint32_t *ranks, uint32_t count, const char *device,
		 struct refusal *refusal)
{
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		rc = gpu_link_claim(link, ranks[i], device, refusal);
	return rc;
}

// What the other end sees where this one gives up while its process still lives.
static void give_up(struct gpu_link *link, const uint32_t *ranks, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (gpu_link_rank_state(link, ranks[i]) == GPU_RANK_READY)
			gpu_link_set_rank(link, ranks[i], GPU_RANK_FAILED);
}

static int show(const struct choice *choice, const struct gpu_link *link, const uint32_t *ranks,
		uint32_t count, const struct played *played)
{
	uint64_t wrong = 0;
	if (choice->is_json)
		show_json(stdout, link, ranks, count, played);
	else
		show_table(stdout, link, ranks, count, played);
	for (uint32_t i = 0; i < count; i++)
		wrong += link->figures[ranks[i]].wrong;
	if (wrong > 0)
		fprintf(stderr, "weft gpu: %llu elements are not what was made or summed\n",
			(unsigned long long)wrong);
	return outcome_end("gpu", wrong > 0 ? EXIT_NOT_VALID : EXIT_SUCCESS);
}

static int refuse_text(struct refusal *refusal, const char *why)
{
	snprintf(refusal->text, sizeof(refusal->text), "--payload device: %s", why);
	return -ENODEV;
}

// Before anything is taken: whether the device is there, and its name.
static int find_device(const struct choice *choice, char ret[GPU_NAME_BYTES],
		       struct refusal *refusal)
{
	struct gpu_probe probe;
	snprintf(ret, GPU_NAME_BYTES, "CPU");
	if (choice->device_index == DEVICE_NONE)
		return 0;
	if (!gpu_cuda_is_built())
		return refuse(refusal, -ENODEV,
			      "this weft was built without CUDA (no nvcc was found): --device none "
			      "computes the same on the CPU");
	gpu_probe(&probe);
	if (choice->device_index >= probe.count) {
		snprintf(refusal->text, sizeof(refusal->text), "there is no CUDA device %u: %s",
			 choice->device_index,
			 probe.count == 0 ? probe.reason : "weft gpu --probe lists them");
		return -ENODEV;
	}
	snprintf(ret, GPU_NAME_BYTES, "%s", probe.devices[choice->device_index].name);
	return 0;
}

// Sending from a device's memory: what of it is missing here.
static int check_payload(const struct choice *choice, struct refusal *refusal)
{
	struct gpu_probe probe;
	if (choice->payload == NULL || strcmp(choice->payload, "host") == 0)
		return 0;
	gpu_probe(&probe);
	uint32_t index = choice->device_index;
	const char *why = "no port of this build sends from a device's memory: that needs a NIC "
			  "whose driver maps it (dma-buf or peer memory)";
	if (index == DEVICE_NONE)
		why = "the CPU's generator has no memory of a device";
	else if (!probe.devices[index].has_dma_buf && !probe.devices[index].has_rdma)
		why = "the driver offers neither dma-buf nor peer memory of this device";
	return refuse_text(refusal, why);
}

static void show_probe(void)
{
	struct gpu_probe probe;
	gpu_probe(&probe);
	puts("CPU: a generator on one thread (--device none)");
	printf("CUDA in this build: %s\n", gpu_cuda_is_built() ? "yes" : "no, nvcc was not found");
	if (probe.driver_version == 0)
		printf("CUDA driver: %s\n", probe.reason);
	else
		printf("CUDA driver: for CUDA %d.%d%s%s\n", probe.driver_version / 1000,
		       probe.driver_version % 1000 / 10, probe.count == 0 ? ", " : "",
		       probe.reason);
	for (uint32_t i = 0; i < probe.count; i++) {
		const struct gpu_device *of = &probe.devices[i];
		printf("  --device %u: %s, sm_%d%d, %.1f GiB; its memory for NICs: %s\n", i,
		       of->name, of->major, of->minor, (double)of->bytes / (1 << 30),
		       of->has_dma_buf	      ? "by dma-buf"
			       : of->has_rdma ? "by peer memory"
					      : "no");
	}
	puts("Data go through pinned memory of the host: this build has no port that sends from a "
	     "device's memory");
}

static int generate(const struct choice *choice, struct gpu_link *link, const uint32_t *ranks,
		    uint32_t count, const char *device, struct refusal *refusal)
{
	struct gpu_generator_options options = {
		.ranks = ranks, .rank_count = count, .load = choice->load, .stop = signals_stop()};
	int rc = claim(link, ranks, count, device, refusal);
	if (rc < 0)
		return rc;
	rc = choice->device_index == DEVICE_NONE
		? gpu_host_run(link, &options, refusal)
		: gpu_cuda_run(link, &options, choice->device_index, refusal);
	if (rc < 0)
		give_up(link, ranks, count);
	return rc;
}

// With a run of weft emu.
static int join(const struct choice *choice, const char *device)
{
	struct refusal refusal = {0};
	struct gpu_link link;
	uint32_t *ranks = NULL, count = 0;
	int rc = gpu_link_open(&link, choice->link, choice->timeout_s * NS_PER_S, signals_stop(),
			       &refusal);
	if (rc < 0)
		return outcome_refused("gpu", &refusal, rc);
	rc = choice_ranks(choice->ranks, link.header->rank_count, &ranks, &count, &refusal);
	if (rc == 0)
		rc = generate(choice, &link, ranks, count, device, &refusal);
	int status = rc < 0 ? outcome_refused("gpu", &refusal, rc)
			    : show(choice, &link, ranks, count, NULL);
	gpu_link_close(&link);
	free(ranks);
	return status;
}

// With records: their ranks, in a link of their own that has no name.
static int play_link(const struct choice *choice, const struct gpu_record *records,
		     struct gpu_link *run, const char *device, struct refusal *refusal)
{
	struct gpu_link link;
	struct gpu_replay *replay;
	uint32_t rows[PLAYS_MAX], count = choice->play_count;
	for (uint32_t i = 0; i < count; i++)
		rows[i] = i;
	int rc = gpu_link_join(&link, run, refusal);
	if (rc < 0)
		return outcome_refused("gpu", refusal, rc);
	rc = gpu_replay_start(&replay, run, records, GPU_DAMAGE_NONE, refusal);
	if (rc < 0) {
		gpu_link_close(&link);
		return outcome_refused("gpu", refusal, rc);
	}
	rc = generate(choice, &link, rows, count, device, refusal);
	const struct played played = {.scale_by = choice->scale_by,
				      .step_bytes = run->header->stretch_bytes,
				      .late_ns = gpu_replay_end(replay),
				      .files = choice->plays};
	int status = rc < 0 ? outcome_refused("gpu", refusal, rc)
			    : show(choice, &link, rows, count, &played);
	gpu_link_close(&link);
	return status;
}

static int play_records(const struct choice *choice, struct gpu_record *records, const char *device,
			struct refusal *refusal)
{
	struct gpu_link run;
	for (uint32_t i = 0; i < choice->play_count; i++)
		gpu_record_scale(&records[i], choice->scale_by);
	int rc = gpu_record_link(&run, NULL, records, choice->play_count, choice->has_barrier,
				 refusal);
	if (rc < 0)
		return outcome_refused("gpu", refusal, rc);
	int status = play_link(choice, records, &run, device, refusal);
	gpu_link_close(&run);
	return status;
}

static int read_record(struct gpu_record *ret, const char *path, struct refusal *refusal)
{
	char *text;
	size_t bytes;
	int rc = file_read(path, RECORD_BYTES_MAX, &text, &bytes, refusal);
	if (rc < 0)
		return rc;
	rc = gpu_record_read(ret, path, text, bytes, refusal);
	free(text);
	return rc;
}

static int play(const struct choice *choice)
{
	struct refusal refusal = {0};
	static struct gpu_record records[PLAYS_MAX];
	char device[GPU_NAME_BYTES];
	uint32_t count = 0;
	int rc = find_device(choice, device, &refusal);
	if (rc == 0)
		rc = check_payload(choice, &refusal);
	if (rc < 0)
		return outcome_refused("gpu", &refusal, rc);
	if (choice->play_count == 0)
		return join(choice, device);
	for (; rc == 0 && count < choice->play_count; count++)
		rc = read_record(&records[count], choice->plays[count], &refusal);
	int status = rc < 0 ? outcome_refused("gpu", &refusal, rc)
			    : play_records(choice, records, device, &refusal);
	for (uint32_t i = 0; i < count; i++)
		gpu_record_free(&records[i]);
	return status;
}

int main(int argc, char **argv)
{
	struct choice choice;
	struct refusal refusal = {0};
	int rc = choice_parse(&choice, argc, argv, &refusal);
	if (rc < 0)
		return outcome_refused("gpu", &refusal, rc);
	if (rc == 0 && choice.wants_probe)
		show_probe();
	else if (rc == 0) {
		signals_catch();
		return play(&choice);
	}
	return outcome_end("gpu", EXIT_SUCCESS);
}
