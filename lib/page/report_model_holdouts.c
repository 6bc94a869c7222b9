// SPDX-License-Identifier: Apache-2.0
// Settings on scenarios that the search of weft tune did not see, as tables.

#include "report_model.h"

#include <math.h>

void report_model_ratio_cell(json_t *row, const json_t *standing)
{
	if (!json_is_number(json_object_get(standing, "ratio")))
		report_model_cell_state(
			row,
			document_number_or(standing, "failed", 0) > 0
				? "unavailable: a run did not finish within the constraints"
				: "unavailable: the default finished on none of these seeds",
			"unavailable");
	else if (!json_is_number(json_object_get(standing, "low")))
		report_model_cell(row, "%.4f", document_number(standing, "ratio"));
	else
		report_model_cell(row, "%.4f (%.4f to %.4f)", document_number(standing, "ratio"),
				  document_number(standing, "low"),
				  document_number(standing, "high"));
}

void report_model_holdouts(json_t *section, const json_t *study)
{
	static const char *const head[] = {
		"place", "ratio to the default (95 %)", "seeds", "breaks", "setting", NULL};
	const json_t *list = json_object_get(study, "holdouts"), *holdout, *each;
	size_t i, j;
	json_array_foreach(list, i, holdout)
	{
		char title[160];
		snprintf(title, sizeof(title), "On %.100s, which the search did not see",
			 document_text(holdout, "scenario"));
		json_t *table = report_model_table(section, title, head);
		json_array_foreach(json_object_get(holdout, "finalists"), j, each)
		{
			json_t *row = report_model_row(table);
			report_model_cell(row, "%zu", j + 1);
			report_model_ratio_cell(row, each);
			report_model_cell(row, "%.0f", document_number_or(each, "seeds", 0));
			report_model_cell(row, "%s", document_text(each, "binding"));
			report_model_cell(row, "%s", document_text(each, "setting"));
		}
		const json_t *rounded = json_object_get(holdout, "rounded");
		if (rounded == NULL)
			continue;
		json_t *row = report_model_row(table);
		report_model_cell(row, "1, rounded");
		report_model_ratio_cell(row, rounded);
		report_model_cell(row, "%.0f", document_number_or(rounded, "seeds", 0));
		report_model_cell(row, "%s", document_text(rounded, "binding"));
		report_model_cell(row, "as it is set");
	}
}
