// SPDX-License-Identifier: Apache-2.0
// See roce.h. The kernel lists the addresses of an RDMA device with a type each; where RoCE is
// turned off (devlink's enable_roce) a device of mlx5 stays, for raw frames, and has none.

#include <weft/ports/roce.h>

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "device_name.h"

#define PATH_BYTES 512

// The first entry of a folder. False: it has none, or is none.
static bool first_entry(const char *path, char *ret, size_t bytes)
{
	DIR *folder = opendir(path);
	struct dirent *entry = NULL;
	while (folder != NULL && (entry = readdir(folder)) != NULL)
		if (entry->d_name[0] != '.')
			break;
	bool has_one = entry != NULL;
	if (has_one)
		snprintf(ret, bytes, "%.*s", (int)bytes - 1, entry->d_name);
	if (folder != NULL)
		closedir(folder);
	return has_one;
}

static bool says_roce2(const char *folder, const char *entry)
{
	char path[PATH_BYTES + 256], line[64] = "";
	snprintf(path, sizeof(path), "%s/%s", folder, entry);
	FILE *file = fopen(path, "r");
	if (file == NULL)
		return false;
	bool has_line = fgets(line, sizeof(line), file) !=
		NULL; // an error where there is no address
	fclose(file);
	return has_line && strstr(line, "RoCE v2") != NULL;
}

// Whether a port of an RDMA device, "1" and on, has an address for RoCEv2.
static bool has_address(const char *device_path, const char *port)
{
	char path[PATH_BYTES];
	bool is_found = false;
	int length = snprintf(path, sizeof(path), "%s/ports/%s/gid_attrs/types", device_path, port);
	DIR *folder = length < (int)sizeof(path) ? opendir(path) : NULL;
	struct dirent *entry;
	while (folder != NULL && !is_found && (entry = readdir(folder)) != NULL)
		is_found = entry->d_name[0] != '.' && says_roce2(path, entry->d_name);
	if (folder != NULL)
		closedir(folder);
	return is_found;
}

void roce_find(struct roce *ret, const char *sysfs, const char *address, const char *interface)
{
	char pci[PATH_BYTES], path[PATH_BYTES];
	*ret = (struct roce){0};
	if (address[0] != '\0')
		snprintf(pci, sizeof(pci), "%s/bus/pci/devices/%s", sysfs, address);
	else
		snprintf(pci, sizeof(pci), "%s/class/net/%s/device", sysfs, interface);
	snprintf(path, sizeof(path), "%.400s/infiniband", pci);
	if (!first_entry(path, ret->device, sizeof(ret->device)))
		return;
	snprintf(path, sizeof(path), "%.400s/driver", pci);
	link_end(path, ret->driver, sizeof(ret->driver));
	if (address[0] != '\0')
		snprintf(ret->address, sizeof(ret->address), "%.31s", address);
	else
		link_end(pci, ret->address, sizeof(ret->address));
	snprintf(path, sizeof(path), "%.400s/infiniband/%s", pci, ret->device);
	for (char port[] = "1"; port[0] <= '4' && !ret->is_on; port[0]++)
		ret->is_on = has_address(path, port);
}

bool roce_takes_frames(const struct roce *roce)
{
	return roce->is_on && strcmp(roce->driver, "mlx5_core") == 0;
}
