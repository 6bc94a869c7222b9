// SPDX-License-Identifier: Apache-2.0
// Settings of switches put into a fabric of containerlab. A container's eth1 is the first port of
// PORT, by number, eth2 the next one; where an end of a link is called EthernetN, it is that one.
#include "import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// What a scenario has once for all switches, by its name in config_db.json.
static const char *const setting_names[] = {
	"PORT_QOS_MAP pfc_enable",
	"priority of pfc_enable",
	"WRED_PROFILE ecn",
	"WRED_PROFILE green_min_threshold",
	"WRED_PROFILE green_max_threshold",
	"WRED_PROFILE green_drop_probability",
	"BUFFER_PROFILE xoff",
	"BUFFER_PROFILE static_th",
	"BUFFER_PROFILE dynamic_th",
	"BUFFER_POOL size",
	"PFC_WD detection_time",
	"PFC_WD action drop",
};
#define SETTINGS (sizeof(setting_names) / sizeof(setting_names[0]))

static void settings_of(const struct sonic_switch *of, double ret[SETTINGS])
{
	const double values[SETTINGS] = {
		of->has_pfc,  (double)of->priority, of->has_ecn, of->low,	 of->high,
		of->share,    of->headroom,	    of->xoff,	 of->dynamic_th, of->shared,
		of->watch_ms, of->watch_drops,
	};
	memcpy(ret, values, sizeof(values));
}

static int check_same(const struct import *import, const struct import *config, const char *node,
		      const char *first, struct refusal *refusal)
{
	double here[SETTINGS], there[SETTINGS];
	settings_of(&config->sonic, here);
	settings_of(&import->sonic, there);
	for (size_t i = 0; i < SETTINGS; i++)
		if (here[i] != there[i])
			return import_refuse(config, refusal, 0,
					     "%s of %s is %.15g, of %s %.15g; a scenario has one "
					     "queue for all switches",
					     setting_names[i], node, here[i], first, there[i]);
	return 0;
}

// NULL: it has no such port, or the name is no ethN nor EthernetN.
static const struct sonic_port *port_of(const struct sonic_switch *of, const char *name)
{
	bool is_counted = strncmp(name, "eth", 3) == 0;
	const char *digits = name + (is_counted ? 3 : sizeof("Ethernet") - 1);
	if (!is_counted && strncmp(name, "Ethernet", sizeof("Ethernet") - 1) != 0)
		return NULL;
	long number = strtol(digits, NULL, 10);
	if (*digits == '\0' || digits[strspn(digits, "0123456789")] != '\0')
		return NULL;
	if (is_counted)
		return number >= 1 && number <= (long)of->listed ? &of->list[number - 1] : NULL;
	for (uint32_t i = 0; i < of->listed; i++)
		if (of->list[i].number == number)
			return &of->list[i];
	return NULL;
}

// The speed of one end of a link; both ends have one speed.
static int set_rate(const struct import *import, const struct import *config,
		    struct import_link *link, int end, struct refusal *refusal)
{
	const char *name = link->ports[end];
	const char *node = import->nodes[end == 0 ? link->a : link->b].name;
	const struct sonic_port *port = port_of(&config->sonic, name);
	if (port == NULL)
		return import_refuse(config, refusal, 0,
				     "PORT has no port for `%s` of %s, which line %u of %s links",
				     name, node, link->line, import->path);
	if (!port->is_up)
		return import_refuse(config, refusal, 0,
				     "PORT|Ethernet%ld is down, and line %u of %s links it",
				     port->number, link->line, import->path);
	double rate_bps = port->speed * 1e6;
	if (link->rate_bps != 0 && link->rate_bps != rate_bps)
		return import_refuse(import, refusal, link->line,
				     "one end of the link has %.9g Gb/s, %s %.9g Gb/s",
				     link->rate_bps / 1e9, node, port->speed / 1e3);
	link->rate_bps = rate_bps;
	return 0;
}

static int set_rates(struct import *import, const struct import *config, uint32_t node,
		     struct refusal *refusal)
{
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < import->link_count; i++) {
		struct import_link *link = &import->links[i];
		if (link->a == node || link->b == node)
			rc = set_rate(import, config, link, link->b == node, refusal);
	}
	return rc;
}

// The switch that a file is of.
static int find_switch(const struct import *import, const struct import *config, const char *name,
		       uint32_t *ret, struct refusal *refusal)
{
	if (name[0] == '\0')
		return import_refuse(config, refusal, 0,
				     "DEVICE_METADATA|localhost has no hostname; say of which "
				     "switch it is: --config NAME=%s",
				     config->path);
	for (*ret = 0; *ret < import->node_count; (*ret)++)
		if (strcmp(import->nodes[*ret].name, name) == 0 && !import->nodes[*ret].is_host)
			return 0;
	return import_refuse(config, refusal, 0, "%s has no switch `%s`", import->path, name);
}

// One config of the list; `owners` says for each node which of them it has, counted from 1.
static int merge(struct import *import, const char *word, uint32_t *owners, uint32_t number,
		 struct refusal *refusal)
{
	const char *equals = strchr(word, '='), *path = equals == NULL ? word : equals + 1;
	char name[IMPORT_NAME_BYTES] = "";
	uint32_t node = 0, first = 0;
	struct import *config = calloc(1, sizeof(*config));
	if (config == NULL)
		return refuse(refusal, -ENODEV, "not enough memory");
	int rc = import_read(config, path, refusal);
	if (rc == 0 && !config->is_sonic)
		rc = import_refuse(config, refusal, 0, "this is not a config_db.json");
	if (equals != NULL)
		import_plain_name(name, word, (size_t)(equals - word));
	if (rc == 0)
		rc = find_switch(import, config, equals != NULL ? name : config->sonic.hostname,
				 &node, refusal);
	if (rc == 0 && owners[node] != 0)
		rc = import_refuse(config, refusal, 0, "%s has a file already",
				   import->nodes[node].name);
	if (rc == 0 && number == 1)
		import->sonic = config->sonic;
	while (rc == 0 && number > 1 && owners[first] != 1)
		first++;
	if (rc == 0 && number > 1)
		rc = check_same(import, config, import->nodes[node].name, import->nodes[first].name,
				refusal);
	if (rc == 0)
		rc = set_rates(import, config, node, refusal);
	owners[node] = number;
	import_release(config);
	free(config);
	return rc;
}

int import_merge(struct import *import, const char *const *configs, uint32_t count,
		 struct refusal *refusal)
{
	if (import->is_sonic || import->has_rates)
		return import_refuse(import, refusal, 0,
				     "--config goes with a topology of containerlab; this is %s",
				     import->format);
	uint32_t *owners = calloc(import->node_count + 1, sizeof(*owners));
	if (owners == NULL)
		return refuse(refusal, -ENODEV, "not enough memory");
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		rc = merge(import, configs[i], owners, i + 1, refusal);
	for (uint32_t i = 0; rc == 0 && i < import->node_count; i++)
		if (!import->nodes[i].is_host && owners[i] == 0)
			rc = import_refuse(import, refusal, 0,
					   "switch `%s` has no --config; each has one",
					   import->nodes[i].name);
	free(owners);
	import->has_rates = import->has_queue = true;
	return rc;
}
