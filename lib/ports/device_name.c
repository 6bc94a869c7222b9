// SPDX-License-Identifier: Apache-2.0
// See device_name.h.

#include "device_name.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <weft/ports/device.h>

#define MEMIF "memif:"
#define PATH_BYTES 512
#define CLASS_NETWORK 0x02

static int refuse_word(struct refusal *refusal, const char *why, const char *word)
{
	snprintf(refusal->text, sizeof(refusal->text), "%s: '%.*s'", why, DEVICE_WORD_BYTES, word);
	return -EINVAL;
}

static bool read_line(const char *path, char *ret, int bytes)
{
	FILE *file = fopen(path, "r");
	bool has_line = file != NULL && fgets(ret, bytes, file) != NULL;
	if (file != NULL)
		fclose(file);
	if (has_line)
		ret[strcspn(ret, "\n")] = '\0';
	return has_line;
}

bool device_line(const char *sysfs, const char *interface, const char *what, char *ret, int bytes)
{
	char path[PATH_BYTES];
	snprintf(path, sizeof(path), "%s/class/net/%.64s/%s", sysfs, interface, what);
	return read_line(path, ret, bytes);
}

int device_open(const char *sysfs, const char *interface, const char *what)
{
	char path[PATH_BYTES];
	snprintf(path, sizeof(path), "%s/class/net/%.64s/%s", sysfs, interface, what);
	return open(path, O_RDONLY | O_CLOEXEC);
}

// ---------------------------------------------------------------- PCI

// Whether a word begins as `form` has it (x: a digit of 16), and is then at its end or a comma.
static bool has_form(const char *word, const char *form)
{
	for (; *form != '\0'; form++, word++)
		if (*form == 'x' ? !isxdigit((unsigned char)*word) : *word != *form)
			return false;
	return *word == '\0' || *word == ',';
}

// "0000:16:00.0", also where the word leaves the domain away. False: it is no address.
static bool read_address(const char *word, char *ret, size_t bytes)
{
	bool has_domain = has_form(word, "xxxx:xx:xx.x");
	if (!has_domain && !has_form(word, "xx:xx.x"))
		return false;
	snprintf(ret, bytes, "%s%.*s", has_domain ? "" : "0000:", (int)strcspn(word, ","), word);
	for (char *at = ret; *at != '\0'; at++)
		*at = (char)tolower((unsigned char)*at);
	return true;
}

void link_end(const char *path, char *ret, size_t bytes)
{
	char target[PATH_BYTES];
	ssize_t length = readlink(path, target, sizeof(target) - 1);
	target[length > 0 ? length : 0] = '\0';
	const char *slash = strrchr(target, '/');
	snprintf(ret, bytes, "%.*s", (int)bytes - 1, slash != NULL ? slash + 1 : target);
}

// DPDK takes a device from these, or beside them.
static bool is_ready(const char *driver)
{
	static const char *const drivers[] = {"vfio-pci", "uio_pci_generic", "igb_uio", "mlx5_core",
					      "mlx4_core"};
	for (size_t i = 0; i < sizeof(drivers) / sizeof(*drivers); i++)
		if (strcmp(driver, drivers[i]) == 0)
			return true;
	return false;
}

static int check_pci(const char *sysfs, const char *address, struct refusal *refusal)
{
	char path[PATH_BYTES], line[64], driver[48];
	snprintf(path, sizeof(path), "%s/bus/pci/devices/%s/class", sysfs, address);
	if (!read_line(path, line, sizeof(line)))
		return refuse_word(refusal, "this machine has no PCI device", address);
	if (strtoul(line, NULL, 16) >> 16 != CLASS_NETWORK)
		return refuse_word(refusal, "this PCI device is not a NIC", address);
	snprintf(path, sizeof(path), "%s/bus/pci/devices/%s/driver", sysfs, address);
	link_end(path, driver, sizeof(driver));
	if (is_ready(driver))
		return 0;
	snprintf(refusal->text, sizeof(refusal->text),
		 "PCI device %s has %s%s for its driver, beside which DPDK cannot work: give it to "
		 "vfio-pci (dpdk-devbind.py -b vfio-pci %s), or name its interface instead",
		 address, driver[0] != '\0' ? "the kernel's " : "none",
		 driver[0] != '\0' ? driver : "", address);
	return -EINVAL;
}

// ---------------------------------------------------------------- interfaces of the kernel

// An interface of a MAC. Returns how many have it.
static uint32_t find_mac(const char *sysfs, const char *mac, char *ret, size_t bytes)
{
	char path[PATH_BYTES], line[64];
	uint32_t count = 0;
	snprintf(path, sizeof(path), "%s/class/net", sysfs);
	DIR *folder = opendir(path);
	struct dirent *entry;
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		if (strlen(entry->d_name) >= bytes ||
		    !device_line(sysfs, entry->d_name, "address", line, sizeof(line)) ||
		    strcasecmp(line, mac) != 0)
			continue;
		strcpy(ret, entry->d_name);
		count++;
	}
	if (folder != NULL)
		closedir(folder);
	return count;
}

static bool is_interface(const char *sysfs, const char *word)
{
	char line[64];
	return strlen(word) < sizeof(((struct device_name *)0)->name) &&
		strpbrk(word, "/,") == NULL && word[0] != '.' &&
		device_line(sysfs, word, "mtu", line, sizeof(line));
}

static int read_mac(struct device_name *ret, const char *word, const char *sysfs,
		    struct refusal *refusal)
{
	uint32_t count = find_mac(sysfs, word, ret->name, sizeof(ret->name));
	if (count > 1)
		return refuse_word(refusal, "more than one interface has this MAC", word);
	ret->kind = count == 1 ? DEVICE_INTERFACE : DEVICE_MAC;
	if (count == 0)
		strcpy(ret->name, word);
	return 0;
}

// ---------------------------------------------------------------- any

int device_name_read(struct device_name *ret, const char *word, const char *sysfs,
		     struct refusal *refusal)
{
	size_t length = strcspn(word, ",");
	*ret = (struct device_name){.arguments = word[length] == ',' ? word + length + 1 : ""};
	if (strncmp(word, MEMIF, strlen(MEMIF)) == 0) {
		const char *name = word + strlen(MEMIF);
		ret->kind = DEVICE_MEMIF;
		if (name[0] == '\0' || strlen(name) >= sizeof(ret->name) ||
		    strpbrk(name, ",=") != NULL)
			return refuse_word(refusal, "no name for memif", word);
		strcpy(ret->name, name);
		return 0;
	}
	if (read_address(word, ret->name, sizeof(ret->name))) {
		ret->kind = DEVICE_PCI;
		return check_pci(sysfs, ret->name, refusal);
	}
	if (has_form(word, "xx:xx:xx:xx:xx:xx") && word[length] == '\0')
		return read_mac(ret, word, sysfs, refusal);
	if (is_interface(sysfs, word)) {
		ret->kind = DEVICE_INTERFACE;
		strcpy(ret->name, word);
		return 0;
	}
	if (strncmp(word, "net_", 4) != 0 || length >= sizeof(ret->name))
		return refuse_word(refusal,
				   "a port is memif:NAME, a PCI address, an interface that this "
				   "machine has, by name or MAC, or a virtual device of DPDK "
				   "(net_...), not",
				   word);
	ret->kind = DEVICE_VIRTUAL;
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)length, word);
	return 0;
}

uint32_t port_device_longest(const char *word)
{
	struct device_name name;
	struct refusal none;
	char line[64];
	if (device_name_read(&name, word, SYSFS, &none) < 0 || name.kind != DEVICE_INTERFACE ||
	    !device_line(SYSFS, name.name, "mtu", line, sizeof(line)))
		return UINT32_MAX;
	return (uint32_t)strtoul(line, NULL, 10) + ETHERNET_BYTES;
}
