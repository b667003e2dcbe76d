/* SPDX-License-Identifier: Apache-2.0
 *
 * gen.c - host tool: turns the rules into the two filters as C arrays.
 *
 * Run at build time; prints a header with SECCOMP_GUEST (for every process the agent starts) and SECCOMP_BASE (for
 * the agent itself, which also runs under it in all its children). Unknown calls answer ENOSYS, so that libraries
 * fall back; another architecture, x32 included, is killed.
 */
#include <errno.h>
#include <linux/filter.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/seccomp/rules.h"

static void check(int rc, const char *what)
{
	if (rc == 0)
		return;
	fprintf(stderr, "seccomp rule %s: error %d\n", what, -rc);
	exit(1);
}

static void add(scmp_filter_ctx ctx, uint32_t action, const char *name)
{
	int nr = seccomp_syscall_resolve_name(name);

	/* A call this libseccomp does not know, or this machine does not have, stays at the default. */
	if (nr == __NR_SCMP_ERROR || nr < 0)
		return;
	check(seccomp_rule_add(ctx, action, nr, 0), name);
}

static void add_all(scmp_filter_ctx ctx, uint32_t action, const char *const *names)
{
	for (; *names; names++)
		add(ctx, action, *names);
}

static void add_sockets(scmp_filter_ctx ctx)
{
	static const int inet_protocols[] = {0, 1 /* ICMP echo */, 6, 17, 58 /* ICMPv6 echo */};
	static const int inet[] = {AF_INET, AF_INET6};

	for (unsigned f = 0; f < 2; f++) {
		for (unsigned p = 0; p < sizeof(inet_protocols) / sizeof(inet_protocols[0]); p++)
			check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(socket), 2,
					       SCMP_A0_32(SCMP_CMP_EQ, inet[f]),
					       SCMP_A2_32(SCMP_CMP_EQ, inet_protocols[p])),
			      "socket inet");
	}
	check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1, SCMP_A0_32(SCMP_CMP_EQ, AF_UNIX)),
	      "socket unix");
	check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(socket), 2, SCMP_A0_32(SCMP_CMP_EQ, AF_NETLINK),
			       SCMP_A2_32(SCMP_CMP_EQ, 0)),
	      "socket netlink route");
	/* What libraries ask for and do without: the audit socket of sudo and PAM. */
	check(seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPROTONOSUPPORT), SCMP_SYS(socket), 2,
			       SCMP_A0_32(SCMP_CMP_EQ, AF_NETLINK), SCMP_A2_32(SCMP_CMP_GT, 0)),
	      "socket netlink");
	for (unsigned family = 0; family < AF_NETLINK; family++) {
		if (family != AF_UNIX && family != AF_INET && family != AF_INET6)
			check(seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1,
					       SCMP_A0_32(SCMP_CMP_EQ, family)),
			      "socket family");
	}
	check(seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1,
			       SCMP_A0_32(SCMP_CMP_GT, AF_NETLINK)),
	      "socket family");
}

static void add_by_argument(scmp_filter_ctx ctx)
{
	for (unsigned i = 0; i < sizeof(PERSONALITIES) / sizeof(PERSONALITIES[0]); i++)
		check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(personality), 1,
				       SCMP_A0_32(SCMP_CMP_EQ, PERSONALITIES[i])),
		      "personality");
	/* Typing into a terminal on behalf of whoever holds it. */
	check(seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1, SCMP_A1_32(SCMP_CMP_EQ, TIOCSTI_)),
	      "ioctl");
	check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1, SCMP_A1_32(SCMP_CMP_LT, TIOCSTI_)), "ioctl");
	check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1, SCMP_A1_32(SCMP_CMP_GT, TIOCSTI_)), "ioctl");
	/* clone() shows its flags, clone3() hides them behind a pointer: hence ENOSYS for the latter. */
	check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, NEW_NAMESPACES, 0)),
	      "clone");
	for (unsigned bit = 0; bit < 32; bit++) {
		if (NEW_NAMESPACES & (1U << bit))
			check(seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
					       SCMP_A0(SCMP_CMP_MASKED_EQ, 1U << bit, 1U << bit)),
			      "clone with namespaces");
	}
	add_sockets(ctx);
}

static scmp_filter_ctx build(bool base)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));

	if (!ctx)
		check(-ENOMEM, "init");
	check(seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), "bad architecture");
	check(seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2), "binary tree");
	add_all(ctx, SCMP_ACT_ALLOW, ALLOWED);
	add_by_argument(ctx);
	if (base)
		add_all(ctx, SCMP_ACT_ALLOW, AGENT_ONLY);
	else
		add_all(ctx, SCMP_ACT_ERRNO(EPERM), AGENT_ONLY_REFUSED);
	add_all(ctx, SCMP_ACT_ERRNO(EPERM), REFUSED);
	return ctx;
}

static void print(const char *name, bool base)
{
	FILE *file = tmpfile();
	struct sock_filter f;
	scmp_filter_ctx ctx = build(base);

	if (!file)
		check(-errno, "temporary file");
	check(seccomp_export_bpf(ctx, fileno(file)), "export");
	seccomp_release(ctx);
	rewind(file);
	printf("static const struct sock_filter %s[] = {\n", name);
	while (fread(&f, sizeof(f), 1, file) == 1)
		printf("\t{0x%x, %u, %u, 0x%x},\n", f.code, f.jt, f.jf, f.k);
	printf("};\n");
	fclose(file);
}

int main(void)
{
	printf("/* Generated by engine/agent/seccomp/gen.c. */\n#include <linux/filter.h>\n");
	print("SECCOMP_GUEST", false);
	print("SECCOMP_BASE", true);
	return ferror(stdout) != 0 || fflush(stdout) != 0;
}
