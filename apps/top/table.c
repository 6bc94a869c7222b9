// SPDX-License-Identifier: Apache-2.0
// One look at a host, as a table.

#include <inttypes.h>

#include "top.h"

#define QPS_SHOWN 16

static int64_t number(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

static int64_t at(const json_t *object, const char *column, size_t row)
{
	return json_integer_value(json_array_get(json_object_get(object, column), row));
}

static size_t rows(const json_t *object, const char *column)
{
	return json_array_size(json_object_get(object, column));
}

static double us(const json_t *object, const char *name)
{
	return (double)number(object, name) / 1e3;
}

// Of bytes that went meanwhile.
static double gbps(int64_t bytes, int64_t ns)
{
	return ns > 0 ? (double)bytes * 8 / (double)ns : 0;
}

static void print_run(FILE *to, const json_t *before, const json_t *now)
{
	int64_t ns = number(now, "at_ns") - number(before, "at_ns");
	fprintf(to,
		"%s, host %" PRId64 " of %" PRId64 ": %.1f s, work %" PRId64 " of %" PRId64 "\n",
		json_string_value(json_object_get(now, "scenario")), number(now, "host"),
		number(now, "hosts"), (double)number(now, "at_ns") / 1e9, number(now, "work_done"),
		number(now, "work_total"));
	fprintf(to, "goodput %.3f Gb/s placed, %.3f Gb/s sent; %" PRId64 " wrong bytes\n",
		gbps(number(now, "payload_bytes_good") - number(before, "payload_bytes_good"), ns),
		gbps(number(now, "data_bytes") - number(before, "data_bytes"), ns),
		number(now, "payload_bytes_wrong"));
	fprintf(to,
		"data packets %" PRId64 ", %" PRId64 " of them again; frames of others %" PRId64
		", bad %" PRId64 ", dropped by full ports %" PRId64 "\n",
		number(now, "data_packets"), number(now, "data_resent"),
		number(now, "frames_of_others"), number(now, "frames_bad"),
		number(now, "frames_dropped"));
	fprintf(to, "messages %" PRId64 ": p50 %.1f, p99 %.1f, p99.9 %.1f us\n",
		number(now, "messages"), us(now, "message_p50_ns"), us(now, "message_p99_ns"),
		us(now, "message_p999_ns"));
	fprintf(to,
		"loop: p50 %.1f, p99.9 %.1f us from look to look; %" PRId64
		" stalls, %.1f ms; asleep %.1f ms\n",
		us(now, "turn_p50_ns"), us(now, "turn_p999_ns"), number(now, "stalls"),
		us(now, "stalled_ns") / 1e3, us(now, "asleep_ns") / 1e3);
}

static void print_planes(FILE *to, const json_t *before, const json_t *now)
{
	int64_t ns = number(now, "at_ns") - number(before, "at_ns");
	fprintf(to, "\n%6s %12s %12s  %s\n", "plane", "Gb/s", "waiting", "port");
	for (size_t i = 0; i < rows(now, "data_bytes"); i++)
		fprintf(to, "%6zu %12.3f %12" PRId64 "  %s\n", i,
			gbps(at(now, "data_bytes", i) - at(before, "data_bytes", i), ns),
			at(now, "frames_waiting", i), at(now, "is_down", i) ? "down" : "up");
}

static void print_qps(FILE *to, const json_t *now)
{
	size_t count = rows(now, "qpn");
	fprintf(to, "\n%6s %6s %6s %12s %12s %8s %9s %8s\n", "NIC", "QP", "to NIC", "window, B",
		"in flight, B", "lost", "EVs good", "EVs bad");
	for (size_t i = 0; i < count && i < QPS_SHOWN; i++)
		fprintf(to,
			"%6" PRId64 " %6" PRId64 " %6" PRId64 " %12" PRId64 " %12" PRId64
			" %8" PRId64 " %9" PRId64 " %8" PRId64 "%s\n",
			at(now, "nic", i), at(now, "qpn", i), at(now, "remote_nic", i),
			at(now, "window_bytes", i), at(now, "flight_bytes", i),
			at(now, "psns_lost", i), at(now, "evs_good", i), at(now, "evs_bad", i),
			at(now, "is_error", i) ? "  ERROR" : "");
	if (number(now, "total") > QPS_SHOWN)
		fprintf(to, "and %" PRId64 " more\n", number(now, "total") - QPS_SHOWN);
}

void table_print(FILE *to, const struct look *before, const struct look *now)
{
	print_run(to, before->run, now->run);
	print_planes(to, before->planes, now->planes);
	print_qps(to, now->qps);
	fflush(to);
}
