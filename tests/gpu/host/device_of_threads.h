// SPDX-License-Identifier: Apache-2.0
// Streams, marks in them, and graphs of a device made of threads. See cuda_runtime.h.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

// ---------------------------------------------------------------- streams

struct host_graph;

struct host_mark { // an event's place in a stream
	std::mutex lock;
	std::condition_variable told;
	bool is_reached = false;

	void reach()
	{
		std::lock_guard<std::mutex> hold(lock);
		is_reached = true;
		told.notify_all();
	}
	void wait()
	{
		std::unique_lock<std::mutex> hold(lock);
		told.wait(hold, [this] { return is_reached; });
	}
	bool look()
	{
		std::lock_guard<std::mutex> hold(lock);
		return is_reached;
	}
};

struct host_stream {
	std::mutex lock;
	std::condition_variable told;
	std::deque<std::function<void()>> work;
	bool is_closed = false, is_busy = false;
	host_graph *capture = nullptr; // that it is part of
	unsigned lane = 0;
	std::thread thread;

	host_stream() : thread([this] { run(); })
	{
	}
	~host_stream()
	{
		{
			std::lock_guard<std::mutex> hold(lock);
			is_closed = true;
			told.notify_all();
		}
		thread.join();
	}
	void put(std::function<void()> one)
	{
		std::lock_guard<std::mutex> hold(lock);
		work.push_back(std::move(one));
		told.notify_all();
	}
	bool is_idle()
	{
		std::lock_guard<std::mutex> hold(lock);
		return work.empty() && !is_busy;
	}
	void drain()
	{
		std::unique_lock<std::mutex> hold(lock);
		told.wait(hold, [this] { return work.empty() && !is_busy; });
	}
	void run()
	{
		std::unique_lock<std::mutex> hold(lock);
		for (;;) {
			told.wait(hold, [this] { return is_closed || !work.empty(); });
			if (work.empty())
				return;
			std::function<void()> one = std::move(work.front());
			work.pop_front();
			is_busy = true;
			hold.unlock();
			one();
			hold.lock();
			is_busy = false;
			told.notify_all();
		}
	}
};

typedef host_stream *cudaStream_t;

struct host_event {
	std::shared_ptr<host_mark> mark; // of its last record, outside of graphs
	host_graph *graph = nullptr;	 // of its last record, inside of one
	unsigned node = 0;
};

typedef host_event *cudaEvent_t;

// ---------------------------------------------------------------- graphs

// One thing that a lane of a graph does: work, a mark that is reached, or one that is waited for.
struct host_node {
	std::function<void()> work;
	int reaches = -1, awaits = -1;
};

extern "C" bool host_has_one_queue; // for all branches of a graph: a test sets it

struct host_graph {
	std::vector<std::vector<host_node>> lanes;
	std::vector<host_stream *> streams;
	std::vector<bool> is_joined; // lanes that came back to the first
	unsigned marks = 0;

	// One behind the other, the first lane as far as it can go.
	void run_in_one_queue() const
	{
		std::vector<bool> reached(marks);
		std::vector<size_t> at(lanes.size());
		for (size_t i = 0; i < lanes.size();) {
			if (at[i] == lanes[i].size() ||
			    (lanes[i][at[i]].awaits >= 0 && !reached[lanes[i][at[i]].awaits])) {
				i++;
				continue;
			}
			const host_node &node = lanes[i][at[i]++];
			if (node.work)
				node.work();
			if (node.reaches >= 0)
				reached[node.reaches] = true;
			i = 0;
		}
	}
	void run() const
	{
		if (host_has_one_queue)
			return run_in_one_queue();
		std::vector<std::shared_ptr<host_mark>> reached;
		std::vector<std::thread> threads;
		for (unsigned i = 0; i < marks; i++)
			reached.push_back(std::make_shared<host_mark>());
		for (const auto &lane : lanes)
			threads.emplace_back([&lane, &reached] {
				for (const host_node &node : lane) {
					if (node.awaits >= 0)
						reached[node.awaits]->wait();
					if (node.work)
						node.work();
					if (node.reaches >= 0)
						reached[node.reaches]->reach();
				}
			});
		for (std::thread &thread : threads)
			thread.join();
	}
};

typedef host_graph *cudaGraph_t;
typedef host_graph *cudaGraphExec_t;

struct host_device {
	std::mutex lock;
	std::vector<std::unique_ptr<host_stream>> streams;
	std::vector<std::unique_ptr<host_event>> events;
	std::vector<std::unique_ptr<host_graph>> graphs;
	std::vector<void *> memory, pinned;
	host_stream *standard = nullptr; // the stream 0
};
