// SPDX-License-Identifier: Apache-2.0
// The report for people: report.md, with the sections that the BMWG draft on AI-fabric training
// benchmarks asks for.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/result/report_escape.h>

#include "coverage.h"
#include "page.h"
#include "weft_version.h"
#include <weft/run/outcome.h>

static const char *yes(bool is)
{
	return is ? "yes" : "no";
}

// A row of two cells.
static void say_row(FILE *to, const char *name, const char *text)
{
	fprintf(to, "| %s | ", name);
	escape_markdown(to, text);
	fputs(" |\n", to);
}

// What page_missed() says may have names of files and values of the scenario in it.
static void say_missed(FILE *to, const struct acceptance *acceptance, const struct case_run *run)
{
	char *text = NULL;
	size_t bytes;
	FILE *memory = open_memstream(&text, &bytes);
	check(memory != NULL);
	page_missed(memory, acceptance, run);
	check(fclose(memory) == 0);
	escape_markdown(to, text);
	free(text);
}

static void say_device(FILE *to, const struct acceptance *acceptance)
{
	const struct fabric_config *fabric = &acceptance->scenario.fabric;
	const struct fabric_facts *fabric_facts = &acceptance->fabric_facts;
	fprintf(to, "## Device under test\n\n| | |\n|---|---|\n");
	say_row(to, "scenario", acceptance->fabric_file.path);
	say_row(to, "topology and cabling", page_topology(acceptance));
	fprintf(to, "| NICs | %u, %u in a host, %u planes, %.0f Gb/s each in all |\n",
		fabric_facts->nics, fabric_facts->nics_per_host, fabric_facts->planes,
		fabric_facts->nic_rate_bps / 1e9);
	if (fabric_facts->nics_per_t0 > 0)
		fprintf(to, "| T0 | %u, each with %u NICs and %u links upwards in a plane |\n",
			fabric_facts->t0_count, fabric_facts->nics_per_t0, fabric_facts->ups);
	fprintf(to, "| capacity above a T0 | %.4g of that below |\n", fabric_facts->up_share);
	fprintf(to, "| delays | NIC cable %.3g us, trunk %.3g us, switch %.3g us |\n",
		(double)fabric->nic_delay_ps / 1e6, (double)fabric->trunk_delay_ps / 1e6,
		(double)fabric->switch_delay_ps / 1e6);
	fprintf(to, "| idle round trip | %.4g us |\n", (double)fabric_facts->base_rtt_ps / 1e6);
	for (uint32_t i = 0; i < acceptance->set_count; i++)
		say_row(to, "set", acceptance->sets[i]);
	for (uint32_t i = 0; i < acceptance->fault_count; i++)
		say_row(to, "fault", acceptance->faults[i]);
}

static void say_settings(FILE *to, const struct acceptance *acceptance)
{
	const struct fabric_facts *fabric_facts = &acceptance->fabric_facts;
	fprintf(to, "\n## Test configuration\n\n| | |\n|---|---|\n");
	fprintf(to, "| transport | %s |\n", fabric_facts->is_mrc ? "MRC" : "RoCEv2 RC");
	say_row(to, "congestion control", acceptance->scenario.transport.cc.name);
	fprintf(to, "| entropy values | %u |\n", acceptance->scenario.transport.ev_count);
	fprintf(to, "| packets | %llu B of payload |\n",
		(unsigned long long)fabric_facts->payload_bytes);
	say_row(to, "load balancing", page_balance(acceptance));
	fprintf(to, "| ECN, trimming, PFC | %s, %s, %s |\n", yes(fabric_facts->has_ecn),
		yes(fabric_facts->has_trim), yes(fabric_facts->has_pfc));
	if (fabric_facts->has_ecn)
		fprintf(to, "| marks | from %llu B, of all packets from %llu B on |\n",
			(unsigned long long)fabric_facts->ecn_low_bytes,
			(unsigned long long)fabric_facts->ecn_high_bytes);
	fprintf(to, "| buffers | %llu B of data for a port |\n",
		(unsigned long long)fabric_facts->queue_bytes);
	say_row(to, "tester", page_tester(acceptance));
	fprintf(to, "\n## Host configuration\n\n%s.\n", page_host(acceptance));
}

static void cell(FILE *to, double value, double unit)
{
	if (isnan(value))
		fputs(" - |", to);
	else
		fprintf(to, fabs(value / unit) < 9999.5 ? " %.4g |" : " %.0f |", value / unit);
}

static void say_case(FILE *to, const struct acceptance *acceptance, const struct case_run *run)
{
	const struct case_figures *figures = &run->figures;
	bool has_figures = page_has_figures(run);
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
	say_missed(to, acceptance, run);
	fputs(" |\n", to);
}

// ---------------------------------------------------------------- what a section has beside

static bool has_measure(const struct acceptance *acceptance, enum section section, uint32_t measure)
{
	for (uint32_t i = 0; i < acceptance->case_count; i++)
		if (acceptance->cases[i].of->section == section &&
		    page_has_figures(&acceptance->cases[i]) &&
		    !isnan(acceptance->cases[i].figures.more[measure]))
			return measure_is_of(&measures[measure], section);
	return false;
}

static const struct {
	const char *unit, *shown;
	double size;
} units[] = {{"s", " us", 1e-6},
	     {"bit/s", " Gb/s", 1e9},
	     {"byte", " kB", 1e3},
	     {"", "", 1},
	     {"count", "", 1}};

static double unit_of(const struct measure *measure, const char **ret_shown)
{
	uint32_t i = 0;
	while (strcmp(units[i].unit, measure->unit) != 0)
		i++;
	*ret_shown = units[i].shown;
	return units[i].size;
}

// A table of the figures that any of its cases has.
static void say_measures(FILE *to, const struct acceptance *acceptance, enum section section)
{
	const char *shown;
	uint32_t columns = 0;
	for (uint32_t i = 0; i < MEASURE_COUNT; i++)
		columns += has_measure(acceptance, section, i);
	if (columns == 0)
		return;
	fprintf(to, "\n| case |");
	for (uint32_t i = 0; i < MEASURE_COUNT; i++)
		if (has_measure(acceptance, section, i)) {
			unit_of(&measures[i], &shown);
			fprintf(to, " %s%s |", measures[i].name, shown);
		}
	fprintf(to, "\n|---|");
	for (uint32_t i = 0; i < columns; i++)
		fputs("---|", to);
	fputc('\n', to);
	for (uint32_t c = 0; c < acceptance->case_count; c++) {
		const struct case_run *run = &acceptance->cases[c];
		if (run->of->section != section || !page_has_figures(run))
			continue;
		fprintf(to, "| %s |", run->of->name);
		for (uint32_t i = 0; i < MEASURE_COUNT; i++)
			if (has_measure(acceptance, section, i))
				cell(to, run->figures.more[i], unit_of(&measures[i], &shown));
		fputc('\n', to);
	}
}

// Conditions that a figure of a collective is nothing without.
static void say_collectives(FILE *to, const struct acceptance *acceptance, enum section section)
{
	bool is_first = true;
	for (uint32_t i = 0; i < acceptance->case_count; i++) {
		const struct case_run *run = &acceptance->cases[i];
		if (run->of->section != section || run->asked.kind == NULL ||
		    !page_has_figures(run))
			continue;
		if (is_first)
			fprintf(to,
				"\n| case | collective | S bytes | algorithm (what ran) | load "
				"balancing | busbw / NIC rate | JCT Ratio | Overlap_Fraction |\n"
				"|---|---|---|---|---|---|---|---|\n");
		is_first = false;
		fprintf(to, "| %s | %s | %llu | %s | ", run->of->name, run->asked.kind,
			(unsigned long long)run->asked.bytes, run->asked.algorithm);
		escape_markdown(to, page_balance(acceptance));
		fputs(" |", to);
		cell(to, run->figures.busbw_bps / run->figures.nic_rate_bps, 1);
		cell(to, page_jct_ratio(run), 1);
		cell(to, page_overlap(run), 1);
		fputc('\n', to);
	}
}

static void say_section(FILE *to, const struct acceptance *acceptance, enum section section)
{
	fprintf(to, "\n## %d. %s\n\n", section + 1, section_title(section));
	fprintf(to,
		"| case | asks | verdict | goodput Gb/s | busbw GB/s | FCT p50 us | p99 us | "
		"marked %% | trimmed %% | retransmitted %% | |\n"
		"|---|---|---|---|---|---|---|---|---|---|---|\n");
	for (uint32_t i = 0; i < acceptance->case_count; i++)
		if (acceptance->cases[i].of->section == section)
			say_case(to, acceptance, &acceptance->cases[i]);
	say_collectives(to, acceptance, section);
	say_measures(to, acceptance, section);
}

// ---------------------------------------------------------------- over cases

static void say_anomalies(FILE *to, const struct acceptance *acceptance)
{
	bool is_any = false;
	fprintf(to, "\n## Anomalies\n\n");
	for (uint32_t i = 0; i < acceptance->case_count; i++) {
		const struct case_run *run = &acceptance->cases[i];
		if (run->state != CASE_FAIL && run->state != CASE_NOT_VALID)
			continue;
		is_any = true;
		fprintf(to, "- %s, %s: ", section_word(run->of->section), run->of->name);
		say_missed(to, acceptance, run);
		if (run->figures.culprit[0] != '\0') {
			fputs("; look at ", to);
			escape_markdown(to, run->figures.culprit);
		}
		fputc('\n', to);
	}
	if (!is_any)
		fprintf(to, "None.\n");
}

// Cases without a verdict, and why.
static void say_coverage(FILE *to, const struct acceptance *acceptance)
{
	fprintf(to, "\n## Coverage\n\n%u of %u cases have a verdict.\n", coverage_count(acceptance),
		acceptance->case_count);
	for (uint32_t i = 0; i < acceptance->case_count; i++) {
		const struct case_run *run = &acceptance->cases[i];
		if (page_has_figures(run))
			continue;
		fprintf(to, "\n- %s, %s: %s%s", section_word(run->of->section), run->of->name,
			case_word(run->state), run->state == CASE_OPEN ? "" : ": ");
		say_missed(to, acceptance, run);
	}
	fputc('\n', to);
}

static void say_repeats(FILE *to, const struct acceptance *acceptance)
{
	struct page_repeats repeats;
	fprintf(to, "\n## Repeatability\n\n");
	if (!page_repeats(&repeats, acceptance)) {
		fprintf(to, "Unavailable: fewer than two permutations have run.\n");
		return;
	}
	fprintf(to,
		"Goodput of %u permutations: mean %.5g Gb/s per NIC, coefficient of variation %.3g "
		"%%. The same scenario, seed and commit always give the same digest.\n",
		repeats.count, repeats.mean_bps / 1e9, repeats.variation * 100);
	for (uint32_t i = 0; i < acceptance->case_count; i++) {
		const struct case_run *run = &acceptance->cases[i];
		if (page_has_figures(run) && run->figures.samples.count > 0)
			fprintf(to,
				"\n- %s: %u samples of its goodput, coefficient of variation %.3g "
				"%%",
				run->of->name, run->figures.samples.count,
				run->figures.samples.variation * 100);
	}
	fputc('\n', to);
}

static void say_comparable(FILE *to, const struct acceptance *acceptance)
{
	fprintf(to, "\n## Comparability\n\nOnly with books of the same: %s.\n",
		page_comparable(acceptance));
}

void page_text(FILE *to, const struct acceptance *acceptance)
{
	fputs("# Validation of a fabric: ", to);
	escape_markdown(to, page_name(acceptance));
	fputs("\n\n**", to);
	page_verdict(to, acceptance);
	fprintf(to, "**%s. %s.\n\n", acceptance->is_done ? "" : " so far: this report is partial",
		WEFT_VERSION_TEXT);
	fprintf(to,
		"The verdict is that of acceptance profiles, not of the BMWG draft whose "
		"categories these are: that one measures only.\n\n");
	say_device(to, acceptance);
	say_settings(to, acceptance);
	fprintf(to,
		"\nGoodput of a case is that of its last window with an expectation, such as after "
		"a "
		"fault; of one without, that of the whole run. A dash: the case has no such "
		"figure; "
		"book.json says why.\n");
	for (uint32_t i = 0; i < SECTION_COUNT; i++)
		say_section(to, acceptance, i);
	say_coverage(to, acceptance);
	say_anomalies(to, acceptance);
	say_repeats(to, acceptance);
	say_comparable(to, acceptance);
}
