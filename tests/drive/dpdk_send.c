// SPDX-License-Identifier: Apache-2.0
// `weft pcap send` into shared memory: what another process gets by it are the frames of the
// capture, whole and in their order.

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <weft/ports/device.h>

#define FRAMES 400
#define BYTES_MAX 9000
#define WAIT_S 60

static uint8_t frames[FRAMES][BYTES_MAX];
static uint32_t lengths[FRAMES];

// A pcap of ns.
static void write_capture(const char *path)
{
	static const uint32_t head[6] = {0xa1b23c4d, 2 | 4 << 16, 0, 0, 65535, 1};
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fwrite(head, sizeof(head), 1, file);
	for (uint32_t i = 0; i < FRAMES; i++) {
		lengths[i] = 60 + i * 37 % (BYTES_MAX - 60);
		for (uint32_t k = 0; k < lengths[i]; k++)
			frames[i][k] = (uint8_t)(i * 31 + k);
		uint32_t row[4] = {1700000000, i * 10000, lengths[i], lengths[i]};
		fwrite(row, sizeof(row), 1, file);
		fwrite(frames[i], lengths[i], 1, file);
	}
	assert_int_equal(fclose(file), 0);
}

static pid_t start(const char *capture, const char *port)
{
	pid_t child = fork();
	if (child != 0)
		return child;
	execl(getenv("WEFT"), "weft", "pcap", "send", capture, port, NULL);
	_exit(127);
}

// DPDK's memif calls once: who listens must be there.
static void wait_for(const char *word)
{
	char line[256], name[96];
	snprintf(name, sizeof(name), "@weft-%u-%s", (unsigned)getuid(), word + strlen("memif:"));
	bool is_there = false;
	for (time_t end = time(NULL) + WAIT_S; !is_there && time(NULL) < end; usleep(1000)) {
		FILE *sockets = fopen("/proc/net/unix", "r");
		assert_non_null(sockets);
		while (fgets(line, sizeof(line), sockets) != NULL)
			is_there |= strstr(line, name) != NULL;
		fclose(sockets);
	}
	assert_true(is_there);
}

// The port of this end; it is there only when the other end is.
static void open_port(struct ports *ports, const char *word)
{
	static const struct dpdk_options options = {.lanes = 1};
	static struct device device;
	static _Alignas(64) uint8_t memory[1 << 16];
	struct arena arena;
	struct refusal refusal = {0};
	arena_init(&arena, memory, sizeof(memory));
	snprintf(device.word, sizeof(device.word), "%s", word);
	*ports = (struct ports){.frames = 1024, .frame_bytes_max = 16000};
	int rc = port_device_open(ports, &arena, &device, 1, &options, &refusal);
	if (rc < 0)
		print_error("%s\n", refusal.text);
	assert_int_equal(rc, 0);
}

static void memory_of_two_has_the_frames(void **)
{
	char folder[] = P_tmpdir "/weft-send-XXXXXX", capture[64], word[64];
	assert_non_null(mkdtemp(folder));
	snprintf(capture, sizeof(capture), "%s/some.pcap", folder);
	snprintf(word, sizeof(word), "memif:send-%d", (int)getpid());
	write_capture(capture);
	pid_t child = start(capture, word);
	wait_for(word);
	struct ports ports;
	open_port(&ports, word);
	uint32_t count = 0;
	for (time_t end = time(NULL) + WAIT_S; count < FRAMES && time(NULL) < end;) {
		struct frame got[PORT_BURST];
		uint32_t came = ports.ops->receive(&ports, 0, got, PORT_BURST);
		for (uint32_t i = 0; i < came; i++, count++) {
			assert_int_equal(got[i].length, lengths[count]);
			assert_memory_equal(got[i].bytes, frames[count], lengths[count]);
			ports.ops->give(&ports, &got[i].owner, 1);
		}
	}
	assert_int_equal(count, FRAMES);
	int status = 0;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	unlink(capture);
	rmdir(folder);
}
