// SPDX-License-Identifier: Apache-2.0
// Events of dead paths for people, and as lines of text.

#include <inttypes.h>
#include <stdlib.h>

#include <weft/result/bypass.h>
#include <weft/result/number.h>
#include <weft/result/recovery.h>

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

static void row(FILE *to, const char *name, const struct bypass_times *times)
{
	static const double shares[] = {0.5, 0.9, 0.99, 1};
	struct text text;
	fprintf(to, "  %-20s %6" PRIu32, name, times->count);
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		struct figure figure = bypass_quantile(times, shares[i]);
		if (figure.reason != NULL) {
			fprintf(to, "  %s\n", figure.reason);
			return;
		}
		fprintf(to, " %13s", number_time(&text, figure.value));
	}
	fprintf(to, "\n");
}

void bypass_table(FILE *to, const struct report_input *input)
{
	struct bypass_list list;
	struct text text[2];
	if (!bypass_is_watched(input->world))
		return;
	bypass_gather(&list, input->world);
	fprintf(to,
		"\nBypass of dead paths (from the first packet lost to the last one sent there)\n"
		"  %-20s %6s %13s %13s %13s %13s\n",
		"", "count", "p50", "p90", "p99", "max");
	row(to, "path of a QP", &list.paths);
	row(to, "link, all of a QP's", &list.links);
	if (recovery_is_watched(input->world)) {
		struct bypass_times back;
		recovery_gather(&back, &list, input->world);
		row(to, "99 % of goodput back", &back);
		free(back.at);
	}
	fprintf(to, "  %s packets lost there, and %s in tries after the path was left\n",
		number_count(&text[0], list.lost), number_count(&text[1], list.tries));
	bypass_free(&list);
}
