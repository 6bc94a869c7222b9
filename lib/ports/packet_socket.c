// SPDX-License-Identifier: Apache-2.0
// See device_name.h.

#include "device_name.h"

#include <dirent.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

static bool is_on(int socket, unsigned int interface)
{
	struct sockaddr_ll bound = {0};
	int domain = 0;
	socklen_t bytes = sizeof(domain);
	if (getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) != 0 || domain != AF_PACKET)
		return false;
	bytes = sizeof(bound);
	return getsockname(socket, (struct sockaddr *)&bound, &bytes) == 0 &&
		bound.sll_ifindex == (int)interface;
}

int packet_socket_find(const char *interface)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	int found = -1;
	while (folder != NULL && found < 0 && (entry = readdir(folder)) != NULL) {
		char *end;
		long socket = strtol(entry->d_name, &end, 10);
		if (end != entry->d_name && is_on((int)socket, if_nametoindex(interface)))
			found = (int)socket;
	}
	if (folder != NULL)
		closedir(folder);
	return found;
}

uint64_t packet_socket_dropped(int socket)
{
	struct tpacket_stats counts = {0};
	socklen_t bytes = sizeof(counts);
	if (socket < 0 || getsockopt(socket, SOL_PACKET, PACKET_STATISTICS, &counts, &bytes) != 0)
		return 0;
	return counts.tp_drops;
}
