// SPDX-License-Identifier: Apache-2.0
// The entropy values of a scenario: how many, the tables and fields of profiles, and what is
// denied. An endpoint checks the same once more; in here every fault has a place in the file.

#include "scenario_reader.h"

#define DENIED "transport.deny"

// A UDP source port is all that carries an EV of MRC, so values are ports.
static bool is_port(const struct scenario *scenario)
{
	return scenario->frames.ip_version == 4 || scenario->frames.entropy == FRAMES_ENTROPY_PORT;
}

int reader_check_evs(struct reader *reader)
{
	const struct transport_config *transport = &reader->scenario->transport;
	const char *path = "transport.universe";
	uint32_t universe = ev_universe(transport);
	if (transport->ev_count / transport->planes > EVS_OF_PLANE_MAX)
		return reader_refuse(reader, reader_mark(reader, "transport.evs"),
				     "transport.evs: %u are more than %u on each of %u planes",
				     transport->ev_count, EVS_OF_PLANE_MAX, transport->planes);
	if (transport->path_policy == PATH_REPS && transport->ev_count > EVS_OF_REPS_MAX)
		return reader_refuse(reader, reader_mark(reader, "transport.evs"),
				     "transport.evs: %u are more than the %u that transport.path "
				     "reps knows",
				     transport->ev_count, EVS_OF_REPS_MAX);
	if (universe < transport->ev_count)
		return reader_refuse(reader, reader_mark(reader, path),
				     "%s: %u are fewer than transport.evs, %u", path, universe,
				     transport->ev_count);
	if (universe % transport->planes != 0)
		return reader_refuse(reader, reader_mark(reader, path),
				     "%s: %u cannot be shared out evenly to %u planes", path,
				     universe, transport->planes);
	if (transport->ev_min_active > transport->ev_count)
		return reader_refuse(reader, reader_mark(reader, "transport.min_active"),
				     "transport.min_active: %u is above transport.evs, %u",
				     transport->ev_min_active, transport->ev_count);
	if (transport->ev_mode == EV_EXPLICIT && universe > EV_VALUES_MAX)
		return reader_refuse(reader, reader_mark(reader, "transport.ev_profile"),
				     "transport.ev_profile: %u values are more than the %u of an "
				     "explicit profile",
				     universe, EV_VALUES_MAX);
	return 0;
}

static int read_ev(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
		   const char *path, uint32_t *ret)
{
	int rc = document_read_element(reader, document, node, path, ret);
	bool is_good = !is_port(reader->scenario) || (*ret >= EV_PORT_FIRST && *ret <= UINT16_MAX);
	if (rc != 0 || is_good)
		return rc;
	return reader_refuse(
		reader, document_mark(node),
		"%s: %u is not a UDP source port from %u to 65535, which all EVs are here", path,
		*ret, EV_PORT_FIRST);
}

static int check_new(struct reader *reader, const yaml_node_t *node, const char *path,
		     const uint32_t *values, uint32_t index)
{
	for (uint32_t other = 0; other < index; other++)
		if (values[other] == values[index])
			return reader_refuse(reader, document_mark(node),
					     "%s: %u appears twice; it is number %u, too", path,
					     values[index], other);
	return 0;
}

static int read_value(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
		      uint32_t index)
{
	uint32_t *values = reader->scenario->ev_values;
	const char *path = "transport.ev_values[]";
	int rc = read_ev(reader, document, node, path, &values[index]);
	reader->scenario->ev_value_count = index + 1;
	return rc != 0 ? rc : check_new(reader, node, path, values, index);
}

static int read_field(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
		      uint32_t index)
{
	struct ev_field *field = &reader->scenario->transport.ev_fields[index];
	int rc = document_read_element(reader, document, node, "transport.ev_fields[]", field);
	reader->scenario->transport.ev_field_count = index + 1;
	if (rc == 0 && field->bits < 32 && field->max >> field->bits != 0)
		rc = reader_refuse(reader, document_mark(node),
				   "transport.ev_fields[]: %u does not fit in %u bits", field->max,
				   field->bits);
	return rc;
}

static uint32_t field_room(const struct scenario *scenario)
{
	return is_port(scenario) ? EV_PORT_BITS : 32;
}

static uint32_t field_bits(const struct transport_config *transport)
{
	uint32_t bits = 0;
	for (uint32_t i = 0; i < transport->ev_field_count; i++)
		bits += transport->ev_fields[i].bits;
	return bits;
}

// Whether the fields can come to this value.
static bool is_generated(const struct scenario *scenario, uint32_t ev)
{
	const struct transport_config *transport = &scenario->transport;
	uint32_t left = field_room(scenario) - field_bits(transport);
	if (left > 0 && (ev & ((UINT32_C(1) << left) - 1)) != 0)
		return false;
	for (uint32_t i = transport->ev_field_count; i > 0; i--) { // from the lowest field
		const struct ev_field *field = &transport->ev_fields[i - 1];
		uint32_t value = ev >> left;
		if (field->bits < 32)
			value &= (UINT32_C(1) << field->bits) - 1;
		if (value > field->max)
			return false;
		left += field->bits;
	}
	return true;
}

static bool is_in_profile(const struct scenario *scenario, uint32_t ev)
{
	if (scenario->transport.ev_mode == EV_GENERATED)
		return is_generated(scenario, ev);
	for (uint32_t i = 0; i < scenario->ev_value_count; i++)
		if (scenario->ev_values[i] == ev)
			return true;
	return false;
}

static int read_denied(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
		       uint32_t index)
{
	uint32_t *denied = reader->scenario->ev_denied;
	int rc = read_ev(reader, document, node, DENIED "[]", &denied[index]);
	reader->scenario->transport.ev_denied_count = index + 1;
	if (rc == 0)
		rc = check_new(reader, node, DENIED "[]", denied, index);
	if (rc == 0 && !is_in_profile(reader->scenario, denied[index]))
		rc = reader_refuse(reader, document_mark(node),
				   DENIED "[]: %u is not in the profile", denied[index]);
	return rc;
}

// ---------------------------------------------------------------- whole lists

static int check_values(struct reader *reader)
{
	const struct scenario *scenario = reader->scenario;
	uint32_t universe = ev_universe(&scenario->transport);
	const char *path = "transport.ev_values";
	if (scenario->transport.ev_mode != EV_EXPLICIT || scenario->ev_value_count == universe)
		return 0;
	return reader_refuse(reader, reader_mark(reader, path),
			     "%s: there are %u; %u are needed, as many as transport.universe, or "
			     "transport.evs",
			     path, scenario->ev_value_count, universe);
}

static int check_fields(struct reader *reader)
{
	const struct transport_config *transport = &reader->scenario->transport;
	uint32_t bits = field_bits(transport), room = field_room(reader->scenario);
	const char *path = "transport.ev_fields";
	if (transport->ev_mode != EV_GENERATED)
		return 0;
	if (bits > room)
		return reader_refuse(reader, reader_mark(reader, path),
				     "%s: %u bits; an EV has %u here", path, bits, room);
	uint64_t values = 1;
	for (uint32_t i = 0; i < transport->ev_field_count; i++)
		if (!transport->ev_fields[i].is_even)
			values *= (uint64_t)transport->ev_fields[i].max + 1;
	if (values < ev_universe(transport))
		return reader_refuse(reader, reader_mark(reader, path),
				     "%s: what is drawn gives %llu values; %u are needed", path,
				     (unsigned long long)values, ev_universe(transport));
	return 0;
}

static int check_denied(struct reader *reader)
{
	const struct transport_config *transport = &reader->scenario->transport;
	if (transport->ev_denied_count < ev_universe(transport))
		return 0;
	return reader_refuse(reader, reader_mark(reader, DENIED),
			     DENIED ": %u of %u values; one at least must be left",
			     transport->ev_denied_count, ev_universe(transport));
}

// RC has no profile: a QP draws one value, and that is its path. Source routes need the values that
// they were made for: there it is one of the profile.
static void settle_rc(struct scenario *scenario)
{
	struct transport_config *transport = &scenario->transport;
	transport->ev_universe = 0;
	transport->ev_min_active = 0;
	transport->ev_denied_count = 0;
	if (scenario->fabric.forwarding != FABRIC_USID)
		transport->ev_mode = EV_AUTO;
}

int reader_read_evs(struct reader *reader, yaml_document_t *document)
{
	struct scenario *scenario = reader->scenario;
	scenario->transport.ev_values = scenario->ev_values;
	scenario->transport.ev_denied = scenario->ev_denied;
	int rc = reader_read_list(reader, document, "transport.ev_values", EV_VALUES_MAX,
				  read_value);
	if (rc == 0)
		rc = check_values(reader);
	if (rc == 0)
		rc = reader_read_list(reader, document, "transport.ev_fields", EV_FIELDS_MAX,
				      read_field);
	if (rc == 0)
		rc = check_fields(reader);
	if (rc == 0)
		rc = reader_read_list(reader, document, DENIED, EV_VALUES_MAX, read_denied);
	if (rc == 0)
		rc = check_denied(reader);
	if (rc == 0 && scenario->transport.kind == TRANSPORT_RC)
		settle_rc(scenario);
	return rc;
}
