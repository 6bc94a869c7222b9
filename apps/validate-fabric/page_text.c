// SPDX-License-Identifier: Apache-2.0
// The report for people: report.md, with the sections that the BMWG draft on AI-fabric training
// benchmarks asks for.

#include <math.h>
#include <string.h>

#include "outcome.h"
#include "page.h"
#include "weft_version.h"

static const char *yes(bool is)
{
	return is ? "yes" : "no";
}

static void say_device(FILE *to, const struct book *book)
{
	const struct fabric_config *fabric = &book->scenario.fabric;
	const struct facts *facts = &book->facts;
	fprintf(to, "## Device under test\n\n| | |\n|---|---|\n");
	fprintf(to, "| scenario | `%s` |\n", book->scene.path);
	fprintf(to, "| NICs | %u, %u in a host, %u planes, %.0f Gb/s each in all |\n", facts->nics,
		facts->nics_per_host, facts->planes, facts->nic_rate_bps / 1e9);
	if (facts->nics_per_t0 > 0)
		fprintf(to, "| T0 | %u, each with %u NICs and %u links upwards in a plane |\n",
			facts->t0_count, facts->nics_per_t0, facts->ups);
	fprintf(to, "| capacity above a T0 | %.4g of that below |\n", facts->up_share);
	fprintf(to, "| delays | NIC cable %.3g us, trunk %.3g us, switch %.3g us |\n",
		(double)fabric->nic_delay_ps / 1e6, (double)fabric->trunk_delay_ps / 1e6,
		(double)fabric->switch_delay_ps / 1e6);
	fprintf(to, "| idle round trip | %.4g us |\n", (double)facts->base_rtt_ps / 1e6);
	for (uint32_t i = 0; i < book->set_count; i++)
		fprintf(to, "| set | `%s` |\n", book->sets[i]);
	for (uint32_t i = 0; i < book->fault_count; i++)
		fprintf(to, "| fault | `%s` |\n", book->faults[i]);
}

// What the file is called: the scenario's own name was replaced by that of the fabric's.
const char *page_name(const struct book *book)
{
	static char text[BOOK_PATH_BYTES];
	const char *slash = strrchr(book->scene.path, '/');
	snprintf(text, sizeof(text), "%s", slash == NULL ? book->scene.path : slash + 1);
	char *dot = strrchr(text, '.');
	if (dot != NULL && dot != text)
		*dot = '\0';
	return text;
}

const char *page_tester(const struct book *book)
{
	static char text[256];
	snprintf(text, sizeof(text),
		 "weft %s: %s; messages, not gradients, drive collectives; barriers between steps "
		 "of a ring are those of its data; no straggler unless a fault says so",
		 book->with,
		 strcmp(book->with, "sim") == 0 ? "virtual time, packets without bytes"
			 : book->ports != NULL
			 ? "paced time, real frames through the ports that the command names"
			 : book->facts.has_pfc
			 ? "paced time, packets without bytes, as pauses have none"
			 : "paced time, real frames in memory");
	return text;
}

static void say_settings(FILE *to, const struct book *book)
{
	const struct facts *facts = &book->facts;
	fprintf(to, "\n## Test configuration\n\n| | |\n|---|---|\n");
	fprintf(to, "| transport | %s |\n", facts->is_mrc ? "MRC" : "RoCEv2 RC");
	fprintf(to, "| congestion control | %s |\n", book->scenario.cc_asked);
	fprintf(to, "| entropy values | %u |\n", book->scenario.transport.ev_count);
	fprintf(to, "| packets | %llu B of payload |\n", (unsigned long long)facts->payload_bytes);
	fprintf(to, "| ECN, trimming, PFC | %s, %s, %s |\n", yes(facts->has_ecn),
		yes(facts->has_trim), yes(facts->has_pfc));
	fprintf(to, "| tester | %s |\n", page_tester(book));
}

static void cell(FILE *to, double value, double unit)
{
	if (isnan(value))
		fputs(" - |", to);
	else
		fprintf(to, " %.4g |", value / unit);
}

static void say_case(FILE *to, const struct book *book, const struct case_run *run)
{
	const struct case_figures *figures = &run->figures;
	bool has_figures = run->state == CASE_PASS || run->state == CASE_FAIL;
	fprintf(to, "| [%s](cases/%s) | %s | %s |", run->of->name, case_home(run), run->of->asks,
		run->state == CASE_FAIL ? "**FAIL**" : case_word(run->state));
	if (has_figures) {
		cell(to, figures->goodput_bps, 1e9);
		cell(to, figures->busbw_bps, 8e9);
		cell(to, figures->fct_p50_s, 1e-6);
		cell(to, figures->fct_p99_s, 1e-6);
		cell(to, figures->marked, 0.01);
		cell(to, figures->trimmed, 0.01);
		cell(to, figures->resent, 0.01);
	} else {
		fputs(" | | | | | | |", to);
	}
	fputc(' ', to);
	page_missed(to, book, run);
	fputs(" |\n", to);
}

static void say_section(FILE *to, const struct book *book, enum section section)
{
	fprintf(to, "\n## %d. %s\n\n", section + 1, section_title(section));
	fprintf(to,
		"| case | asks | verdict | goodput Gb/s | busbw GB/s | FCT p50 us | p99 us | "
		"marked %% | trimmed %% | sent again %% | |\n"
		"|---|---|---|---|---|---|---|---|---|---|---|\n");
	for (uint32_t i = 0; i < book->case_count; i++)
		if (book->cases[i].of->section == section)
			say_case(to, book, &book->cases[i]);
}

// ---------------------------------------------------------------- over cases

static void say_anomalies(FILE *to, const struct book *book)
{
	bool is_any = false;
	fprintf(to, "\n## Anomalies\n\n");
	for (uint32_t i = 0; i < book->case_count; i++) {
		const struct case_run *run = &book->cases[i];
		if (run->state != CASE_FAIL && run->state != CASE_NOT_VALID)
			continue;
		is_any = true;
		fprintf(to, "- %s, %s: ", section_word(run->of->section), run->of->name);
		page_missed(to, book, run);
		if (run->figures.culprit[0] != '\0')
			fprintf(to, "; look at %s", run->figures.culprit);
		fputc('\n', to);
	}
	if (!is_any)
		fprintf(to, "None.\n");
}

bool page_repeats(struct page_repeats *ret, const struct book *book)
{
	double sum = 0, squares = 0;
	uint32_t count = 0;
	for (uint32_t i = 0; i < book->case_count; i++) {
		const struct case_run *run = &book->cases[i];
		if (strncmp(run->of->name, "permutation-", 12) != 0 ||
		    (run->state != CASE_PASS && run->state != CASE_FAIL))
			continue;
		sum += run->figures.goodput_bps;
		squares += run->figures.goodput_bps * run->figures.goodput_bps;
		count++;
	}
	if (count < 2)
		return false;
	double mean = sum / count, variance = (squares - sum * mean) / (count - 1);
	*ret = (struct page_repeats){count, mean, sqrt(variance > 0 ? variance : 0) / mean};
	return true;
}

static void say_repeats(FILE *to, const struct book *book)
{
	struct page_repeats repeats;
	fprintf(to, "\n## Repeatability\n\n");
	if (!page_repeats(&repeats, book)) {
		fprintf(to, "Unavailable: fewer than two permutations have run.\n");
		return;
	}
	fprintf(to,
		"Goodput of %u permutations: mean %.5g Gb/s per NIC, coefficient of variation %.3g "
		"%%. The same scenario, seed and commit always give the same digest.\n",
		repeats.count, repeats.mean_bps / 1e9, repeats.variation * 100);
}

const char *page_comparable(const struct book *book)
{
	static char text[192];
	const struct facts *facts = &book->facts;
	snprintf(text, sizeof(text),
		 "%u NICs, %.0f Gb/s, over-subscription %.3g : 1, transport, congestion control, "
		 "spraying, book (%s)",
		 facts->nics, facts->nic_rate_bps / 1e9, 1 / facts->up_share,
		 book->is_quick ? "quick" : "whole");
	return text;
}

static void say_comparable(FILE *to, const struct book *book)
{
	fprintf(to, "\n## Comparability\n\nOnly with books of the same: %s.\n",
		page_comparable(book));
}

void page_text(FILE *to, const struct book *book)
{
	static const char *const ends[] = {"PASS", "FAIL"};
	int status = book_status(book);
	fprintf(to, "# Validation of a fabric: %s\n\n", page_name(book));
	fprintf(to, "**%s**%s. %s.\n\n", status <= EXIT_MISSED ? ends[status] : "NOT VALID",
		book->is_done ? "" : " so far: this report is partial", WEFT_VERSION_TEXT);
	fprintf(to,
		"The verdict is that of acceptance profiles, not of the BMWG draft whose "
		"categories these are: that one measures only.\n\n");
	say_device(to, book);
	say_settings(to, book);
	for (uint32_t i = 0; i < SECTION_COUNT; i++)
		say_section(to, book, i);
	say_anomalies(to, book);
	say_repeats(to, book);
	say_comparable(to, book);
}
