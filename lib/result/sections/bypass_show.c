// SPDX-License-Identifier: Apache-2.0
// Events of dead paths for people, and as lines of text.

#include <inttypes.h>

#include "sections.h"
#include <weft/result/bypass.h>
#include <weft/result/put.h>

void bypass_write(FILE *to, const struct report_input *input)
{
	struct bypass_list list;
	bypass_gather(&list, input->world);
	fprintf(to,
		"cable,down_ps,to_nic,to_qp,ev,first_lost_ps,last_sent_ps,lost_packets,"
		"later_tries\n");
	for (uint32_t i = 0; i < list.count; i++) {
		const struct bypass_event *event = &list.events[i];
		char cable[WORLD_CABLE_NAME_BYTES];
		world_cable_name(input->world, event->cable, cable, sizeof(cable));
		fprintf(to,
			"%s,%" PRId64 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRId64 ",%" PRId64
			",%" PRIu32 ",%" PRIu32 "\n",
			cable, event->down_ps, event->nic, event->qpn, event->ev, event->first_ps,
			event->last_ps, event->lost, event->tries);
	}
	bypass_free(&list);
}

static void row(FILE *to, const char *name, const json_t *times)
{
	static const char *const keys[] = {"p50_ps", "p90_ps", "p99_ps", "max_ps"};
	struct text text;
	if (times == NULL)
		return;
	fprintf(to, "  %-20s %6.0f", name, document_number(times, "count"));
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (*document_reason(times, keys[i]) != '\0') {
			fprintf(to, "  %s\n", document_reason(times, keys[i]));
			return;
		}
		fprintf(to, " %13s", table_figure(&text, times, keys[i], TABLE_TIME));
	}
	fprintf(to, "\n");
}

void bypass_table(FILE *to, const json_t *result)
{
	const json_t *of = json_object_get(result, "bypass");
	if (!json_is_object(of))
		return;
	fprintf(to,
		"\nBypass of dead paths (from the first packet lost to the last one sent there)\n"
		"  %-20s %6s %13s %13s %13s %13s\n",
		"", "count", "p50", "p90", "p99", "max");
	row(to, "path of a QP", json_object_get(of, "paths"));
	row(to, "link, all of a QP's", json_object_get(of, "links"));
	row(to, "99 % of goodput back", json_object_get(of, "recovery"));
	table_say(to, of,
		  "  {lost_packets:short} packets lost there, and {later_tries:short} in tries "
		  "after the "
		  "path was left\n");
}
