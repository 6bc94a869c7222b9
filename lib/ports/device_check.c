// SPDX-License-Identifier: Apache-2.0
// See device_name.h.

#include "device_name.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define AF_PACKET_PLACE 2048u // of DPDK's, where no argument says it
#define AF_XDP_PLACE 2048u    // the least, of which DPDK keeps so much, and the kernel so much
#define AF_XDP_KEPT 320u
#define AF_XDP_HEADROOM 256u

// The value of an argument; NULL: it is not there.
static const char *value_of(const struct device_name *name, const char *key)
{
	size_t length = strlen(key);
	for (const char *at = name->arguments; at != NULL && *at != '\0'; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, key, length) == 0 && at[length] == '=')
			return at + length + 1;
	}
	return NULL;
}

static bool is_kind(const struct device_name *name, const char *driver)
{
	return name->kind == DEVICE_VIRTUAL && strncmp(name->name, driver, strlen(driver)) == 0;
}

static bool says(const struct dpdk_options *options, const char *word)
{
	for (uint32_t i = 0; i < options->word_count; i++)
		if (strcmp(options->words[i], word) == 0)
			return true;
	return false;
}

int device_check_arguments(const struct device_name *name, uint32_t frame_bytes,
			   const struct dpdk_options *options, struct refusal *refusal)
{
	const char *place = value_of(name, "framesz"), *zero_copy = value_of(name, "zero-copy");
	uint32_t place_bytes = place != NULL ? (uint32_t)strtoul(place, NULL, 10) : AF_PACKET_PLACE;
	bool is_zero_copy = zero_copy != NULL && strncmp(zero_copy, "yes", 3) == 0;
	if (is_kind(name, "net_af_packet") &&
	    place_bytes < frame_bytes + AF_PACKET_HEADER) { // both ways: it would drop them
		snprintf(refusal->text, sizeof(refusal->text),
			 "port '%.64s' has places of %u bytes (framesz), and frames here take %u "
			 "and the kernel's header: framesz=%u, or lower transport.payload",
			 name->name, place_bytes, frame_bytes, device_place_bytes(frame_bytes));
		return -EINVAL;
	}
	if (is_kind(name, "net_memif") && is_zero_copy &&
	    !says(options, "--single-file-segments")) {
		snprintf(refusal->text, sizeof(refusal->text),
			 "port '%.64s' asks for zero-copy, which memif has only with its memory in "
			 "one file: --eal \"--single-file-segments\"",
			 name->name);
		return -EINVAL;
	}
	return 0;
}

uint32_t device_room(const struct device_name *name, uint32_t frame_bytes)
{
	if (name->kind == DEVICE_INTERFACE)
		return device_place_bytes(frame_bytes) - PLACE_HEADER;
	if (!is_kind(name, "net_af_xdp")) // whose places are buffers of the pool
		return frame_bytes;
	uint32_t room = frame_bytes + AF_XDP_HEADROOM, least = AF_XDP_PLACE - AF_XDP_KEPT;
	return room > least ? room : least;
}

// An address that is not in the file system, and another one in each namespace, as interfaces are.
int device_hold_interface(const struct device_name *name, struct refusal *refusal)
{
	const char *named = name->kind == DEVICE_INTERFACE ? name->name
		: is_kind(name, "net_af_packet") || is_kind(name, "net_af_xdp")
		? value_of(name, "iface")
		: NULL;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (named == NULL)
		return 0;
	int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "weft-port-%.*s",
			      (int)strcspn(named, ","), named);
	int held = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (held < 0 ||
	    bind(held, (const struct sockaddr *)&address,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) == 0)
		return 0; // open until the process ends
	close(held);
	snprintf(refusal->text, sizeof(refusal->text),
		 "another process of weft has interface %.64s: a rank has a device of its own",
		 address.sun_path + 1 + strlen("weft-port-"));
	return -EBUSY;
}
