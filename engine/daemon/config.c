/* SPDX-License-Identifier: Apache-2.0
 *
 * config.c - settings as data: one table names each setting, its bounds and its help, for flags and file alike.
 */
#include "daemon/config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

enum kind { TEXT, NUMBER, SWITCH };

struct setting {
	const char *name; /* as in the file; a flag has '-' for '_' */
	enum kind kind;
	bool flag; /* may be given on the command line */
	size_t offset;
	size_t size; /* TEXT */
	int64_t min, max; /* NUMBER */
	const char *argument;
	const char *help;
};

#define FIELD(f_) offsetof(struct inisd_config, f_)
#define ROOM(f_)  sizeof(((struct inisd_config *)0)->f_)

static const struct setting settings[] = {
	{"listen", TEXT, true, FIELD(listen), ROOM(listen), 0, 0, "ADDRESS:PORT",
	 "where to serve HTTP; port 0 picks a free one (default 127.0.0.1:7070)"},
	{"state_dir", TEXT, true, FIELD(state_dir), ROOM(state_dir), 0, 0, "DIR",
	 "database, sessions' disks, templates (default /var/lib/inis)"},
	{"key_file", TEXT, true, FIELD(key_file), ROOM(key_file), 0, 0, "FILE",
	 "API keys, one a line; made with one fresh key when missing (default DIR/key)"},
	{"base_url", TEXT, false, FIELD(base_url), ROOM(base_url), 0, 0, "URL", "what clients are told to call"},
	{"embedded", SWITCH, true, FIELD(embedded), 0, 0, 0, NULL, "serve the programs of one user on this machine"},
	{"exit_when_idle", NUMBER, true, FIELD(exit_when_idle_s), 0, 0, 31536000, "SECONDS",
	 "end when no session is live and no request came for so long (default 0: never)"},
	{"sessions_max", NUMBER, false, FIELD(sessions_max), 0, 0, 1000000, NULL, "live sessions, 0: no cap"},
	{"sessions_per_key_max", NUMBER, false, FIELD(sessions_per_key_max), 0, 0, 1000000, NULL,
	 "live sessions made with one key, 0: no cap"},
	{"session_requests_max", NUMBER, false, FIELD(session_requests_max), 0, 0, 1000000, NULL,
	 "operations going on in one session, 0: no cap (default 512)"},
	{"connections_max", NUMBER, false, FIELD(connections_max), 0, 16, 1000000, NULL,
	 "connections; three quarters of them may have a request going on (default 4096)"},
	{"rate_limit", NUMBER, false, FIELD(rate_limit), 0, 0, 1000000, NULL,
	 "requests a second with one key, 0: no limit"},
	{"rate_burst", NUMBER, false, FIELD(rate_burst), 0, 0, 1000000, NULL,
	 "requests at once after a rest (default as rate_limit)"},
	{"metrics_local", SWITCH, false, FIELD(metrics_local), 0, 0, 0, NULL,
	 "GET /metrics needs no key from this machine"},
	{"pool", NUMBER, false, FIELD(pool), 0, 0, 256, NULL, "blank units kept ready (default 4)"},
	{"disk_mb", NUMBER, false, FIELD(disk_mb), 0, 16, 16 << 20, NULL, "disk of a session (default 10240)"},
	{"pids_max", NUMBER, false, FIELD(pids_max), 0, 16, 4194304, NULL, "processes of a session (default 1024)"},
	{"logs_keep_hours", NUMBER, false, FIELD(logs_keep_hours), 0, 0, 720, NULL,
	 "how long logs of ended sessions are kept, 0: not at all (default 24)"},
	{"logs_max_mb", NUMBER, false, FIELD(logs_max_mb), 0, 1, 1 << 30, NULL,
	 "disk for them; the oldest go first (default 1024)"},
	{"uid_base", NUMBER, false, FIELD(uid_base), 0, 65536, 4294836224, NULL,
	 "first uid of the sessions' ranges, a multiple of 65536 (default 536870912)"},
	{"uid_ranges", NUMBER, false, FIELD(uid_ranges), 0, 1, 65000, NULL, "ranges of 65536 uids (default 8192)"},
	{"front_uid", NUMBER, false, FIELD(front_uid), 0, 1, 4294836224, NULL,
	 "uid and gid that the HTTP side runs as (default 536805376)"},
	{"log_level", TEXT, false, FIELD(log_level), ROOM(log_level), 0, 0, NULL, "debug, info, warn or error"},
};
#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

struct reading {
	struct inisd_config *config;
	const char *source; /* the file, or NULL for flags */
	FILE *complaints;
	bool bad;
};

__attribute__((format(printf, 3, 4))) static void complain(struct reading *r, const char *name, const char *fmt, ...)
{
	va_list ap;

	r->bad = true;
	if (r->source)
		fprintf(r->complaints, "inisd: %s: `%s`: ", r->source, name);
	else
		fprintf(r->complaints, "inisd: %s: ", name);
	va_start(ap, fmt);
	vfprintf(r->complaints, fmt, ap);
	va_end(ap);
	fputc('\n', r->complaints);
}

static void set_text(struct reading *r, const struct setting *s, const char *name, const char *text)
{
	if (text[0] == '\0')
		complain(r, name, "must not be empty");
	else if (strlen(text) >= s->size)
		complain(r, name, "must be shorter than %zu bytes", s->size);
	else
		memcpy((char *)r->config + s->offset, text, strlen(text) + 1);
}

static void set_number(struct reading *r, const struct setting *s, const char *name, int64_t value)
{
	if (value < s->min || value > s->max)
		complain(r, name, "must be an integer between %" PRId64 " and %" PRId64, s->min, s->max);
	else
		memcpy((char *)r->config + s->offset, &value, sizeof(value));
}

static void set_switch(struct reading *r, const struct setting *s, bool value)
{
	memcpy((char *)r->config + s->offset, &value, sizeof(value));
}

static void flag_name(const struct setting *s, char *out, size_t size)
{
	snprintf(out, size, "--%s", s->name);
	for (char *p = out; *p; p++) {
		if (*p == '_')
			*p = '-';
	}
}

/* The setting that a word like --name or --name=value names. */
static const struct setting *find_flag(const char *word)
{
	size_t n = strcspn(word, "=");

	for (size_t i = 0; i < SETTINGS; i++) {
		char name[32];

		flag_name(&settings[i], name, sizeof(name));
		if (settings[i].flag && strlen(name) == n && strncmp(name, word, n) == 0)
			return &settings[i];
	}
	return NULL;
}

static void set_from_word(struct reading *r, const struct setting *s, const char *name, const char *value)
{
	char *end;
	long long number;

	if (s->kind == TEXT) {
		set_text(r, s, name, value);
		return;
	}
	errno = 0;
	number = strtoll(value, &end, 10);
	if (errno != 0 || end == value || *end != '\0')
		number = INT64_MIN;
	set_number(r, s, name, number);
}

/* Sets what the words say; returns the file that --config names, if any. */
static const char *read_flags(struct reading *r, int argc, char *const *argv, bool *help)
{
	const char *file = NULL;

	for (int i = 0; i < argc; i++) {
		const struct setting *s = find_flag(argv[i]);
		const char *value = strchr(argv[i], '=') ? strchr(argv[i], '=') + 1 : NULL;
		char name[32];
		bool is_file;

		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			*help = true;
			continue;
		}
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(argv[i], "="), argv[i]);
		is_file = strcmp(name, "--config") == 0;
		if (!s && !is_file) {
			complain(r, argv[i], "no such option; see inisd serve --help");
			continue;
		}
		if (s && s->kind == SWITCH) {
			if (value)
				complain(r, name, "takes no value");
			set_switch(r, s, true);
			continue;
		}
		if (!value && i + 1 < argc)
			value = argv[++i];
		if (!value)
			complain(r, name, "needs a value");
		else if (is_file)
			file = value;
		else
			set_from_word(r, s, name, value);
	}
	return file;
}

static void set_from_json(struct reading *r, const struct setting *s, const json_t *value)
{
	if (s->kind == TEXT && json_is_string(value) && strlen(json_string_value(value)) == json_string_length(value))
		set_text(r, s, s->name, json_string_value(value));
	else if (s->kind == TEXT)
		complain(r, s->name, "must be a string");
	else if (s->kind == NUMBER && json_is_integer(value))
		set_number(r, s, s->name, json_integer_value(value));
	else if (s->kind == NUMBER)
		complain(r, s->name, "must be an integer between %" PRId64 " and %" PRId64, s->min, s->max);
	else if (json_is_boolean(value))
		set_switch(r, s, json_boolean_value(value));
	else
		complain(r, s->name, "must be true or false");
}

static void read_file(struct reading *r, const char *path)
{
	json_error_t error;
	json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	const char *key;
	json_t *value;

	r->source = path;
	if (!json_is_object(root)) {
		r->bad = true;
		if (root)
			fprintf(r->complaints, "inisd: %s: must hold one JSON object\n", path);
		else
			fprintf(r->complaints, "inisd: %s: line %d: %s\n", path, error.line, error.text);
	}
	json_object_foreach (root, key, value) {
		size_t i = 0;

		while (i < SETTINGS && strcmp(settings[i].name, key) != 0)
			i++;
		if (i < SETTINGS)
			set_from_json(r, &settings[i], value);
		else
			complain(r, key, "no such setting");
	}
	json_decref(root);
	r->source = NULL;
}

bool inisd_parse_listen(const char *text, struct sockaddr_storage *address, socklen_t *size)
{
	const char *colon = strrchr(text, ':');
	struct sockaddr_in *v4 = (struct sockaddr_in *)address;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)address;
	char host[64];
	char *end;
	unsigned long port;
	size_t n;

	if (!colon || colon == text || colon[1] < '0' || colon[1] > '9')
		return false;
	n = (size_t)(colon - text);
	port = strtoul(colon + 1, &end, 10);
	if (*end != '\0' || port > 65535 || n >= sizeof(host))
		return false;
	memset(address, 0, sizeof(*address));
	if (text[0] == '[' && text[n - 1] == ']') {
		snprintf(host, sizeof(host), "%.*s", (int)n - 2, text + 1);
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons((uint16_t)port);
		*size = sizeof(*v6);
		return inet_pton(AF_INET6, host, &v6->sin6_addr) == 1;
	}
	snprintf(host, sizeof(host), "%.*s", (int)n, text);
	v4->sin_family = AF_INET;
	v4->sin_port = htons((uint16_t)port);
	*size = sizeof(*v4);
	return inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, &v4->sin_addr) == 1;
}

static void set_defaults(struct inisd_config *c)
{
	*c = (struct inisd_config){
		.listen = "127.0.0.1:7070",
		.state_dir = "/var/lib/inis",
		.session_requests_max = 512,
		.connections_max = 4096,
		.pool = 4,
		.disk_mb = 10240,
		.pids_max = 1024,
		.logs_keep_hours = 24,
		.logs_max_mb = 1024,
		.uid_base = 0x20000000,
		.uid_ranges = 8192,
		.front_uid = 0x1fff0000,
		.log_level = "info",
	};
}

/* What only makes sense together. */
static void check(struct reading *r)
{
	struct inisd_config *c = r->config;
	enum inis_log_level level;

	if (!inisd_parse_listen(c->listen, &c->address, &c->address_size))
		complain(r, "listen", "\"%s\" is not ADDRESS:PORT with an IP address", c->listen);
	if (c->state_dir[0] != '/')
		complain(r, "state_dir", "\"%s\" must be an absolute path", c->state_dir);
	if (c->key_file[0] != '\0' && c->key_file[0] != '/')
		complain(r, "key_file", "\"%s\" must be an absolute path", c->key_file);
	if (!inis_log_level_parse(c->log_level, &level))
		complain(r, "log_level", "must be debug, info, warn or error");
	if (c->rate_burst > 0 && c->rate_limit == 0)
		complain(r, "rate_burst", "means nothing without rate_limit");
	if (c->uid_base % 65536 != 0 || c->uid_base + c->uid_ranges * 65536 > 0xffff0000)
		complain(r, "uid_base", "must be a multiple of 65536 with room for uid_ranges below 4294901760");
	if (c->front_uid >= c->uid_base && c->front_uid < c->uid_base + c->uid_ranges * 65536)
		complain(r, "front_uid", "must not be in the sessions' ranges");
	if (c->key_file[0] == '\0' &&
	    (size_t)snprintf(c->key_file, sizeof(c->key_file), "%s/key", c->state_dir) >= sizeof(c->key_file))
		complain(r, "state_dir", "is too long");
}

int inisd_config_read(struct inisd_config *c, int argc, char *const *argv, bool *help, FILE *complaints)
{
	struct reading r = {.config = c, .complaints = complaints};
	const char *file;

	*help = false;
	set_defaults(c);
	/* Twice: the file must be known first, but the flags win. */
	file = read_flags(&r, argc, argv, help);
	if (*help || r.bad)
		return *help ? 0 : -1;
	if (file) {
		read_file(&r, file);
		read_flags(&r, argc, argv, help);
	}
	check(&r);
	return r.bad ? -1 : 0;
}

void inisd_config_help(FILE *to)
{
	fputs("Options:\n", to);
	for (size_t i = 0; i < SETTINGS; i++) {
		char flag[24];
		char name[48];

		if (!settings[i].flag)
			continue;
		flag_name(&settings[i], flag, sizeof(flag));
		snprintf(name, sizeof(name), "%s %s", flag, settings[i].argument ? settings[i].argument : "");
		fprintf(to, "  %-26s %s\n", name, settings[i].help);
	}
	fputs("  --config FILE              a JSON object with any of the above and of these:\n", to);
	for (size_t i = 0; i < SETTINGS; i++) {
		if (!settings[i].flag)
			fprintf(to, "    %-24s %s\n", settings[i].name, settings[i].help);
	}
}
