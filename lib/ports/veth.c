// SPDX-License-Identifier: Apache-2.0
// See veth.h.

#include <weft/ports/veth.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device_name.h"

static bool ask(int socket, const char *interface, void *what)
{
	struct ifreq request = {.ifr_data = what};
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%.15s", interface);
	return ioctl(socket, SIOCETHTOOL, &request) == 0;
}

static bool is_veth(int socket, const char *interface)
{
	struct ethtool_drvinfo driver = {.cmd = ETHTOOL_GDRVINFO};
	return ask(socket, interface, &driver) && strcmp(driver.driver, "veth") == 0;
}

static bool is_on(int socket, const char *interface, uint32_t command)
{
	struct ethtool_value value = {.cmd = command};
	return ask(socket, interface, &value) && value.data != 0;
}

static unsigned int number_of(const char *interface, const char *what)
{
	char line[32];
	return device_line(SYSFS, interface, what, line, sizeof(line))
		? (unsigned int)strtoul(line, NULL, 10)
		: 0;
}

// Each end names the other one's index, which may be that of another interface here where the
// other end is elsewhere.
static bool find_peer(int socket, const char *interface, char ret[IF_NAMESIZE])
{
	return if_indextoname(number_of(interface, "iflink"), ret) != NULL &&
		strcmp(ret, interface) != 0 && // the other end has our own index where it is
		is_veth(socket, ret) &&
		number_of(ret, "iflink") == number_of(interface, "ifindex") &&
		number_of(ret, "ifindex") == number_of(interface, "iflink");
}

void veth_find(struct veth *ret, const char *interface)
{
	char peer[IF_NAMESIZE];
	int asked = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	*ret = (struct veth){.is_veth = asked >= 0 && is_veth(asked, interface)};
	if (ret->is_veth && find_peer(asked, interface, peer)) {
		snprintf(ret->peer, sizeof(ret->peer), "%s", peer);
		ret->has_partial_checksums = is_on(asked, peer, ETHTOOL_GTXCSUM);
		ret->has_super_frames = is_on(asked, peer, ETHTOOL_GTSO) ||
			is_on(asked, peer, ETHTOOL_GGSO);
	}
	if (asked >= 0)
		close(asked);
}
