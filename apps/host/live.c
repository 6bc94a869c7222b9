// SPDX-License-Identifier: Apache-2.0
// What a run tells while it goes, to who asks by DPDK's telemetry: `weft top` does.
//
// An answer has 16 KiB at most: rows come in pages, as arrays of each column.

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include <weft/ports/telemetry.h>
#include <weft/wall/view.h>

#include "host.h"

#define WAIT_MS 2000 // a loop may be without the core for so long

static struct viewer viewer;
static const struct call *of;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER; // that a loop is there to answer
static bool is_running;

#define COLUMNS 9
static uint64_t columns[COLUMNS][TELEMETRY_VALUES_MAX];

struct answer {
	struct telemetry_cell *cells;
	int count;
};

static void put(struct answer *to, const char *name, uint64_t value)
{
	to->cells[to->count++] = (struct telemetry_cell){.name = name, .value = value};
}

static void put_column(struct answer *to, const char *name, int column, uint32_t rows)
{
	to->cells[to->count++] = (struct telemetry_cell){
		.name = name, .values = columns[column], .count = rows};
}

// What every answer begins with.
static void put_page(struct answer *to, const struct view *view)
{
	put(to, "first", view->first);
	put(to, "total", view->total);
}

// Asks the loop, if there is one, and lets `tell` read the answer.
static int look(enum view_of what, uint32_t first, uint32_t qp, struct telemetry_cell *ret,
		void (*tell)(struct answer *to, const struct view *view))
{
	struct answer to = {.cells = ret};
	pthread_mutex_lock(&guard);
	bool is_reported = is_running && viewer_ask(&viewer, what, first, qp, WAIT_MS);
	if (is_reported)
		tell(&to, &viewer.view);
	pthread_mutex_unlock(&guard);
	return is_reported ? to.count : -EAGAIN;
}

// ---------------------------------------------------------------- the answers

static void tell_run(struct answer *to, const struct view *view)
{
	const struct wall_counts *counts = &view->counts;
	uint64_t others = counts->frames_strange, bad = 0;
	for (int i = 0; i < WALL_OTHER_COUNT; i++)
		others += counts->others[i];
	for (int i = 0; i < WIRE_REASON_COUNT; i++)
		bad += counts->bad_frames[i];
	to->cells[to->count++] = (struct telemetry_cell){.name = "scenario",
							 .text = of->scenario.name};
	put(to, "host", of->index);
	put(to, "hosts", of->meeting.options.count);
	put(to, "at_ns", (uint64_t)(view->at / PS_PER_NS));
	put(to, "work_done", view->work.done);
	put(to, "work_total", view->work.total);
	put(to, "messages", view->messages);
	put(to, "message_p50_ns", (uint64_t)view->message_ns[0]);
	put(to, "message_p99_ns", (uint64_t)view->message_ns[1]);
	put(to, "message_p999_ns", (uint64_t)view->message_ns[2]);
	put(to, "data_packets", view->data_packets);
	put(to, "data_resent", view->data_resent);
	put(to, "data_bytes", view->data_bytes);
	put(to, "payload_bytes_good", counts->payload_bytes_good);
	put(to, "payload_bytes_wrong", counts->payload_bytes_wrong);
	put(to, "frames_sent", counts->frames_sent);
	put(to, "frames_received", counts->frames_received);
	put(to, "frames_of_others", others);
	put(to, "frames_bad", bad);
	put(to, "frames_dropped", counts->frames_dropped);
	put(to, "turn_p50_ns", (uint64_t)view->turn_ns[0]);
	put(to, "turn_p999_ns", (uint64_t)view->turn_ns[2]);
	put(to, "stalls", counts->stalls);
	put(to, "stalled_ns", (uint64_t)(counts->stalled_ps / PS_PER_NS));
	put(to, "asleep_ns", (uint64_t)counts->asleep_ns);
}

static void tell_planes(struct answer *to, const struct view *view)
{
	for (uint32_t i = 0; i < view->count; i++) {
		columns[0][i] = view->lines[i].bytes;
		columns[1][i] = view->lines[i].waiting;
		columns[2][i] = view->lines[i].is_down;
	}
	for (uint32_t i = 0; i < of->ports.queue_count; i++) // read here, and not by the loop
		if (of->wall_ports[i].port < view->count && !port_device_is_up(&of->ports, i))
			columns[2][of->wall_ports[i].port] = 1;
	put_page(to, view);
	put(to, "at_ns", (uint64_t)(view->at / PS_PER_NS));
	put_column(to, "data_bytes", 0, view->count);
	put_column(to, "frames_waiting", 1, view->count);
	put_column(to, "is_down", 2, view->count);
}

static void tell_qps(struct answer *to, const struct view *view)
{
	static const char *const names[COLUMNS] = {"nic",	   "qpn",	   "remote_nic",
						   "window_bytes", "flight_bytes", "psns_lost",
						   "evs_good",	   "evs_bad",	   "is_error"};
	for (uint32_t i = 0; i < view->count; i++) {
		const struct host_qp *qp = &view->qps[i];
		const uint64_t row[COLUMNS] = {qp->nic,		 qp->qpn,	   qp->remote_nic,
					       qp->window_bytes, qp->flight_bytes, qp->psns_lost,
					       qp->evs_good,	 qp->evs_bad,	   qp->is_error};
		for (int k = 0; k < COLUMNS; k++)
			columns[k][i] = row[k];
	}
	put_page(to, view);
	for (int k = 0; k < COLUMNS; k++)
		put_column(to, names[k], k, view->count);
}

static void tell_evs(struct answer *to, const struct view *view)
{
	for (uint32_t i = 0; i < view->count; i++) {
		columns[0][i] = view->evs[i].ev;
		columns[1][i] = view->evs[i].state;
	}
	put_page(to, view);
	put(to, "qp", view->qp);
	put_column(to, "ev", 0, view->count);
	put_column(to, "state", 1, view->count);
}

static int run(const char *parameters, struct telemetry_cell *ret)
{
	(void)parameters;
	return look(VIEW_RUN, 0, 0, ret, tell_run);
}

static int planes(const char *parameters, struct telemetry_cell *ret)
{
	(void)parameters;
	return look(VIEW_PLANES, 0, 0, ret, tell_planes);
}

static int qps(const char *parameters, struct telemetry_cell *ret)
{
	uint32_t first = parameters != NULL ? (uint32_t)strtoul(parameters, NULL, 10) : 0;
	return look(VIEW_QPS_FROM, first, 0, ret, tell_qps);
}

static int evs(const char *parameters, struct telemetry_cell *ret)
{
	char *end = NULL;
	uint32_t qp = parameters != NULL ? (uint32_t)strtoul(parameters, &end, 10) : 0;
	uint32_t first = end != NULL && *end == ',' ? (uint32_t)strtoul(end + 1, NULL, 10) : 0;
	return look(VIEW_EVS_OF, first, qp, ret, tell_evs);
}

int live_open(struct call *call)
{
	of = call;
	if (!call->choice.has_telemetry)
		return 0;
	int rc = telemetry_serve("/weft/run", "A run of weft host so far", run);
	if (rc == 0)
		rc = telemetry_serve("/weft/planes", "Its planes, one row a NIC and plane", planes);
	if (rc == 0)
		rc = telemetry_serve("/weft/qps", "48 QPs. Parameter: the first one", qps);
	if (rc == 0)
		rc = telemetry_serve("/weft/evs",
				     "256 EVs of a QP; states: 0 good, 1 assumed bad, 2 denied. "
				     "Parameters: the QP, the first EV",
				     evs);
	return rc == 0 ? 0 : refuse(&call->refusal, -ENODEV, "DPDK takes no commands of telemetry");
}

struct viewer *live_begin(const struct call *call)
{
	if (!call->choice.has_telemetry)
		return NULL;
	pthread_mutex_lock(&guard);
	is_running = true;
	pthread_mutex_unlock(&guard);
	return &viewer;
}

void live_end(void)
{
	pthread_mutex_lock(&guard);
	is_running = false;
	viewer.state = VIEWER_IDLE;
	pthread_mutex_unlock(&guard);
}
