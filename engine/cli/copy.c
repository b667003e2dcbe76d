/* SPDX-License-Identifier: Apache-2.0
 *
 * copy.c - what both directions of a copy have in common.
 */
#include "cli/copy.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/exec_stream.h"
#include "cli/output.h"

#define PROGRAM    "/run/inis/archive"
#define TIMEOUT_MS 3600000
#define NOTES_MAX  65536
#define QUIET_MS   500 /* a copy that is over sooner shows no progress */
#define ARGUMENTS  64

/* ---- what is told ---- */

/* A session's words are not trusted with our terminal. */
static void on_note(void *ctx, bool failed, const char *text)
{
	struct copy *c = ctx;
	json_t *json = json_string(text);
	char *plain = strdup(text);

	pthread_mutex_lock(&c->telling);
	json_array_append_new(failed ? c->failed : c->left_out, json ? json : json_string("a name that is not UTF-8"));
	if (plain && !cli_json && (failed || !cli_quiet)) {
		if (c->showed)
			fputs("\r\033[K", stderr);
		c->showed = false;
		fprintf(stderr, "inis: %s\n", cli_plain(plain));
	}
	pthread_mutex_unlock(&c->telling);
	free(plain);
}

void copy_init(struct copy *c)
{
	pthread_mutex_init(&c->telling, NULL);
	c->remote_error = (struct inis_error)INIS_ERROR_INIT;
	c->report = (struct inis_tree_report){.note = on_note, .ctx = c};
	c->left_out = json_array();
	c->failed = json_array();
	c->notes = (struct inis_buf)INIS_BUF_INIT(NOTES_MAX);
	c->began = inis_now_ms();
}

void copy_free(struct copy *c)
{
	if (c->showed)
		fputs("\r\033[K", stderr);
	json_decref(c->left_out);
	json_decref(c->failed);
	pthread_mutex_destroy(&c->telling);
	inis_buf_free(&c->notes);
}

/* "CODE TEXT" */
static void take_remote_error(struct copy *c, char *text)
{
	char *space = strchr(text, ' ');

	if (!space)
		return;
	*space = '\0';
	inis_fail(&c->remote_error, cli_code_named(text), "%s", cli_plain(space + 1));
}

static void take_note(struct copy *c, char *record)
{
	switch (record[0]) {
	case '\0':
		return;
	case 'e':
		take_remote_error(c, record + 1);
		return;
	case 's':
		c->report.left_out++;
		on_note(c, false, record + 1);
		return;
	default:
		c->report.failed++;
		on_note(c, true, record + 1);
	}
}

/* Records of a letter and a text, ended by NUL. */
void copy_take_notes(struct copy *c, const uint8_t *data, size_t n)
{
	uint8_t *end;

	inis_buf_append(&c->notes, data, n);
	if (inis_buf_failed(&c->notes))
		inis_buf_reset(&c->notes);
	while (c->notes.len > 0 && (end = memchr(c->notes.data, '\0', c->notes.len))) {
		take_note(c, (char *)c->notes.data);
		inis_buf_consume(&c->notes, (size_t)(end - c->notes.data) + 1);
	}
}

static void tick(void *ctx)
{
	struct copy *c = ctx;
	inis_ms elapsed = inis_now_ms() - c->began;
	double mib = (double)c->carried / (1024 * 1024);

	if (elapsed < QUIET_MS || cli_quiet || cli_json || !isatty(2))
		return;
	fprintf(stderr, "\r\033[K%.1f MiB, %.1f MiB/s", mib, mib * 1000 / (double)elapsed);
	fflush(stderr);
	c->showed = true;
}

/* ---- the program in the session ---- */

int copy_run(struct copy *c, const char *const args[], int fd,
	     int (*output)(void *ctx, int fd, const uint8_t *data, size_t n), void *ctx, int *exit_code,
	     struct inis_error *err)
{
	char *argv[ARGUMENTS + 2] = {(char *)(uintptr_t)PROGRAM};
	struct cli_exec exec = {.argv = argv,
				.timeout_ms = TIMEOUT_MS,
				.input_fd = fd,
				.interrupts = c->interrupts,
				.output = output,
				.tick = tick,
				.ctx = ctx};
	struct cli_exec_end end;
	size_t n = 1;
	int rc;

	for (; args[n - 1] && n <= ARGUMENTS; n++)
		argv[n] = (char *)(uintptr_t)args[n - 1];
	if (args[n - 1])
		return inis_fail(err, INIS_BAD_REQUEST, "too many patterns to exclude");
	if (cli_client_require(c->client, "session.archive", err) < 0)
		return -1;
	rc = cli_exec_stream(c->client, c->session, &exec, &end, err);
	json_decref(end.event);
	*exit_code = end.exit_code;
	if (rc == CLI_EXEC_ENDED && end.timed_out)
		return inis_fail(err, INIS_UNAVAILABLE, "the copy took longer than %d minutes", TIMEOUT_MS / 60000);
	return rc;
}

int copy_check_remote(const struct copy *c, int exit_code, struct inis_error *err)
{
	if (c->remote_error.code != INIS_OK)
		return inis_fail_copy(err, &c->remote_error);
	if (exit_code == 0 || c->report.failed > 0)
		return 0;
	return inis_fail(err, INIS_INTERNAL, "the session's side of the copy has ended with %d", exit_code);
}

bool copy_is_contents(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *last = slash ? slash + 1 : path;

	return strcmp(last, ".") == 0 || strcmp(last, "..") == 0 || (slash && strspn(path, "/") == strlen(path));
}
