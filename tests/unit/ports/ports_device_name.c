// SPDX-License-Identifier: Apache-2.0
// What words name, over a folder that stands for the kernel's files.

#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device_name.h"

#define NIC "0000:16:00.0"

static char sysfs[] = "sysfs-XXXXXX";

static void make(const char *path, const char *text)
{
	char whole[256];
	snprintf(whole, sizeof(whole), "%s/%s", sysfs, path);
	for (char *at = whole + strlen(sysfs) + 1; (at = strchr(at, '/')) != NULL; at++) {
		*at = '\0';
		mkdir(whole, 0755);
		*at = '/';
	}
	FILE *file = fopen(whole, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void make_driver(const char *address, const char *driver)
{
	char path[256], target[128];
	snprintf(path, sizeof(path), "%s/bus/pci/devices/%s/driver", sysfs, address);
	snprintf(target, sizeof(target), "../../../../bus/pci/drivers/%s", driver);
	unlink(path);
	if (driver[0] != '\0')
		assert_int_equal(symlink(target, path), 0);
}

static int set_up_all(void **)
{
	if (mkdtemp(sysfs) == NULL)
		return -1;
	make("bus/pci/devices/" NIC "/class", "0x020000\n");
	make("bus/pci/devices/0001:16:00.0/class", "0x020000\n");
	make("bus/pci/devices/0000:17:00.0/class", "0x018000\n");
	make("class/net/eth0/mtu", "1500\n");
	make("class/net/eth0/address", "02:aa:bb:cc:dd:ee\n");
	make("class/net/eth0.7/mtu", "1500\n");
	make("class/net/eth0.7/address", "02:aa:bb:cc:dd:77\n");
	make("class/net/bond0/address", "02:aa:bb:cc:dd:01\n");
	make("class/net/eth1/address", "02:aa:bb:cc:dd:01\n");
	return 0;
}

static int tear_down_all(void **state)
{
	char command[64];
	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", sysfs);
	return system(command);
}

static void names(const char *word, enum device_kind kind, const char *name, const char *arguments)
{
	struct device_name got;
	struct refusal refusal = {0};
	int rc = device_name_read(&got, word, sysfs, &refusal);
	if (rc != 0)
		fail_msg("%s: %s", word, refusal.text);
	assert_int_equal(got.kind, kind);
	assert_string_equal(got.name, name);
	assert_string_equal(got.arguments, arguments);
}

static void names_none(const char *word, const char *says)
{
	struct device_name got;
	struct refusal refusal = {0};
	assert_int_equal(device_name_read(&got, word, sysfs, &refusal), -EINVAL);
	if (strstr(refusal.text, says) == NULL)
		fail_msg("%s: '%s' does not say '%s'", word, refusal.text, says);
}

static void a_pci_address_is_a_nic_that_dpdk_can_take(void **state)
{
	static const char *const drivers[] = {"mlx5_core", "vfio-pci", "uio_pci_generic"};
	(void)state;
	for (size_t i = 0; i < sizeof(drivers) / sizeof(*drivers); i++) {
		make_driver(NIC, drivers[i]);
		names(NIC, DEVICE_PCI, NIC, "");
		names("16:00.0", DEVICE_PCI, NIC, "");
		names("16:00.0,dv_flow_en=2,x=y", DEVICE_PCI, NIC, "dv_flow_en=2,x=y");
	}
	make_driver("0001:16:00.0", "vfio-pci");
	names("0001:16:00.0", DEVICE_PCI, "0001:16:00.0", "");
}

static void another_pci_device_is_refused_with_its_reason(void **)
{
	names_none("0000:18:00.0", "no PCI device: '0000:18:00.0'");
	names_none("17:00.0", "is not a NIC: '0000:17:00.0'");
	make_driver(NIC, "ice");
	names_none(NIC, "has the kernel's ice for its driver");
	names_none(NIC, "dpdk-devbind.py -b vfio-pci " NIC);
	make_driver(NIC, "");
	names_none(NIC, "has none for its driver");
}

static void interfaces_go_by_name_and_mac(void **)
{
	names("eth0", DEVICE_INTERFACE, "eth0", "");
	names("eth0.7", DEVICE_INTERFACE, "eth0.7", "");
	names("02:AA:bb:cc:dd:ee", DEVICE_INTERFACE, "eth0", "");
	names("02:aa:bb:cc:dd:02", DEVICE_MAC, "02:aa:bb:cc:dd:02", "");
	names_none("02:aa:bb:cc:dd:01", "more than one interface has this MAC");
}

static void the_rest_goes_by_its_beginning(void **)
{
	names("memif:pair", DEVICE_MEMIF, "pair", "");
	names("net_null0,size=64", DEVICE_VIRTUAL, "net_null0", "size=64");
	names("net_null0", DEVICE_VIRTUAL, "net_null0", "");
	names_none("memif:", "no name for memif");
	names_none("memif:a,b", "no name for memif");
}

static void nothing_goes_by_its_number(void **state)
{
	static const char *const words[] = {
		"",	 "0",	      "1",	  ".",	     "..",	"eth9",
		"16:00", "0:16:00.0", "16:00.0x", "../eth0", "eth0/..", "02:aa:bb:cc:dd:ee:ff"};
	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		names_none(words[i], "a port is memif:NAME, a PCI address");
}
