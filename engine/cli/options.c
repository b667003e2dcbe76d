/* SPDX-License-Identifier: Apache-2.0
 *
 * options.c - option values that several verbs take.
 */
#include "cli/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int cli_option_pair(json_t **map, const char *text, struct inis_error *err)
{
	const char *equals = strchr(text, '=');
	json_t *value;

	if (!equals || equals == text)
		return inis_fail(err, INIS_BAD_REQUEST, "\"%s\" is not of the form NAME=VALUE", text);
	if (!*map)
		*map = json_object();
	value = json_string(equals + 1);
	if (!value)
		return inis_fail(err, INIS_BAD_REQUEST, "the value in \"%s\" is not UTF-8 text", text);
	if (json_object_setn_new(*map, text, (size_t)(equals - text), value) < 0)
		return inis_fail(err, INIS_BAD_REQUEST, "the name in \"%s\" is not UTF-8 text", text);
	return 0;
}

static double unit_ms(const char *unit)
{
	static const struct {
		const char *name;
		double ms;
	} units[] = {{"", 1000}, {"s", 1000}, {"ms", 1}, {"m", 60000}, {"h", 3600000}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(units[i].name, unit) == 0)
			return units[i].ms;
	return 0;
}

int cli_option_duration(const char *text, json_int_t *ms, struct inis_error *err)
{
	char *unit;
	double value = strtod(text, &unit) * unit_ms(unit);

	if (unit == text || !isfinite(value) || value < 1 || value > 1e15)
		return inis_fail(err, INIS_BAD_REQUEST, "\"%s\" is not a duration such as 30s, 500ms or 5m", text);
	*ms = (json_int_t)value;
	return 0;
}

int cli_option_duration_or_zero(const char *text, json_int_t *ms, struct inis_error *err)
{
	if (strspn(text, "0") != strlen(text) || !*text)
		return cli_option_duration(text, ms, err);
	*ms = 0;
	return 0;
}

int cli_option_count(const char *text, json_int_t *count, struct inis_error *err)
{
	if (!*text || strlen(text) > 9 || strspn(text, "0123456789") != strlen(text))
		return inis_fail(err, INIS_BAD_REQUEST, "\"%s\" is not a number", text);
	*count = strtol(text, NULL, 10);
	return 0;
}
