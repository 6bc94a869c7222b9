// SPDX-License-Identifier: Apache-2.0
// Where frames of a capture go out. See port.h.

#include "port.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weft/ports/ports.h>
#include <weft/run/outcome.h>

#define PORT_FRAMES 1024u
#define POLL_NS 1000000	  // between two tries
#define FULL_TRIES 2000	  // 2 s until it must have taken a frame
#define LAST_NS 200000000 // for the other end of shared memory to take the last frames

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

static int put_port(struct outlet *outlet, const uint8_t *bytes, uint32_t length,
		    struct refusal *refusal)
{
	struct ports *ports = &outlet->port.ports;
	const struct ports_ops *ops = ports->ops;
	struct frame frame;
	if (length > PORT_FRAME_BYTES)
		return 0;
	for (int i = 0; i < FULL_TRIES; i++) {
		if (ops->take(ports, &frame, 1)) {
			memcpy(frame.bytes, bytes, length);
			frame.length = length;
			if (ops->send(ports, 0, &frame, 1) == 1)
				return 1;
			ops->give(ports, &frame.owner, 1);
		}
		nap(POLL_NS);
	}
	return refuse(refusal, -ENODEV, "the port took no frame for 2 s");
}

// ---------------------------------------------------------------- either

int outlet_open(struct outlet *ret, const char *word, struct refusal *refusal)
{
	*ret = (struct outlet){.socket = -1};
	ret->is_port = one_port_is(word);
	return ret->is_port // who comes later calls
		? one_port_open(&ret->port, word, true, PORT_FRAMES, refusal)
		: open_device(ret, word, refusal);
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
	if (outlet->port.is_memif && outlet->port.ports.ops != NULL)
		nap(LAST_NS);
	if (outlet->is_port)
		one_port_close(&outlet->port);
	*outlet = (struct outlet){.socket = -1};
}
