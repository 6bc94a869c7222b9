// SPDX-License-Identifier: Apache-2.0
// What the driver says of devices. It is looked for at run time, so that programs start without it.

#include <weft/gpu/gpu_generator.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Numbers of the driver's API (CUdevice_attribute), which do not change.
enum {
	ATTRIBUTE_MAJOR = 75,
	ATTRIBUTE_MINOR = 76,
	ATTRIBUTE_RDMA = 116,
	ATTRIBUTE_DMA_BUF = 124,
};

struct driver {
	void *library;
	int (*init)(unsigned flags);
	int (*version)(int *ret);
	int (*count)(int *ret);
	int (*device)(int *ret, int index);
	int (*name)(char *ret, int bytes, int device);
	int (*memory)(size_t *ret, int device);
	int (*attribute)(int *ret, int attribute, int device);
};

static bool find(const struct driver *driver, const char *name, void *ret)
{
	void *symbol = dlsym(driver->library, name);
	memcpy(ret, &symbol, sizeof(symbol)); // a pointer to a function, as POSIX has it
	return symbol != NULL;
}

static bool find_all(struct driver *driver)
{
	return find(driver, "cuInit", &driver->init) &&
		find(driver, "cuDriverGetVersion", &driver->version) &&
		find(driver, "cuDeviceGetCount", &driver->count) &&
		find(driver, "cuDeviceGet", &driver->device) &&
		find(driver, "cuDeviceGetName", &driver->name) &&
		find(driver, "cuDeviceTotalMem_v2", &driver->memory) &&
		find(driver, "cuDeviceGetAttribute", &driver->attribute);
}

static int attribute_of(const struct driver *driver, int attribute, int device)
{
	int value = 0;
	return driver->attribute(&value, attribute, device) == 0 ? value : 0;
}

static bool ask_device(const struct driver *driver, int index, struct gpu_device *ret)
{
	int device;
	size_t bytes = 0;
	*ret = (struct gpu_device){0};
	if (driver->device(&device, index) != 0 ||
	    driver->name(ret->name, sizeof(ret->name), device) != 0 ||
	    driver->memory(&bytes, device) != 0)
		return false;
	ret->bytes = bytes;
	ret->major = attribute_of(driver, ATTRIBUTE_MAJOR, device);
	ret->minor = attribute_of(driver, ATTRIBUTE_MINOR, device);
	ret->has_rdma = attribute_of(driver, ATTRIBUTE_RDMA, device) != 0;
	ret->has_dma_buf = attribute_of(driver, ATTRIBUTE_DMA_BUF, device) != 0;
	return true;
}

static const char *ask_driver(struct driver *driver, struct gpu_probe *ret)
{
	int count = 0;
	if (!find_all(driver))
		return "libcuda.so.1 is not a driver that weft knows";
	int error = driver->init(0);
	if (error != 0) {
		snprintf(ret->reason, sizeof(ret->reason),
			 "the driver does not start: error %d of cuInit", error);
		return ret->reason;
	}
	if (driver->version(&ret->driver_version) != 0 || driver->count(&count) != 0)
		return "the driver does not answer";
	for (int i = 0; i < count && ret->count < GPU_DEVICES_MAX; i++)
		ret->count += ask_device(driver, i, &ret->devices[ret->count]);
	return ret->count == 0 ? "the driver has no device" : "";
}

void gpu_driver_set(void)
{
	// hardware queues: no stream waits behind another's kernel
	setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
	// code that is loaded at its first use waits for the device, and kernels wait for that code
	setenv("CUDA_MODULE_LOADING", "EAGER", 1);
}

// The driver stays loaded: threads of its own may live on in it.
void gpu_probe(struct gpu_probe *ret)
{
	gpu_driver_set();
	int how = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
	struct driver driver = {.library = dlopen("libcuda.so.1", how)};
	*ret = (struct gpu_probe){0};
	const char *reason = driver.library == NULL ? "no driver: libcuda.so.1 is not there"
						    : ask_driver(&driver, ret);
	if (reason != ret->reason)
		snprintf(ret->reason, sizeof(ret->reason), "%s", reason);
	if (driver.library != NULL)
		dlclose(driver.library);
}
