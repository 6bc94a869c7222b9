// SPDX-License-Identifier: Apache-2.0
// Answers to DPDK's telemetry. See telemetry.h.

#include <weft/ports/telemetry.h>

#include <errno.h>
#include <string.h>

#include <rte_telemetry.h>

#define COMMANDS_MAX 16

static struct command {
	const char *name;
	telemetry_fn *fn;
} commands[COMMANDS_MAX];
static int command_count;

static telemetry_fn *find(const char *name)
{
	for (int i = 0; i < command_count; i++)
		if (strcmp(commands[i].name, name) == 0)
			return commands[i].fn;
	return NULL;
}

static void add_values(struct rte_tel_data *to, const struct telemetry_cell *cell)
{
	struct rte_tel_data *list = rte_tel_data_alloc();
	if (list == NULL)
		return;
	rte_tel_data_start_array(list, RTE_TEL_U64_VAL);
	for (uint32_t i = 0; i < cell->count; i++)
		rte_tel_data_add_array_u64(list, cell->values[i]);
	rte_tel_data_add_dict_container(to, cell->name, list, 0);
}

static int answer(const char *name, const char *parameters, struct rte_tel_data *ret)
{
	struct telemetry_cell cells[TELEMETRY_CELLS_MAX];
	telemetry_fn *fn = find(name);
	int count = fn != NULL ? fn(parameters, cells) : -ENOENT;
	if (count < 0)
		return count;
	rte_tel_data_start_dict(ret);
	for (int i = 0; i < count; i++)
		if (cells[i].text != NULL)
			rte_tel_data_add_dict_string(ret, cells[i].name, cells[i].text);
		else if (cells[i].values != NULL)
			add_values(ret, &cells[i]);
		else
			rte_tel_data_add_dict_u64(ret, cells[i].name, cells[i].value);
	return 0;
}

int telemetry_serve(const char *command, const char *help, telemetry_fn *fn)
{
	if (command_count == COMMANDS_MAX)
		return -ENODEV;
	commands[command_count++] = (struct command){command, fn};
	return rte_telemetry_register_cmd(command, answer, help) == 0 ? 0 : -ENODEV;
}
