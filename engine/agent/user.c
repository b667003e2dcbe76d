/* SPDX-License-Identifier: Apache-2.0
 *
 * user.c - the guest user.
 *
 * The guest's files are read anew only when they changed. They may be anything (the guest's root owns them): never
 * wait on them, never read more than a bounded part.
 */
#include "agent/user.h"

#include <fcntl.h>
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/cleanup.h"
#include "base/wall.h"

#define FILE_MAX (256 * 1024)

struct watched {
	const char *path;
	struct timespec mtime;
	ino_t ino;
	off_t size;
};

static struct watched passwd_file = {.path = "/etc/passwd", .size = -1};
static struct watched group_file = {.path = "/etc/group", .size = -1};
static struct guest_user user;

static bool changed(struct watched *w)
{
	struct stat st = {0};

	if (stat(w->path, &st) < 0)
		memset(&st, 0, sizeof(st));
	if (st.st_ino == w->ino && st.st_size == w->size && st.st_mtim.tv_sec == w->mtime.tv_sec &&
	    st.st_mtim.tv_nsec == w->mtime.tv_nsec)
		return false;
	w->ino = st.st_ino;
	w->size = st.st_size;
	w->mtime = st.st_mtim;
	return true;
}

static char *read_text(const char *path)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	char *text;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_MAX)
		return NULL;
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return NULL;
	n = read(fd, text, (size_t)st.st_size);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

/* Copies field number `index` of a line of colon-separated fields; false when there is none or it is too long. */
static bool field(const char *line, unsigned index, char *out, size_t size)
{
	size_t n;

	for (; index > 0; index--) {
		line += strcspn(line, ":\n");
		if (*line != ':')
			return false;
		line++;
	}
	n = strcspn(line, ":\n");
	if (n >= size)
		return false;
	memcpy(out, line, n);
	out[n] = '\0';
	return true;
}

static bool number_field(const char *line, unsigned index, unsigned *out)
{
	char text[16];
	char *end;
	unsigned long value;

	if (!field(line, index, text, sizeof(text)) || text[0] < '0' || text[0] > '9')
		return false;
	value = strtoul(text, &end, 10);
	if (*end != '\0' || value > 65534)
		return false;
	*out = (unsigned)value;
	return true;
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : line;
}

void user_parse_passwd(const char *text, struct guest_user *u)
{
	for (const char *line = text; *line; line = next_line(line)) {
		unsigned uid, gid;

		if (strncmp(line, USER_NAME ":", sizeof(USER_NAME)) != 0)
			continue;
		if (number_field(line, 2, &uid) && number_field(line, 3, &gid)) {
			u->uid = uid;
			u->gid = gid;
		}
		field(line, 5, u->home, sizeof(u->home));
		field(line, 6, u->shell, sizeof(u->shell));
		return;
	}
}

/* Whether the member list of a group line names the user. */
static bool is_member(const char *line)
{
	char members[1024];
	char *rest = members;
	const char *name;

	if (!field(line, 3, members, sizeof(members)))
		return false;
	while ((name = strsep(&rest, ",")) != NULL) {
		if (strcmp(name, USER_NAME) == 0)
			return true;
	}
	return false;
}

void user_parse_group(const char *text, struct guest_user *u)
{
	for (const char *line = text; *line; line = next_line(line)) {
		unsigned gid;

		if (u->n_groups < USER_GROUPS_MAX && is_member(line) && number_field(line, 2, &gid) && gid != u->gid)
			u->groups[u->n_groups++] = gid;
	}
}

static bool is_directory(const char *path)
{
	struct stat st;

	return path[0] == '/' && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void choose_home(struct guest_user *u)
{
	if (is_directory(u->home))
		return;
	snprintf(u->home, sizeof(u->home), "%s",
		 is_directory("/home/" USER_NAME) ? "/home/" USER_NAME : AGENT_WORKSPACE);
}

static void choose_shell(struct guest_user *u)
{
	if (u->shell[0] == '/' && access(u->shell, X_OK) == 0)
		return;
	snprintf(u->shell, sizeof(u->shell), "%s", access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh");
}

const struct guest_user *guest_user(void)
{
	bool again = changed(&passwd_file);

	again |= changed(&group_file);
	if (again) {
		cleanup_free char *passwd = read_text(passwd_file.path);
		cleanup_free char *group = read_text(group_file.path);

		user = (struct guest_user){.uid = USER_ID, .gid = USER_ID};
		user_parse_passwd(passwd ? passwd : "", &user);
		user.groups[user.n_groups++] = user.gid;
		user_parse_group(group ? group : "", &user);
		choose_shell(&user);
		/* The agent's own rights come from uid 0 and capabilities; its groups only count as the guest. */
		setgroups(user.n_groups, user.groups);
	}
	choose_home(&user);
	return &user;
}

void guest_rights_enter(void)
{
	const struct guest_user *u = guest_user();

	if (!WALL("files.rights"))
		return;
	setfsgid(u->gid);
	setfsuid(u->uid);
}

void guest_rights_leave(void)
{
	setfsuid(0);
	setfsgid(0);
}
