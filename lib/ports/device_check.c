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

// Whether the arguments of a virtual device carry frames of `frame_bytes`, and go with the words of
// DPDK's start. -EINVAL with a reason.
static int device_check_arguments(const struct device_name *name, uint32_t frame_bytes,
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

// Whether an interface of the kernel lets frames of `frame_bytes` through.
static int check_mtu(const struct device_name *name, uint32_t frame_bytes, struct refusal *refusal)
{
	char line[64];
	uint32_t mtu = device_line(SYSFS, name->name, "mtu", line, sizeof(line))
		? (uint32_t)strtoul(line, NULL, 10)
		: 0;
	if (name->kind != DEVICE_INTERFACE || mtu + ETHERNET_BYTES >= frame_bytes)
		return 0;
	snprintf(refusal->text, sizeof(refusal->text),
		 "interface %.64s has an MTU of %u, and frames here take %u: raise it (ip link set "
		 "%.64s mtu %u), or lower transport.payload",
		 name->name, mtu, frame_bytes - ETHERNET_BYTES, name->name,
		 frame_bytes - ETHERNET_BYTES);
	return -EINVAL;
}

static int refuse_name(struct refusal *refusal, const char *why, const char *word)
{
	snprintf(refusal->text, sizeof(refusal->text), "%s: '%.*s'", why, DEVICE_WORD_BYTES, word);
	return -EINVAL;
}

int device_names_read(struct device_name *ret, const struct device *devices, uint32_t count,
		      uint32_t frame_bytes, const struct dpdk_options *options,
		      struct refusal *refusal)
{
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < count; i++) {
		struct device_name *name = &ret[i];
		rc = device_name_read(name, devices[i].word, SYSFS, refusal);
		if (rc == 0)
			rc = device_check_arguments(name, frame_bytes, options, refusal);
		if (rc == 0)
			rc = check_mtu(name, frame_bytes, refusal);
		if (rc == 0 && name->kind == DEVICE_MAC && options->word_count == 0)
			rc = refuse_name(refusal,
					 "no interface of the kernel has this MAC, and DPDK no "
					 "device but by --eal",
					 name->name);
		if (rc == 0 && name->kind == DEVICE_PCI && says(options, "--no-pci"))
			rc = refuse_name(refusal, "--eal says --no-pci, which takes away port",
					 name->name);
		for (uint32_t k = 0; rc == 0 && k < i; k++)
			if (name->kind == ret[k].kind && strcmp(name->name, ret[k].name) == 0)
				rc = refuse_name(refusal, "a port is named twice", devices[i].word);
	}
	return rc;
}

int port_device_check(struct device *devices, uint32_t count, uint32_t frame_bytes,
		      const struct dpdk_options *options, struct refusal *refusal)
{
	struct device_name names[DEVICES_MAX];
	int rc = device_names_read(names, devices, count, frame_bytes, options, refusal);
	for (uint32_t i = 0; rc == 0 && i < count; i++) {
		rc = device_hold_interface(&names[i], refusal);
		devices[i].is_held = rc == 0;
	}
	return rc;
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
