// SPDX-License-Identifier: Apache-2.0
// Where frames of a capture go out. See outlet.h.

#include "outlet.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <weft/core/arena.h>
#include <weft/ports/dpdk.h>
#include <weft/ports/ports.h>
#include <weft/run/outcome.h>

#define MEMIF "memif:"
#define PORT_FRAME_BYTES 16000u
#define PORT_FRAMES 1024u
#define MEMORY_BYTES 65536u // of what the ports keep beside DPDK's own
#define POLL_NS 1000000	    // between two tries
#define LINK_TRIES 10000    // 10 s until the other end must be there
#define FULL_TRIES 2000	    // 2 s until it must have taken a frame
#define LAST_NS 200000000   // for the other end of shared memory to take the last frames

static void nap(int64_t ns)
{
	struct timespec time = {ns / 1000000000, ns % 1000000000};
	nanosleep(&time, NULL);
}

// ---------------------------------------------------------------- a device of the kernel

static int open_device(struct outlet *ret, const char *name, struct refusal *refusal)
{
	struct sockaddr_ll address = {.sll_family = AF_PACKET,
				      .sll_ifindex = (int)if_nametoindex(name)};
	if (address.sll_ifindex == 0)
		return outcome_bad_word(refusal, "there is no device", name);
	ret->socket = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (ret->socket >= 0 &&
	    bind(ret->socket, (struct sockaddr *)&address, sizeof(address)) == 0)
		return 0;
	snprintf(refusal->text, sizeof(refusal->text), "%.60s cannot be opened: %s", name,
		 strerror(errno));
	return -ENODEV;
}

static int put_device(struct outlet *outlet, const uint8_t *bytes, uint32_t length,
		      struct refusal *refusal)
{
	while (write(outlet->socket, bytes, length) < 0) {
		if (errno == EMSGSIZE) // longer than its MTU: never
			return 0;
		if (errno != ENOBUFS && errno != EAGAIN && errno != EINTR) {
			snprintf(refusal->text, sizeof(refusal->text),
				 "the device took no frame: %s", strerror(errno));
			return -ENODEV;
		}
	}
	return 1;
}

// ---------------------------------------------------------------- a port of DPDK

static int open_port(struct outlet *ret, const char *word, struct refusal *refusal)
{
	static const struct dpdk_options dpdk = {.lanes = 1};
	struct arena arena;
	if (strlen(word) >= sizeof(ret->device.word))
		return outcome_bad_word(refusal, "too long for a port:", word);
	strcpy(ret->device.word, word);
	ret->device.is_server = true; // who comes later calls
	ret->ports.frames = PORT_FRAMES;
	ret->ports.frame_bytes_max = PORT_FRAME_BYTES;
	ret->memory = aligned_alloc(64, MEMORY_BYTES);
	if (ret->memory == NULL)
		return refuse(refusal, -ENODEV, "no memory for a port", 0, 0, 0);
	memset(ret->memory, 0, MEMORY_BYTES);
	arena_init(&arena, ret->memory, MEMORY_BYTES);
	int rc = port_device_open(&ret->ports, &arena, &ret->device, 1, &dpdk, refusal);
	for (int i = 0; rc == 0 && !port_device_is_up(&ret->ports, 0); i++) {
		if (i == LINK_TRIES)
			return refuse(refusal, -ENODEV,
				      "the port has no link: its other end did not come in 10 s", 0,
				      0, 0);
		nap(POLL_NS);
	}
	return rc == 0 ? port_device_settle(&ret->ports, refusal) : rc;
}

static int put_port(struct outlet *outlet, const uint8_t *bytes, uint32_t length,
		    struct refusal *refusal)
{
	const struct ports_ops *ops = outlet->ports.ops;
	struct frame frame;
	if (length > PORT_FRAME_BYTES)
		return 0;
	for (int i = 0; i < FULL_TRIES; i++) {
		if (ops->take(&outlet->ports, &frame, 1)) {
			memcpy(frame.bytes, bytes, length);
			frame.length = length;
			if (ops->send(&outlet->ports, 0, &frame, 1) == 1)
				return 1;
			ops->give(&outlet->ports, &frame.owner, 1);
		}
		nap(POLL_NS);
	}
	return refuse(refusal, -ENODEV, "the port took no frame for 2 s", 0, 0, 0);
}

// ---------------------------------------------------------------- either

static bool is_memif(const char *word)
{
	return strncmp(word, MEMIF, strlen(MEMIF)) == 0;
}

static bool is_port(const char *word)
{
	return is_memif(word) || (strncmp(word, "net_", 4) == 0 && if_nametoindex(word) == 0);
}

bool outlet_is_elsewhere(const char *word)
{
	return is_port(word) && ports_ring_max() == 0;
}

int outlet_open(struct outlet *ret, const char *word, struct refusal *refusal)
{
	*ret = (struct outlet){.socket = -1};
	ret->is_memif = is_memif(word);
	ret->is_port = is_port(word);
	return ret->is_port ? open_port(ret, word, refusal) : open_device(ret, word, refusal);
}

int outlet_put(struct outlet *outlet, const uint8_t *bytes, uint32_t length,
	       struct refusal *refusal)
{
	return outlet->is_port ? put_port(outlet, bytes, length, refusal)
			       : put_device(outlet, bytes, length, refusal);
}

void outlet_close(struct outlet *outlet)
{
	if (outlet->socket >= 0)
		close(outlet->socket);
	if (outlet->is_memif && outlet->ports.ops != NULL)
		nap(LAST_NS);
	if (outlet->is_port)
		dpdk_stop();
	free(outlet->memory);
	*outlet = (struct outlet){.socket = -1};
}
