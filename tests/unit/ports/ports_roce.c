// SPDX-License-Identifier: Apache-2.0
// RDMA engines, over a folder that stands for the kernel's files as mlx5, ice and a NIC without one
// leave them.

#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/ports/roce.h>

#define NIC "0000:16:00.0"
#define TYPES "/ports/1/gid_attrs/types/"

static char sysfs[] = "sysfs-XXXXXX";

static const char *below(const char *path)
{
	static char whole[256];
	snprintf(whole, sizeof(whole), "%s/%s", sysfs, path);
	return whole;
}

static void make_folders(char *path)
{
	for (char *at = path + sizeof(sysfs); (at = strchr(at, '/')) != NULL; at++) {
		*at = '\0';
		mkdir(path, 0755);
		*at = '/';
	}
}

static void make(const char *path, const char *text)
{
	char whole[256];
	snprintf(whole, sizeof(whole), "%s", below(path));
	make_folders(whole);
	FILE *file = fopen(whole, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void make_link(const char *path, const char *target)
{
	char whole[256];
	snprintf(whole, sizeof(whole), "%s", below(path));
	make_folders(whole);
	assert_int_equal(symlink(target, whole), 0);
}

static int set_up(void **)
{
	strcpy(sysfs, "sysfs-XXXXXX");
	if (mkdtemp(sysfs) == NULL)
		return -1;
	make("bus/pci/devices/" NIC "/class", "0x020000\n");
	make_link("class/net/ens1f0np0/device", "../../../bus/pci/devices/" NIC);
	return 0;
}

static int tear_down(void **state)
{
	char command[64];
	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", sysfs);
	return system(command);
}

// What is found goes by either way to the device.
static struct roce find(void)
{
	struct roce by_address, by_interface;
	roce_find(&by_address, sysfs, NIC, "");
	roce_find(&by_interface, sysfs, "", "ens1f0np0");
	assert_memory_equal(&by_address, &by_interface, sizeof(by_address));
	return by_address;
}

static void make_engine(const char *driver, const char *device)
{
	char path[128], target[64];
	snprintf(target, sizeof(target), "../../drivers/%s", driver);
	make_link("bus/pci/devices/" NIC "/driver", target);
	snprintf(path, sizeof(path), "bus/pci/devices/" NIC "/infiniband/%s/ports/1/state", device);
	make(path, "4: ACTIVE\n");
}

static void a_nic_without_an_engine(void **)
{
	struct roce roce = find();
	assert_string_equal(roce.device, "");
	assert_false(roce.is_on || roce_takes_frames(&roce));
}

static void roce_of_mlx5_takes_the_frames(void **)
{
	make_engine("mlx5_core", "mlx5_0");
	make("bus/pci/devices/" NIC "/infiniband/mlx5_0" TYPES "0", "IB/RoCE v1\n");
	make("bus/pci/devices/" NIC "/infiniband/mlx5_0" TYPES "1", "RoCE v2\n");
	struct roce roce = find();
	assert_string_equal(roce.device, "mlx5_0");
	assert_string_equal(roce.driver, "mlx5_core");
	assert_string_equal(roce.address, NIC);
	assert_true(roce.is_on && roce_takes_frames(&roce));
}

static void mlx5_with_roce_off_has_no_addresses(void **)
{
	make_engine("mlx5_core", "mlx5_0");
	make("bus/pci/devices/" NIC "/infiniband/mlx5_0" TYPES "0", ""); // reading it is an error
	struct roce roce = find();
	assert_string_equal(roce.device, "mlx5_0");
	assert_false(roce.is_on || roce_takes_frames(&roce));
}

static void roce_version_1_is_no_udp(void **)
{
	make_engine("mlx5_core", "mlx5_0");
	make("bus/pci/devices/" NIC "/infiniband/mlx5_0" TYPES "0", "IB/RoCE v1\n");
	struct roce roce = find();
	assert_false(roce.is_on);
}

static void of_other_engines_it_is_not_known(void **)
{
	make_engine("ice", "rocep22s0");
	make("bus/pci/devices/" NIC "/infiniband/rocep22s0" TYPES "3", "RoCE v2\n");
	struct roce roce = find();
	assert_string_equal(roce.device, "rocep22s0");
	assert_true(roce.is_on);
	assert_false(roce_takes_frames(&roce));
}

static void nothing_has_no_engine(void **state)
{
	struct roce roce;
	(void)state;
	roce_find(&roce, sysfs, "", "lo");
	assert_string_equal(roce.device, "");
	roce_find(&roce, sysfs, "0000:99:00.0", "");
	assert_string_equal(roce.device, "");
}
