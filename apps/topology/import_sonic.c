// SPDX-License-Identifier: Apache-2.0
// A config_db.json of SONiC. Of its tables are read: PORT (speed, admin_status), PORT_QOS_MAP
// (pfc_enable), QUEUE (wred_profile of the lossless queue), WRED_PROFILE (thresholds and share of
// green, ecn), BUFFER_PG, BUFFER_PROFILE and BUFFER_POOL (xoff, dynamic_th, static_th, size) and
// PFC_WD (detection_time, action). Values are texts; names of profiles may be references,
// [TABLE|NAME], as older releases have them.
#include "import.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#define PRIORITY_DEFAULT 3 // of lossless traffic where no port says pfc_enable
#define NAME_BYTES 64

struct reader {
	const struct import *import;
	const json_t *root;
	struct refusal *refusal;
};

// The name of a profile without what older releases put around it.
static void plain_name(char ret[NAME_BYTES], const char *text)
{
	const char *bar = strchr(text, '|');
	const char *from = text[0] == '[' && bar != NULL ? bar + 1 : text;
	snprintf(ret, NAME_BYTES, "%.*s", (int)strcspn(from, "]"), from);
}

static const json_t *row_of(const struct reader *reader, const char *table, const char *key)
{
	return json_object_get(json_object_get(reader->root, table), key);
}

static const char *text_of(const json_t *row, const char *field)
{
	return json_string_value(json_object_get(row, field));
}

// A number of a row, as text or as number; *ret stays where the field is not there.
static int number_of(const struct reader *reader, const char *table, const char *key,
		     const char *field, double *ret)
{
	const json_t *value = json_object_get(row_of(reader, table, key), field);
	const char *text = json_string_value(value);
	char *end = NULL;
	if (value == NULL)
		return 0;
	double number = json_is_number(value) ? json_number_value(value)
		: text != NULL		      ? strtod(text, &end)
					      : -1;
	bool is_whole = json_is_number(value) ||
		(text != NULL && text[0] != '\0' && end != NULL && *end == '\0');
	bool may_be_less = strcmp(field, "dynamic_th") == 0;
	if (!is_whole || (number < 0 && !may_be_less) || number > 1e15)
		return import_refuse(reader->import, reader->refusal, 0,
				     "%s|%s|%s: `%.40s` is not a number", table, key, field,
				     text != NULL ? text : "that");
	*ret = number;
	return 0;
}

// ---------------------------------------------------------------- ports

// Ports by number: the order in which containers call them eth1, eth2, ...
static int list_port(const struct reader *reader, const char *name, const struct sonic_port *port,
		     struct sonic_switch *ret)
{
	uint32_t at = ret->listed;
	if (at == SONIC_PORTS_MAX)
		return import_refuse(reader->import, reader->refusal, 0,
				     "PORT|%s: more than %d ports", name, SONIC_PORTS_MAX);
	for (; at > 0 && ret->list[at - 1].number > port->number; at--)
		ret->list[at] = ret->list[at - 1];
	ret->list[at] = *port;
	ret->listed++;
	return 0;
}

static int read_ports(const struct reader *reader, struct sonic_switch *ret)
{
	const char *port;
	json_t *row, *ports = json_object_get(reader->root, "PORT");
	if (!json_is_object(ports))
		return import_refuse(reader->import, reader->refusal, 0,
				     "there is no table PORT: a config_db.json has one");
	json_object_foreach(ports, port, row)
	{
		const char *status = text_of(row, "admin_status");
		double speed = 0;
		int rc = number_of(reader, "PORT", port, "speed", &speed);
		if (rc < 0)
			return rc;
		if (speed == 0)
			return import_refuse(reader->import, reader->refusal, 0,
					     "PORT|%s: speed is missing", port);
		const struct sonic_port one = {
			.number = strtol(port + strcspn(port, "0123456789"), NULL, 10),
			.speed = speed,
			.is_up = status == NULL || strcmp(status, "up") == 0,
		};
		rc = list_port(reader, port, &one, ret);
		if (rc < 0)
			return rc;
		if (!one.is_up)
			continue;
		ret->ports++;
		ret->slower += speed < ret->speed;
		if (speed > ret->speed) {
			ret->slower = ret->ports - 1;
			ret->speed = speed;
		}
	}
	return ret->ports >= 2
		? 0
		: import_refuse(reader->import, reader->refusal, 0,
				"PORT: %u ports are up; traffic needs two at least", ret->ports);
}

// ---------------------------------------------------------------- which queue is meant

// Whether "Ethernet0|3-4" is of that priority.
static bool has_priority(const char *key, long priority)
{
	const char *bar = strrchr(key, '|');
	char *end;
	if (bar == NULL)
		return false;
	long first = strtol(bar + 1, &end, 10),
	     last = *end == '-' ? strtol(end + 1, NULL, 10) : first;
	return priority >= first && priority <= last;
}

// The profile that most of a table name for the priority: the first one, and how many name others.
static const char *profile_of(const struct reader *reader, const char *table, const char *field,
			      long priority, uint32_t *ret_others)
{
	const char *key, *found = NULL;
	json_t *row;
	json_object_foreach(json_object_get(reader->root, table), key, row)
	{
		const char *profile = text_of(row, field);
		if (profile == NULL || !has_priority(key, priority))
			continue;
		if (found == NULL)
			found = profile;
		*ret_others += strcmp(found, profile) != 0;
	}
	return found;
}

static void read_hostname(const struct reader *reader, struct sonic_switch *ret)
{
	const char *name = text_of(row_of(reader, "DEVICE_METADATA", "localhost"), "hostname");
	if (name != NULL)
		import_plain_name(ret->hostname, name, strlen(name));
}

static void read_pfc(const struct reader *reader, struct sonic_switch *ret)
{
	const char *key;
	json_t *row;
	ret->priority = PRIORITY_DEFAULT;
	json_object_foreach(json_object_get(reader->root, "PORT_QOS_MAP"), key, row)
	{
		const char *priorities = text_of(row, "pfc_enable");
		if (priorities == NULL || priorities[0] == '\0' || ret->has_pfc)
			continue;
		ret->has_pfc = true;
		ret->priority = strtol(priorities, NULL, 10);
	}
}

// ---------------------------------------------------------------- marks, buffers, watchdog

static int refuse_missing(const struct reader *reader, const char *table, const char *name)
{
	return import_refuse(reader->import, reader->refusal, 0,
			     "%s|%s is not there, and another table names it", table, name);
}

static int read_marks(const struct reader *reader, struct sonic_switch *ret)
{
	const char *named = profile_of(reader, "QUEUE", "wred_profile", ret->priority,
				       &ret->other_marks);
	const char *const table = "WRED_PROFILE";
	char name[NAME_BYTES];
	if (named == NULL)
		return 0;
	plain_name(name, named);
	const json_t *row = row_of(reader, table, name);
	if (row == NULL)
		return refuse_missing(reader, table, name);
	const char *ecn = text_of(row, "ecn");
	snprintf(ret->marks, sizeof(ret->marks), "%s", name);
	ret->has_ecn = ecn != NULL && strncmp(ecn, "ecn_", 4) == 0 && strcmp(ecn, "ecn_none") != 0;
	int rc = number_of(reader, table, name, "green_min_threshold", &ret->low);
	if (rc == 0)
		rc = number_of(reader, table, name, "green_max_threshold", &ret->high);
	ret->share = 100;
	if (rc == 0)
		rc = number_of(reader, table, name, "green_drop_probability", &ret->share);
	if (rc == 0 && ret->has_ecn && (ret->low <= 0 || ret->high < ret->low))
		return import_refuse(reader->import, reader->refusal, 0,
				     "%s|%s: green_min_threshold %.0f and green_max_threshold %.0f "
				     "are not a pair",
				     table, name, ret->low, ret->high);
	return rc;
}

static int read_buffers(const struct reader *reader, struct sonic_switch *ret)
{
	const char *named = profile_of(reader, "BUFFER_PG", "profile", ret->priority,
				       &ret->other_buffers);
	const char *const table = "BUFFER_PROFILE";
	char name[NAME_BYTES], pool[NAME_BYTES];
	if (named == NULL || strcmp(named, "NULL") == 0)
		return 0;
	plain_name(name, named);
	const json_t *row = row_of(reader, table, name);
	if (row == NULL)
		return refuse_missing(reader, table, name);
	snprintf(ret->buffers, sizeof(ret->buffers), "%s", name);
	int rc = number_of(reader, table, name, "xoff", &ret->headroom);
	if (rc == 0)
		rc = number_of(reader, table, name, "static_th", &ret->xoff);
	ret->has_dynamic = json_object_get(row, "dynamic_th") != NULL;
	if (rc == 0)
		rc = number_of(reader, table, name, "dynamic_th", &ret->dynamic_th);
	if (rc == 0 && (ret->dynamic_th < -8 || ret->dynamic_th > 6))
		return import_refuse(reader->import, reader->refusal, 0,
				     "%s|%s|dynamic_th: %.0f is not from -8 to 6", table, name,
				     ret->dynamic_th);
	if (rc < 0 || text_of(row, "pool") == NULL || !ret->has_dynamic)
		return rc;
	plain_name(pool, text_of(row, "pool"));
	if (row_of(reader, "BUFFER_POOL", pool) == NULL)
		return refuse_missing(reader, "BUFFER_POOL", pool);
	return number_of(reader, "BUFFER_POOL", pool, "size", &ret->shared);
}

static int read_watch(const struct reader *reader, struct sonic_switch *ret)
{
	const char *key;
	json_t *row;
	json_object_foreach(json_object_get(reader->root, "PFC_WD"), key, row)
	{
		const char *action = text_of(row, "action");
		if (json_object_get(row, "detection_time") == NULL)
			continue;
		ret->watch_drops = action != NULL && strcmp(action, "drop") == 0;
		return number_of(reader, "PFC_WD", key, "detection_time", &ret->watch_ms);
	}
	return 0;
}

int import_sonic(struct import *ret, const char *text, size_t bytes, struct refusal *refusal)
{
	json_error_t error;
	json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
	ret->format = "config_db.json of SONiC";
	ret->is_sonic = true;
	if (root == NULL) {
		int rc = import_refuse(ret, refusal, (uint32_t)(error.line < 0 ? 0 : error.line),
				       "not JSON: %s", error.text);
		refusal->column = (uint32_t)(error.column < 0 ? 0 : error.column);
		return rc;
	}
	const struct reader reader = {ret, root, refusal};
	int rc = read_ports(&reader, &ret->sonic);
	if (rc == 0) {
		read_hostname(&reader, &ret->sonic);
		read_pfc(&reader, &ret->sonic);
		rc = read_marks(&reader, &ret->sonic);
	}
	if (rc == 0)
		rc = read_buffers(&reader, &ret->sonic);
	if (rc == 0)
		rc = read_watch(&reader, &ret->sonic);
	json_decref(root);
	return rc;
}

// ---------------------------------------------------------------- the scenario

void import_sonic_queue(const struct sonic_switch *of, FILE *to)
{
	if (of->has_pfc)
		fprintf(to, "preset: %s\n", of->has_ecn ? "roce-dcqcn" : "roce-pfc");
	fprintf(to, "queue:\n  pfc: %s\n  ecn: %s\n", of->has_pfc ? "true" : "false",
		of->has_ecn ? "true" : "false");
	if (of->has_ecn)
		fprintf(to,
			"  ecn_low: %.0fB           # WRED_PROFILE|%s, green\n  ecn_high: %.0fB\n"
			"  ecn_share: %.9g%%\n  ecn_last_hop: true\n",
			of->low, of->marks, of->high, of->share > 0 ? of->share : 100);
	if (of->shared > 0)
		fprintf(to,
			"  shared: %.0fB            # pool of BUFFER_PROFILE|%s\n  alpha: %.9g     "
			"   "
			"      # 2 to the power of dynamic_th, %.0f\n",
			of->shared, of->buffers,
			of->dynamic_th < 0 ? 1.0 / (double)(1 << (int)-of->dynamic_th)
					   : (double)(1 << (int)of->dynamic_th),
			of->dynamic_th);
	else if (of->has_pfc && of->xoff > 0)
		fprintf(to, "  pfc_xoff: %.0fB          # static_th of BUFFER_PROFILE|%s\n",
			of->xoff, of->buffers);
	if (of->has_pfc && of->headroom > 0)
		fprintf(to, "  pfc_headroom: %.0fB      # xoff of BUFFER_PROFILE|%s\n",
			of->headroom, of->buffers);
	if (of->has_pfc && of->watch_ms > 0)
		fprintf(to, "  pfc_watch: %.0fms         # PFC_WD\n  pfc_watch_action: %s\n",
			of->watch_ms, of->watch_drops ? "drop" : "count");
}

void import_sonic_write(const struct import *import, FILE *to)
{
	const struct sonic_switch *of = &import->sonic;
	const char *slash = strrchr(import->path, '/'), *file = slash ? slash + 1 : import->path;
	fprintf(to, "# %s, %s: %u ports that are up, lossless priority %ld.\n", file,
		import->format, of->ports, of->priority);
	fprintf(to,
		"# The switch alone, a NIC at each port: take its queue into the scenario of your "
		"fabric.\n");
	if (of->slower > 0)
		fprintf(to, "# %u ports are slower than %.0f Mb/s, which all have here.\n",
			of->slower, of->speed);
	if (of->other_marks + of->other_buffers > 0)
		fprintf(to,
			"# %u queues name other WRED profiles, %u priority groups other buffers: "
			"those of the first are taken.\n",
			of->other_marks, of->other_buffers);
	fprintf(to, "# Assumed, as the file does not say it: the traffic.\n");
	fprintf(to, "name: %.*s\n", (int)strcspn(file, "."), file);
	fprintf(to, "fabric: {nics: %u, nics_per_t0: %u, t1_count: 0, link_rate: %.0fMb/s}\n",
		of->ports, of->ports, of->speed);
	import_sonic_queue(of, to);
	fprintf(to, "traffic: {kind: incast, senders: %u, bytes: 1MiB}\n", of->ports - 1);
	fprintf(to, "inputs:\n  - {origin: fact, text: \"marks, buffers, pauses and rates: %s\"}\n",
		file);
}
