// SPDX-License-Identifier: Apache-2.0
// A port of DPDK. See port.h.

#include "live/port.h"

#include <dirent.h>
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <weft/core/arena.h>
#include <weft/ports/dpdk.h>
#include <weft/ports/ports.h>
#include <weft/run/outcome.h>

#define MEMIF "memif:"
#define MEMORY_BYTES 65536u // of what the ports keep beside DPDK's own
#define POLL_NS 1000000	    // between two tries
#define LINK_TRIES 10000    // 10 s until the other end must be there
#define NO_LINK "the port has no link: its other end did not come in 10 s"

void nap(int64_t ns)
{
	struct timespec time = {ns / 1000000000, ns % 1000000000};
	nanosleep(&time, NULL);
}

static bool is_memif(const char *word)
{
	return strncmp(word, MEMIF, strlen(MEMIF)) == 0;
}

// DDDD:BB:DD.F, arguments behind a comma.
static bool is_pci(const char *word)
{
	unsigned domain, bus, device, function;
	int used = 0;
	return sscanf(word, "%4x:%2x:%2x.%1x%n", &domain, &bus, &device, &function, &used) == 4 &&
		(word[used] == '\0' || word[used] == ',');
}

bool one_port_is(const char *word)
{
	return is_memif(word) || is_pci(word) ||
		(strncmp(word, "net_", 4) == 0 && if_nametoindex(word) == 0);
}

bool one_port_is_elsewhere(const char *word)
{
	return one_port_is(word) && ports_ring_max() == 0;
}

#define SOCKET_NAME_BYTES (DEVICE_WORD_BYTES + 32)

// Of the socket over which both ends of this shared memory talk, without the byte before it that
// makes it abstract. Returns its length.
static size_t socket_name(char ret[SOCKET_NAME_BYTES], const char *word)
{
	return (size_t)snprintf(ret, SOCKET_NAME_BYTES, "weft-%u-%s", (unsigned)getuid(),
				word + strlen(MEMIF));
}

// Whether the kernel lists the socket that the server of this shared memory listens on: DPDK's
// client gives up at once where there is none.
static bool has_server(const char *word)
{
	char wanted[SOCKET_NAME_BYTES], line[512];
	size_t length = socket_name(wanted, word);
	bool is_there = false;
	FILE *sockets = fopen("/proc/net/unix", "r");
	while (sockets != NULL && !is_there && fgets(line, sizeof(line), sockets) != NULL) {
		const char *name = strchr(line, '@');
		is_there = name != NULL && strncmp(++name, wanted, length) == 0 &&
			(name[length] == '\n' || name[length] == '@'); // zeros read as @
	}
	if (sockets == NULL)
		return true; // nobody tells: it is tried
	fclose(sockets);
	return is_there;
}

static int wait_for_server(const char *word, struct refusal *refusal)
{
	for (int i = 0; !has_server(word); i++) {
		if (i == LINK_TRIES)
			return refuse(refusal, -ENODEV, NO_LINK);
		nap(POLL_NS);
	}
	return 0;
}

// ---------------------------------------------------------------- whether the other end is there

// Whether this file of ours is that socket, called by us.
static bool is_control(int file, const char *name, size_t length)
{
	struct sockaddr_un peer = {0};
	socklen_t bytes = sizeof(peer);
	return getpeername(file, (struct sockaddr *)&peer, &bytes) == 0 &&
		peer.sun_family == AF_UNIX && peer.sun_path[0] == '\0' &&
		memcmp(peer.sun_path + 1, name, length) == 0 && peer.sun_path[1 + length] == '\0';
}

// DPDK's library does not tell which file that is. -1: none.
static int find_control(const char *word)
{
	char name[SOCKET_NAME_BYTES];
	size_t length = socket_name(name, word);
	const struct dirent *entry;
	int ret = -1;
	DIR *files = opendir("/proc/self/fd");
	while (files != NULL && ret < 0 && (entry = readdir(files)) != NULL) {
		int file = atoi(entry->d_name);
		ret = is_control(file, name, length) ? file : -1;
	}
	if (files != NULL)
		closedir(files);
	return ret;
}

// Since DPDK's interrupt thread is held (port_device_settle()), the port itself stays up.
bool one_port_is_gone(const struct one_port *port)
{
	if (!port->is_memif || port->device.is_server)
		return false;
	struct pollfd end = {.fd = port->control, .events = POLLRDHUP};
	bool has_hung_up = port->control >= 0 && poll(&end, 1, 0) == 1 &&
		end.revents & (POLLRDHUP | POLLHUP | POLLERR);
	return has_hung_up || !port_device_is_up(&port->ports, 0);
}

int one_port_open(struct one_port *ret, const char *word, bool is_server, uint32_t frames,
		  struct refusal *refusal)
{
	static const struct dpdk_options dpdk = {.lanes = 1};
	struct arena arena;
	if (strlen(word) >= sizeof(ret->device.word))
		return outcome_bad_word(refusal, "too long for a port:", word);
	bool waits = is_memif(word) && !is_server && ports_ring_max() > 0; // not without DPDK
	int rc = waits ? wait_for_server(word, refusal) : 0;
	if (rc < 0)
		return rc;
	strcpy(ret->device.word, word);
	ret->is_memif = is_memif(word);
	ret->device.is_server = is_server;
	ret->ports.frames = frames;
	ret->ports.frame_bytes_max = PORT_FRAME_BYTES;
	ret->memory = aligned_alloc(64, MEMORY_BYTES);
	if (ret->memory == NULL)
		return refuse(refusal, -ENODEV, "no memory for a port");
	memset(ret->memory, 0, MEMORY_BYTES);
	arena_init(&arena, ret->memory, MEMORY_BYTES);
	rc = port_device_open(&ret->ports, &arena, &ret->device, 1, &dpdk, refusal);
	for (int i = 0; rc == 0 && !port_device_is_up(&ret->ports, 0); i++) {
		if (i == LINK_TRIES)
			return refuse(refusal, -ENODEV, NO_LINK);
		nap(POLL_NS);
	}
	if (rc == 0)
		rc = port_device_settle(&ret->ports, refusal);
	ret->control = ret->is_memif && !is_server ? find_control(word) : -1;
	return rc;
}

void one_port_close(struct one_port *port)
{
	dpdk_stop();
	free(port->memory);
	*port = (struct one_port){0};
}
