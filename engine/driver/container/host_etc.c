/* SPDX-License-Identifier: Apache-2.0
 *
 * host_etc.c - a fresh /etc for the template "host".
 *
 * Accounts, sudo and name service are written here. From the host come only the files that its /usr cannot do
 * without, from a list, and of these only what everybody may read.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "driver/container/internal.h"
#include "os/path.h"

#define DEPTH_MAX 8
#define FILE_MAX  (16 << 20)
#define SHADOW    42

/* Patterns for names in the host's /etc. */
static const char *const from_host[] = {
	"ImageMagick-*",
	"R",
	"alternatives",
	"ca-certificates",
	"ca-certificates.conf",
	"debian_version",
	"fonts",
	"ghostscript",
	"glvnd",
	"gai.conf",
	"inputrc",
	"java-*",
	"ld.so.cache",
	"ld.so.conf",
	"ld.so.conf.d",
	"locale.alias",
	"locale.conf",
	"localtime",
	"login.defs",
	"lsb-release",
	"magic",
	"magic.mime",
	"mailcap",
	"mime.types",
	"networks",
	"os-release",
	"perl",
	"protocols",
	"python3",
	"python3.*",
	"rpc",
	"services",
	"shells",
	"terminfo",
	"texmf",
	"timezone",
	"vim",
};

struct text_file {
	const char *name;
	mode_t mode;
	gid_t group;
	const char *text;
};

static const struct text_file own[] = {
	{"passwd", 0644, 0,
	 "root:x:0:0:root:/root:/bin/bash\n"
	 "daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
	 "bin:x:2:2:bin:/bin:/usr/sbin/nologin\n"
	 "sys:x:3:3:sys:/dev:/usr/sbin/nologin\n"
	 "mail:x:8:8:mail:/var/mail:/usr/sbin/nologin\n"
	 "www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin\n"
	 "sandbox:x:999:999:sandbox:/home/sandbox:/bin/bash\n"
	 "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
	{"group", 0644, 0,
	 "root:x:0:\ndaemon:x:1:\nbin:x:2:\nsys:x:3:\nadm:x:4:\ntty:x:5:\ndisk:x:6:\nmail:x:8:\nsudo:x:27:sandbox\n"
	 "www-data:x:33:\nshadow:x:42:\nutmp:x:43:\nstaff:x:50:\nusers:x:100:\nsandbox:x:999:\nnogroup:x:65534:\n"},
	{"shadow", 0640, SHADOW,
	 "root:*:19000:0:99999:7:::\ndaemon:*:19000:0:99999:7:::\nbin:*:19000:0:99999:7:::\n"
	 "sys:*:19000:0:99999:7:::\nmail:*:19000:0:99999:7:::\nwww-data:*:19000:0:99999:7:::\n"
	 "sandbox:*:19000:0:99999:7:::\nnobody:*:19000:0:99999:7:::\n"},
	{"gshadow", 0640, SHADOW, "root:*::\nsudo:*::sandbox\nshadow:*::\nsandbox:*::\nnogroup:*::\n"},
	{"sudoers", 0440, 0,
	 "Defaults env_reset\n"
	 "Defaults !fqdn\n"
	 "Defaults secure_path=\"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\"\n"
	 "root ALL=(ALL:ALL) ALL\n"
	 "@includedir /etc/sudoers.d\n"},
	{"sudoers.d/sandbox", 0440, 0, "sandbox ALL=(ALL:ALL) NOPASSWD: ALL\n"},
	{"pam.d/sudo", 0644, 0,
	 "auth required pam_deny.so\naccount required pam_permit.so\nsession required pam_permit.so\n"},
	{"pam.d/su", 0644, 0,
	 "auth sufficient pam_rootok.so\nauth required pam_deny.so\naccount required pam_permit.so\n"
	 "session required pam_permit.so\n"},
	{"pam.d/other", 0644, 0,
	 "auth required pam_deny.so\naccount required pam_deny.so\npassword required pam_deny.so\n"
	 "session required pam_deny.so\n"},
	{"nsswitch.conf", 0644, 0,
	 "passwd: files\ngroup: files\nshadow: files\ngshadow: files\nhosts: files dns\nnetworks: files\n"
	 "protocols: files\nservices: files\nethers: files\nrpc: files\n"},
	{"resolv.conf", 0644, 0, "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"},
	{"hosts", 0644, 0, "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n"},
	{"hostname", 0644, 0, "inis\n"},
	{"machine-id", 0444, 0, ""},
	{"fstab", 0644, 0, ""},
	{"environment", 0644, 0, ""},
	{"profile", 0644, 0,
	 "# Login shells keep the PATH they were given.\n"
	 ": \"${PATH:=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}\"\n"
	 "export PATH\n"
	 "if [ -n \"${BASH_VERSION-}\" ] && [ -r /etc/bash.bashrc ]; then . /etc/bash.bashrc; fi\n"},
	{"bash.bashrc", 0644, 0,
	 "[ -n \"${PS1-}\" ] || return 0\n"
	 "shopt -s checkwinsize\n"
	 "PS1='\\u@\\h:\\w\\$ '\n"},
};

static int write_own(int etc, struct inis_error *err)
{
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		if (inis_create_at(etc, own[i].name, own[i].text, own[i].mode, err) < 0)
			return -1;
		if (own[i].group && fchownat(etc, own[i].name, 0, own[i].group, 0) < 0)
			return inis_fail_errno(err, "group of %s", own[i].name);
	}
	return symlinkat("/proc/mounts", etc, "mtab") < 0 ? inis_fail_errno(err, "link mtab") : 0;
}

static int copy_file(int from, int to, const char *name, mode_t mode, struct inis_error *err)
{
	cleanup_close int in = openat(from, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	cleanup_close int out = -1;

	if (in < 0)
		return inis_fail_errno(err, "open /etc/…/%s", name);
	out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (out < 0)
		return inis_fail_errno(err, "create %s", name);
	if (inis_copy_sparse(in, out, err) < 0)
		return -1;
	return fchmod(out, mode & 0755) < 0 ? inis_fail_errno(err, "mode of %s", name) : 0;
}

static int copy_link(int from, int to, const char *name, struct inis_error *err)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from, name, target, sizeof(target) - 1);

	if (n < 0)
		return inis_fail_errno(err, "read link %s", name);
	target[n] = '\0';
	return symlinkat(target, to, name) < 0 ? inis_fail_errno(err, "link %s", name) : 0;
}

static int copy_any(int from, int to, const char *name, int depth, struct inis_error *err);

static int copy_dir(int from, int to, const char *name, int depth, struct inis_error *err)
{
	cleanup_close int sub = inis_make_dir_at(to, name, 0755, err);
	cleanup_dir DIR *entries = NULL;
	struct dirent *e;
	int own_dir = openat(from, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (sub < 0 || own_dir < 0 || !(entries = fdopendir(own_dir)))
		return inis_fail_errno(err, "copy /etc/…/%s", name);
	while ((e = readdir(entries))) {
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
		    copy_any(own_dir, sub, e->d_name, depth + 1, err) < 0)
			return -1;
	}
	return 0;
}

/* What is not for everybody's eyes, special, or huge is left out. */
static int copy_any(int from, int to, const char *name, int depth, struct inis_error *err)
{
	struct stat st;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || depth > DEPTH_MAX)
		return 0;
	if (S_ISLNK(st.st_mode))
		return copy_link(from, to, name, err);
	if (S_ISREG(st.st_mode) && (st.st_mode & S_IROTH) && st.st_size <= FILE_MAX)
		return copy_file(from, to, name, st.st_mode, err);
	if (S_ISDIR(st.st_mode) && (st.st_mode & S_IROTH) && (st.st_mode & S_IXOTH))
		return copy_dir(from, to, name, depth, err);
	return 0;
}

static bool wanted(const char *name)
{
	for (size_t i = 0; i < sizeof(from_host) / sizeof(from_host[0]); i++) {
		if (fnmatch(from_host[i], name, 0) == 0)
			return true;
	}
	return false;
}

static int copy_wanted(int host, int etc, struct inis_error *err)
{
	cleanup_dir DIR *entries = NULL;
	struct dirent *e;
	int own_dir = openat(host, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (own_dir < 0 || !(entries = fdopendir(own_dir)))
		return inis_fail_errno(err, "list /etc");
	while ((e = readdir(entries))) {
		if (wanted(e->d_name) && copy_any(host, etc, e->d_name, 0, err) < 0)
			return -1;
	}
	return 0;
}

/* Certificates everybody trusts, without the directory of private keys beside them. */
static int copy_ssl(int host, int etc, struct inis_error *err)
{
	cleanup_close int from = openat(host, "ssl", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_close int to = -1;

	if (from < 0)
		return 0;
	to = inis_make_dir_at(etc, "ssl", 0755, err);
	if (to < 0 || copy_any(from, to, "certs", 1, err) < 0)
		return -1;
	return copy_any(from, to, "openssl.cnf", 1, err);
}

int host_etc_build(int etc, struct inis_error *err)
{
	cleanup_close int host = inis_open_dir("/etc", err);
	cleanup_close int sudoers = host < 0 ? -1 : inis_make_dir_at(etc, "sudoers.d", 0750, err);
	cleanup_close int pam = sudoers < 0 ? -1 : inis_make_dir_at(etc, "pam.d", 0755, err);

	if (pam < 0 || write_own(etc, err) < 0 || copy_wanted(host, etc, err) < 0)
		return -1;
	return copy_ssl(host, etc, err);
}
