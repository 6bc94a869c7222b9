// SPDX-License-Identifier: Apache-2.0
// A device made of threads: as much of CUDA's runtime as the generator uses, so that its text can
// be compiled by the host's compiler and run where there is no device. A stream is a thread that
// does what was put into it, a graph is what its streams were given while it was captured. What is
// easy to get wrong on a device is hard here:
//
//	- memory of the device comes full of rubbish
//	- a copy from memory that is not pinned returns before it has happened, and no other stream
//	  waits for it
//	- the timer runs faster than the system's clock, from a beginning of its own
//	- what may not be called while a graph is captured is an error, and so is a capture that its
//	  streams do not come back to
//	- where a test asks for it, branches of a graph run one behind the other
//	- what was put into streams is never ended by the host; who waits for ever waits
//
// It says nothing of how long anything takes on a device.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <time.h>

#include "device_clock.h"
#include "device_of_threads.h"

#define __device__
#define __global__
#define __host__

enum cudaError_t {
	cudaSuccess = 0,
	cudaErrorInvalidValue = 1,
	cudaErrorMemoryAllocation = 2,
	cudaErrorNotReady = 600,
	cudaErrorStreamCaptureUnsupported = 900,
	cudaErrorStreamCaptureUnjoined = 904,
};

enum { cudaHostAllocMapped = 2, cudaHostRegisterMapped = 2 };
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2 };
enum { cudaDevAttrMultiProcessorCount = 16 };
enum cudaMemcpyKind {
	cudaMemcpyHostToDevice = 1,
	cudaMemcpyDeviceToHost,
	cudaMemcpyDeviceToDevice
};
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal = 1 };

struct uint4 {
	unsigned x, y, z, w;
};
struct dim3 {
	unsigned x, y, z;
};

static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
	return uint4{x, y, z, w};
}

// ---------------------------------------------------------------- what kernels see

static thread_local dim3 blockIdx, threadIdx, gridDim, blockDim;

static inline void __threadfence_system(void)
{
	std::atomic_thread_fence(std::memory_order_seq_cst);
}

static inline unsigned long long atomicAdd(unsigned long long *at, unsigned long long value)
{
	return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}

static inline unsigned __float_as_uint(float value)
{
	unsigned bits;
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline float __uint_as_float(unsigned bits)
{
	float value;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

// Four of the eight bytes of two words, by a digit each.
static inline unsigned __byte_perm(unsigned low, unsigned high, unsigned choice)
{
	unsigned long long bytes = (unsigned long long)high << 32 | low;
	unsigned ret = 0;
	for (unsigned i = 0; i < 4; i++)
		ret |= (unsigned)(bytes >> 8 * (choice >> 4 * i & 7) & 0xff) << 8 * i;
	return ret;
}

// Faster, and 7 hours off.
static inline long long host_device_timer_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	long long ns = now.tv_sec * 1000000000ll + now.tv_nsec;
	std::this_thread::yield(); // who waits for the timer has the only core, perhaps
	return ns + ns / HOST_DEVICE_FAST - 25200000000000ll;
}

// ---------------------------------------------------------------- the device

static host_device host_the_device;
static thread_local bool host_is_capturing; // this thread

static inline host_stream *host_new_stream(void)
{
	std::lock_guard<std::mutex> hold(host_the_device.lock);
	host_the_device.streams.emplace_back(new host_stream);
	return host_the_device.streams.back().get();
}

static inline host_stream *host_stream_of(cudaStream_t stream)
{
	if (stream != nullptr)
		return stream;
	if (host_the_device.standard == nullptr)
		host_the_device.standard = host_new_stream();
	return host_the_device.standard;
}

static inline void host_put(cudaStream_t stream, std::function<void()> work)
{
	host_stream *to = host_stream_of(stream);
	if (to->capture == nullptr)
		to->put(std::move(work));
	else
		to->capture->lanes[to->lane].push_back(host_node{std::move(work)});
}

// What a kernel is given is what it was when it was launched.
template <typename Kernel, typename... Arguments>
static inline void host_launch(Kernel kernel, unsigned blocks, unsigned threads,
			       cudaStream_t stream, Arguments... arguments)
{
	host_put(stream, [=] {
		gridDim.x = blocks;
		blockDim.x = threads;
		for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++)
			for (threadIdx.x = 0; threadIdx.x < blockDim.x; threadIdx.x++)
				kernel(arguments...);
	});
}

#define LAUNCH(kernel, blocks, threads, stream, ...) \
	host_launch([](auto... arguments) { kernel(arguments...); }, blocks, threads, stream, \
		    __VA_ARGS__)

#define HOST_NOT_WHILE_CAPTURING() \
	do { \
		if (host_is_capturing) \
			return cudaErrorStreamCaptureUnsupported; \
	} while (0)

// ---------------------------------------------------------------- the runtime

static inline const char *cudaGetErrorString(cudaError_t error)
{
	return error == cudaErrorStreamCaptureUnsupported ? "not while a graph is captured"
		: error == cudaErrorStreamCaptureUnjoined
		? "a stream did not come back to its graph"
		: "an error of the device of threads";
}

static inline cudaError_t cudaGetLastError(void)
{
	return cudaSuccess; // nothing that is launched here fails
}

static inline cudaError_t cudaSetDevice(int device)
{
	return device == 0 ? cudaSuccess : cudaErrorInvalidValue;
}

static inline cudaError_t cudaDeviceGetAttribute(int *ret, int, int)
{
	*ret = 1;
	return cudaSuccess;
}

template <typename T> static inline cudaError_t cudaMalloc(T **ret, size_t bytes)
{
	HOST_NOT_WHILE_CAPTURING();
	*ret = (T *)malloc(bytes);
	memset((void *)*ret, 0xcd, bytes);
	host_the_device.memory.push_back(*ret);
	return cudaSuccess;
}

static inline cudaError_t cudaMemset(void *at, int value, size_t bytes)
{
	HOST_NOT_WHILE_CAPTURING();
	host_put(nullptr, [=] { memset(at, value, bytes); });
	return cudaSuccess;
}

static inline cudaError_t cudaHostAlloc(void **ret, size_t bytes, unsigned)
{
	*ret = calloc(1, bytes);
	host_the_device.pinned.push_back(*ret);
	return cudaSuccess;
}

static inline cudaError_t cudaHostGetDevicePointer(void **ret, void *of, unsigned)
{
	*ret = of;
	return cudaSuccess;
}

static inline cudaError_t cudaHostRegister(void *, size_t, unsigned)
{
	return cudaSuccess;
}

static inline cudaError_t cudaHostUnregister(void *)
{
	return cudaSuccess;
}

// To the device from memory that is not pinned: the source may be changed at once, and what it was
// arrives later.
static inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
	HOST_NOT_WHILE_CAPTURING();
	host_stream *stream = host_stream_of(nullptr);
	if (kind == cudaMemcpyHostToDevice) {
		std::vector<char> kept((const char *)from, (const char *)from + bytes);
		stream->put([to, kept] {
			std::this_thread::sleep_for(std::chrono::milliseconds(5));
			memcpy(to, kept.data(), kept.size());
		});
		return cudaSuccess;
	}
	stream->put([=] { memcpy(to, from, bytes); });
	stream->drain();
	return cudaSuccess;
}

static inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind,
					  cudaStream_t stream = nullptr)
{
	host_put(stream, [=] { memcpy(to, from, bytes); });
	return cudaSuccess;
}

static inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *ret, unsigned)
{
	*ret = host_new_stream();
	return cudaSuccess;
}

static inline cudaError_t cudaStreamQuery(cudaStream_t stream)
{
	HOST_NOT_WHILE_CAPTURING();
	return host_stream_of(stream)->is_idle() ? cudaSuccess : cudaErrorNotReady;
}

static inline cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	HOST_NOT_WHILE_CAPTURING();
	host_stream_of(stream)->drain();
	return cudaSuccess;
}

static inline cudaError_t cudaDeviceSynchronize(void)
{
	HOST_NOT_WHILE_CAPTURING();
	std::vector<host_stream *> all;
	{
		std::lock_guard<std::mutex> hold(host_the_device.lock);
		for (auto &stream : host_the_device.streams)
			all.push_back(stream.get());
	}
	for (host_stream *stream : all)
		stream->drain();
	return cudaSuccess;
}

static inline cudaError_t cudaDeviceReset(void)
{
	host_the_device.streams.clear();
	host_the_device.events.clear();
	host_the_device.graphs.clear();
	for (void *at : host_the_device.memory)
		free(at);
	for (void *at : host_the_device.pinned)
		free(at);
	host_the_device.memory.clear();
	host_the_device.pinned.clear();
	host_the_device.standard = nullptr;
	return cudaSuccess;
}

// ---------------------------------------------------------------- events

static inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *ret, unsigned)
{
	host_the_device.events.emplace_back(new host_event);
	*ret = host_the_device.events.back().get();
	return cudaSuccess;
}

static inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr)
{
	host_stream *to = host_stream_of(stream);
	event->graph = to->capture;
	if (to->capture != nullptr) {
		event->node = to->capture->marks++;
		host_node node;
		node.reaches = (int)event->node;
		to->capture->lanes[to->lane].push_back(node);
		to->capture->is_joined[to->lane] = false;
		return cudaSuccess;
	}
	event->mark = std::make_shared<host_mark>();
	std::shared_ptr<host_mark> mark = event->mark;
	to->put([mark] { mark->reach(); });
	return cudaSuccess;
}

static inline cudaError_t cudaEventQuery(cudaEvent_t event)
{
	HOST_NOT_WHILE_CAPTURING();
	return event->mark == nullptr || event->mark->look() ? cudaSuccess : cudaErrorNotReady;
}

// A stream that waits for an event of a graph becomes part of it; the first stream that waits for
// another's event has it back.
static inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
	host_stream *to = host_stream_of(stream);
	if (event->graph != nullptr) {
		host_graph *graph = event->graph;
		if (to->capture == nullptr) {
			to->capture = graph;
			to->lane = (unsigned)graph->lanes.size();
			graph->lanes.emplace_back();
			graph->streams.push_back(to);
			graph->is_joined.push_back(false);
		}
		host_node node;
		node.awaits = (int)event->node;
		graph->lanes[to->lane].push_back(node);
		for (unsigned lane = 1; to->lane == 0 && lane < graph->lanes.size(); lane++)
			if (!graph->lanes[lane].empty() &&
			    graph->lanes[lane].back().reaches == (int)event->node)
				graph->is_joined[lane] = true;
		return cudaSuccess;
	}
	if (to->capture != nullptr)
		return cudaErrorStreamCaptureUnsupported; // it waits for what is in no graph
	std::shared_ptr<host_mark> mark = event->mark;
	if (mark != nullptr)
		to->put([mark] { mark->wait(); });
	return cudaSuccess;
}

// ---------------------------------------------------------------- capturing

static inline cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode)
{
	host_the_device.graphs.emplace_back(new host_graph);
	host_graph *graph = host_the_device.graphs.back().get();
	graph->lanes.emplace_back();
	graph->streams.push_back(stream);
	graph->is_joined.push_back(true);
	stream->capture = graph;
	stream->lane = 0;
	host_is_capturing = true;
	return cudaSuccess;
}

static inline cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *ret)
{
	host_graph *graph = stream->capture;
	bool is_whole = true;
	host_is_capturing = false;
	for (unsigned lane = 1; lane < graph->lanes.size(); lane++)
		is_whole = is_whole && graph->is_joined[lane];
	for (host_stream *part : graph->streams)
		part->capture = nullptr;
	*ret = graph;
	return is_whole ? cudaSuccess : cudaErrorStreamCaptureUnjoined;
}

static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *ret, cudaGraph_t graph, unsigned)
{
	HOST_NOT_WHILE_CAPTURING();
	*ret = graph;
	return cudaSuccess;
}

static inline cudaError_t cudaGraphDestroy(cudaGraph_t)
{
	return cudaSuccess; // the device keeps it until it is reset
}

static inline cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream)
{
	host_put(stream, [graph] { graph->run(); });
	return cudaSuccess;
}
