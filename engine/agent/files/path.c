/* SPDX-License-Identifier: Apache-2.0
 *
 * path.c - path resolution below the workspace.
 *
 * The kernel resolves a relative path beneath the workspace's descriptor and refuses with EXDEV what would leave it.
 * It refuses every absolute link, though. Those that point into the workspace are put into the path as text and the
 * kernel is asked again: it alone decides, the rewriting only proposes.
 */
#include "agent/files/path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/files/failure.h"
#include "base/cleanup.h"
#include "base/wall.h"

#define LINKS_MAX 40
#define TRIES_MAX 64 /* the guest can rename for ever; the agent must not try for ever */

const char *files_root = AGENT_WORKSPACE;

void place_close(struct place *p)
{
	close_fd(&p->dir);
}

static int beneath(int root, const char *path, uint64_t flags)
{
	struct open_how how = {.flags = flags | O_CLOEXEC,
			       .resolve = WALL("files.beneath") ? RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS : 0};
	int fd = -1;

	for (int i = 0; i < TRIES_MAX && fd < 0; i++) {
		fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
		if (fd < 0 && errno != EAGAIN && errno != EINTR)
			break;
	}
	return fd;
}

static int open_root(void)
{
	return open(files_root, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* What follows the workspace's own path in an absolute one, or NULL when it is not below it. */
static const char *below_root(const char *path)
{
	const char *root = AGENT_WORKSPACE;
	size_t n = strlen(root + 1);

	while (path[0] == '/' || (path[0] == '.' && path[1] == '/'))
		path++;
	if (strncmp(path, root + 1, n) != 0 || (path[n] != '/' && path[n] != '\0'))
		return NULL;
	path += n;
	while (*path == '/')
		path++;
	return path;
}

/* "a/b/." and "a/b/./" name a/b. */
static void strip_dot(char *path)
{
	size_t n = strlen(path);

	while (n > 1 && (path[n - 1] == '/' || (path[n - 1] == '.' && path[n - 2] == '/')))
		path[--n] = '\0';
}

int path_parse(struct inis_str path, char out[static FILE_PATH_MAX], struct inis_error *err)
{
	const char *rest = out;

	if (path.len >= FILE_PATH_MAX)
		return file_fail(err, ENAMETOOLONG, path);
	if (path.len == 0)
		return inis_fail_field(err, "path", "must not be empty");
	memcpy(out, path.s, path.len);
	out[path.len] = '\0';
	if (out[0] == '/')
		rest = below_root(out);
	if (!rest)
		return file_fail(err, EXDEV, path);
	if (*rest == '\0')
		rest = ".";
	memmove(out, rest, strlen(rest) + 1);
	strip_dot(out);
	return 0;
}

/*
 * Puts link text in place of the component that ends at `end` and began at `start`. false: it leads out, or is too
 * long.
 */
static bool splice_link(char path[static FILE_PATH_MAX], size_t start, size_t end, const char *target)
{
	char old[FILE_PATH_MAX];
	bool absolute = target[0] == '/';
	int n;

	memcpy(old, path, FILE_PATH_MAX);
	if (absolute) {
		target = below_root(target);
		if (!target)
			return false;
		if (*target == '\0')
			target = ".";
	}
	n = snprintf(path, FILE_PATH_MAX, "%.*s%s%s", absolute ? 0 : (int)start, old, target, old + end);
	return n >= 0 && n < FILE_PATH_MAX;
}

/* The text of the link at root/path (its last component); false when it is no link. */
static bool link_text(int root, const char *path, char out[static FILE_PATH_MAX])
{
	cleanup_close int fd = beneath(root, path, O_PATH | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : readlinkat(fd, "", out, FILE_PATH_MAX - 1);

	if (n <= 0)
		return false;
	out[n] = '\0';
	return true;
}

/* Replaces the first absolute link on the way. false: there is none, or it leads out. */
static bool rewrite_absolute_link(int root, char path[static FILE_PATH_MAX])
{
	char target[FILE_PATH_MAX];
	size_t start = 0;

	while (path[start]) {
		size_t end = start + strcspn(path + start, "/");
		char next = path[end];
		bool is_link;

		path[end] = '\0';
		is_link = end > start && link_text(root, path, target);
		path[end] = next;
		if (is_link && target[0] == '/')
			return splice_link(path, start, end, target);
		start = end + strspn(path + end, "/");
	}
	return false;
}

/* Opens path below root; rewrites it where absolute links are on the way. -1 with errno set. */
static int resolve(int root, char path[static FILE_PATH_MAX], uint64_t flags)
{
	for (int links = 0; links < LINKS_MAX; links++) {
		int fd = beneath(root, path, flags);

		if (fd >= 0 || errno != EXDEV)
			return fd;
		if (!rewrite_absolute_link(root, path)) {
			errno = EXDEV;
			return -1;
		}
	}
	errno = ELOOP;
	return -1;
}

int path_open(struct inis_str path, uint64_t flags, struct inis_error *err)
{
	char text[FILE_PATH_MAX];
	cleanup_close int root = open_root();
	int fd;

	if (path_parse(path, text, err) < 0)
		return -1;
	fd = root < 0 ? -1 : resolve(root, text, flags);
	if (fd < 0)
		file_fail(err, errno, path);
	return fd;
}

/* Opens the directory dir_path, making what is missing of it. -1 with errno set. */
static int make_directories(int root, const char *dir_path)
{
	char path[FILE_PATH_MAX];
	cleanup_close int at = fcntl(root, F_DUPFD_CLOEXEC, 3);
	size_t end = 0;

	while (at >= 0 && dir_path[end]) {
		size_t start = end + strspn(dir_path + end, "/");
		char name[256];
		int next;

		end = start + strcspn(dir_path + start, "/");
		if (end == start)
			break;
		if (end - start >= sizeof(name)) {
			errno = ENAMETOOLONG;
			return -1;
		}
		snprintf(name, sizeof(name), "%.*s", (int)(end - start), dir_path + start);
		snprintf(path, sizeof(path), "%.*s", (int)end, dir_path);
		next = resolve(root, path, O_PATH | O_DIRECTORY);
		if (next < 0 && errno == ENOENT && mkdirat(at, name, 0755) == 0)
			next = resolve(root, path, O_PATH | O_DIRECTORY);
		close_fd(&at);
		at = next;
	}
	return take_fd(&at);
}

/* Splits "a/b/c" into "a/b" ("." when there is none) and "c"; "" as name for the workspace itself. */
static int split(const char *path, char dir[static FILE_PATH_MAX], char name[static 256])
{
	size_t end = strlen(path), start;

	while (end > 0 && path[end - 1] == '/')
		end--;
	start = end;
	while (start > 0 && path[start - 1] != '/')
		start--;
	if (end - start > 255)
		return ENAMETOOLONG;
	memcpy(name, path + start, end - start);
	name[end - start] = '\0';
	snprintf(dir, FILE_PATH_MAX, "%.*s", (int)start, path);
	if (dir[0] == '\0')
		strcpy(dir, ".");
	return 0;
}

/* "." and ".." as the last component: only the kernel knows what they stand for. */
static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool same_file(int a, int b)
{
	struct stat sa, sb;

	return fstat(a, &sa) == 0 && fstat(b, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/* The path ends in dots: fine if that is the workspace itself, else nothing that could be named. */
static int place_of_dots(int root, char path[static FILE_PATH_MAX], struct place *p)
{
	cleanup_close int fd = resolve(root, path, O_PATH | O_DIRECTORY);

	if (fd < 0)
		return errno;
	if (!same_file(fd, root))
		return EINVAL;
	p->name[0] = '\0';
	p->dir = take_fd(&fd);
	return 0;
}

/* One try; *again: path was rewritten because its last component is a link. Returns 0 or an errno. */
static int try_place(int root, char path[static FILE_PATH_MAX], bool make_parents, bool follow, struct place *p,
		     bool *again)
{
	char dir[FILE_PATH_MAX], target[FILE_PATH_MAX];
	int error = split(path, dir, p->name);
	ssize_t n;

	*again = false;
	if (error)
		return error;
	if (is_dots(p->name))
		return place_of_dots(root, path, p);
	p->dir = make_parents ? make_directories(root, dir) : resolve(root, dir, O_PATH | O_DIRECTORY);
	if (p->dir < 0)
		return errno;
	n = follow ? readlinkat(p->dir, p->name, target, sizeof(target) - 1) : -1;
	if (n <= 0)
		return 0;
	target[n] = '\0';
	place_close(p);
	if (snprintf(path, FILE_PATH_MAX, "%s/", dir) >= FILE_PATH_MAX)
		return ENAMETOOLONG;
	if (!splice_link(path, strlen(path), strlen(path), target))
		return EXDEV;
	*again = true;
	return 0;
}

int path_place(struct inis_str path, bool make_parents, bool follow, struct place *p, struct inis_error *err)
{
	char text[FILE_PATH_MAX];
	cleanup_close int root = open_root();
	bool again = true;
	int error = root < 0 ? errno : 0;

	p->dir = -1;
	if (path_parse(path, text, err) < 0)
		return -1;
	for (int links = 0; again && error == 0; links++)
		error = links < LINKS_MAX ? try_place(root, text, make_parents, follow, p, &again) : ELOOP;
	if (error) {
		place_close(p);
		return file_fail(err, error, path);
	}
	return 0;
}
