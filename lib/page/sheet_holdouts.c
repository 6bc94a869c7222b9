// SPDX-License-Identifier: Apache-2.0
// Settings on scenarios that the search of weft tune did not see, as tables.

#include "sheet.h"

#include <math.h>

void sheet_ratio_cell(json_t *row, const json_t *standing)
{
	if (!json_is_number(json_object_get(standing, "ratio")))
		sheet_cell_state(row, "unavailable: no run finished within the constraints",
				 "unavailable");
	else if (!json_is_number(json_object_get(standing, "low")))
		sheet_cell(row, "%.4f", sheet_number(standing, "ratio", NAN));
	else
		sheet_cell(row, "%.4f (%.4f to %.4f)", sheet_number(standing, "ratio", NAN),
			   sheet_number(standing, "low", NAN), sheet_number(standing, "high", NAN));
}

void sheet_holdouts(json_t *section, const json_t *study)
{
	static const char *const head[] = {
		"place", "ratio to the default (95 %)", "seeds", "breaks", "setting", NULL};
	const json_t *list = json_object_get(study, "holdouts"), *holdout, *each;
	size_t i, j;
	json_array_foreach(list, i, holdout)
	{
		char title[160];
		snprintf(title, sizeof(title), "On %.100s, which the search did not see",
			 sheet_text(holdout, "scenario"));
		json_t *table = sheet_table(section, title, head);
		json_array_foreach(json_object_get(holdout, "finalists"), j, each)
		{
			json_t *row = sheet_row(table);
			sheet_cell(row, "%zu", j + 1);
			sheet_ratio_cell(row, each);
			sheet_cell(row, "%.0f", sheet_number(each, "seeds", 0));
			sheet_cell(row, "%s", sheet_text(each, "binding"));
			sheet_cell(row, "%s", sheet_text(each, "setting"));
		}
		const json_t *rounded = json_object_get(holdout, "rounded");
		if (rounded == NULL)
			continue;
		json_t *row = sheet_row(table);
		sheet_cell(row, "1, rounded");
		sheet_ratio_cell(row, rounded);
		sheet_cell(row, "%.0f", sheet_number(rounded, "seeds", 0));
		sheet_cell(row, "%s", sheet_text(rounded, "binding"));
		sheet_cell(row, "as it is set");
	}
}
