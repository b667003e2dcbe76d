/* SPDX-License-Identifier: Apache-2.0
 *
 * probe_calls.c - system calls by which a container could be left, each with arguments that do nothing on success.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/if_alg.h>
#include <linux/io_uring.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <linux/reboot.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

/* <sys/mount.h> and <linux/mount.h> exclude each other. */
#define BIND    4096UL
#define REMOUNT 32UL

/* 0 or errno of a call that answers -1 for failure. */
static int answer(long rc)
{
	return rc < 0 ? errno : 0;
}

static int mount_tmpfs(void)
{
	return answer(syscall(SYS_mount, "none", "/mnt", "tmpfs", 0UL, NULL));
}

static int mount_proc(void)
{
	return answer(syscall(SYS_mount, "none", "/mnt", "proc", 0UL, NULL));
}

static int mount_cgroup(void)
{
	return answer(syscall(SYS_mount, "none", "/mnt", "cgroup2", 0UL, NULL));
}

static int mount_bind(void)
{
	return answer(syscall(SYS_mount, "/", "/mnt", NULL, BIND, NULL));
}

static int remount(void)
{
	return answer(syscall(SYS_mount, NULL, "/dev", NULL, BIND | REMOUNT, NULL));
}

static int unmount(void)
{
	return answer(syscall(SYS_umount2, "/dev/mqueue", 2));
}

static int pivot(void)
{
	return answer(syscall(SYS_pivot_root, "/workspace", "/workspace"));
}

static int fsopen_tmpfs(void)
{
	return answer(syscall(SYS_fsopen, "tmpfs", 0));
}

static int open_tree_root(void)
{
	return answer(syscall(SYS_open_tree, AT_FDCWD, "/", 1));
}

static int move_a_mount(void)
{
	return answer(syscall(SYS_move_mount, AT_FDCWD, "/dev/shm", AT_FDCWD, "/mnt", 0));
}

static int set_mount_attributes(void)
{
	uint64_t attr[4] = {0};

	return answer(syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, attr, sizeof(attr)));
}

static int unshare_user(void)
{
	return answer(syscall(SYS_unshare, CLONE_NEWUSER));
}

static int unshare_mounts(void)
{
	return answer(syscall(SYS_unshare, CLONE_NEWNS));
}

static int unshare_net(void)
{
	return answer(syscall(SYS_unshare, CLONE_NEWNET));
}

static int clone_with(unsigned long flags)
{
	long pid = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid((pid_t)pid, NULL, 0);
	return answer(pid);
}

static int clone_user(void)
{
	return clone_with(CLONE_NEWUSER);
}

static int clone_net(void)
{
	return clone_with(CLONE_NEWNET);
}

static int clone_pid(void)
{
	return clone_with(CLONE_NEWPID);
}

static int clone3_plain(void)
{
	struct clone_args args = {.exit_signal = SIGCHLD};
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid((pid_t)pid, NULL, 0);
	return answer(pid);
}

static int enter_namespace(void)
{
	int fd = open("/proc/self/ns/uts", O_RDONLY);

	return fd < 0 ? errno : answer(syscall(SYS_setns, fd, 0));
}

static int bpf_map(void)
{
	union bpf_attr attr = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};

	return answer(syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)));
}

static int perf_event(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .exclude_kernel = 1};

	return answer(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0UL));
}

static int user_fault(void)
{
	return answer(syscall(SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY */));
}

static int io_uring(void)
{
	struct io_uring_params params = {0};

	return answer(syscall(SYS_io_uring_setup, 1, &params));
}

static int kexec(void)
{
	return answer(syscall(SYS_kexec_load, 0UL, 0UL, NULL, 0UL));
}

static int module_from_memory(void)
{
	return answer(syscall(SYS_init_module, "", 0UL, ""));
}

static int module_from_file(void)
{
	return answer(syscall(SYS_finit_module, 0, "", 0));
}

static int delete_module(void)
{
	return answer(syscall(SYS_delete_module, "no-such-module", 0));
}

static int io_privilege(void)
{
	return answer(syscall(SYS_iopl, 3));
}

static int io_ports(void)
{
	return answer(syscall(SYS_ioperm, 0x80UL, 1UL, 1));
}

static int swap_on(void)
{
	return answer(syscall(SYS_swapon, "/workspace", 0));
}

static int reboot_machine(void)
{
	/* Only says what ctrl-alt-del does. */
	return answer(syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_CAD_OFF, NULL));
}

static int accounting(void)
{
	return answer(syscall(SYS_acct, "/no/such/file"));
}

static int quota(void)
{
	return answer(syscall(SYS_quotactl, 0x80000100U /* Q_SYNC */, NULL, 0, NULL));
}

static int name_to_handle(void)
{
	struct {
		unsigned bytes;
		int type;
		unsigned char handle[128];
	} h = {.bytes = 128};
	int mount;

	return answer(syscall(SYS_name_to_handle_at, AT_FDCWD, "/workspace", &h, &mount, 0));
}

static int open_by_handle(void)
{
	struct {
		unsigned bytes;
		int type;
		unsigned char handle[8];
	} h = {.bytes = 8, .type = 1};

	return answer(syscall(SYS_open_by_handle_at, AT_FDCWD, &h, O_RDONLY));
}

static int key_ring(void)
{
	return answer(syscall(SYS_keyctl, 0 /* GET_KEYRING_ID */, -3, 0));
}

static int add_a_key(void)
{
	return answer(syscall(SYS_add_key, "user", "inis-probe", "x", 1UL, -2));
}

static int request_a_key(void)
{
	return answer(syscall(SYS_request_key, "user", "inis-probe", NULL, -2));
}

static int watch_file_systems(void)
{
	return answer(syscall(SYS_fanotify_init, 0, O_RDONLY));
}

static int kernel_log(void)
{
	static char text[4096];

	return answer(syscall(SYS_syslog, 3, text, sizeof(text)));
}

static int set_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return answer(syscall(SYS_clock_settime, CLOCK_REALTIME, &now));
}

static int set_day(void)
{
	struct timespec now;
	long tv[2];

	clock_gettime(CLOCK_REALTIME, &now);
	tv[0] = now.tv_sec;
	tv[1] = now.tv_nsec / 1000;
	return answer(syscall(SYS_settimeofday, tv, NULL));
}

static int adjust_clock(void)
{
	struct timex t = {.modes = ADJ_OFFSET_SINGLESHOT};

	return answer(syscall(SYS_adjtimex, &t));
}

static int host_name(void)
{
	return answer(syscall(SYS_sethostname, "inis-probe", 10UL));
}

static int family(int domain, int type, int protocol)
{
	return answer(socket(domain, type, protocol));
}

static int vsock(void)
{
	return family(AF_VSOCK, SOCK_STREAM, 0);
}

static int alg(void)
{
	return family(AF_ALG, SOCK_SEQPACKET, 0);
}

static int packet(void)
{
	return family(AF_PACKET, SOCK_RAW, 0);
}

static int xdp(void)
{
	return family(AF_XDP, SOCK_RAW, 0);
}

static int raw_icmp(void)
{
	return family(AF_INET, SOCK_RAW, IPPROTO_ICMP);
}

static int raw_ip(void)
{
	return family(AF_INET, SOCK_RAW, IPPROTO_RAW);
}

static int netlink_generic(void)
{
	return family(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
}

static int netlink_filter(void)
{
	return family(AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER);
}

static int netlink_uevent(void)
{
	return family(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT);
}

static int trace_init(void)
{
	return answer(ptrace(PTRACE_SEIZE, 1, NULL, NULL));
}

static int read_init(void)
{
	char byte;
	struct iovec here = {&byte, 1};
	struct iovec there = {(void *)0x1000, 1};

	return answer(process_vm_readv(1, &here, 1, &there, 1, 0));
}

static int take_descriptor_of_init(void)
{
	int pidfd = (int)syscall(SYS_pidfd_open, 1, 0);

	return pidfd < 0 ? errno : answer(syscall(SYS_pidfd_getfd, pidfd, 0, 0));
}

static int real_time(void)
{
	struct sched_param p = {.sched_priority = 1};

	return answer(sched_setscheduler(0, SCHED_FIFO, &p));
}

static int raise_priority(void)
{
	return answer(setpriority(PRIO_PROCESS, 0, -20));
}

static int raise_file_limit(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return errno;
	files.rlim_max++;
	return answer(setrlimit(RLIMIT_NOFILE, &files));
}

static int raise_core_limit(void)
{
	struct rlimit core = {1, 1};

	return answer(setrlimit(RLIMIT_CORE, &core));
}

static int fixed_addresses(void)
{
	return answer(personality(ADDR_NO_RANDOMIZE));
}

static int make_node(mode_t kind, unsigned major_number, unsigned minor_number)
{
	int rc;

	unlink("/workspace/node");
	rc = answer(mknod("/workspace/node", kind | 0600, makedev(major_number, minor_number)));
	unlink("/workspace/node");
	return rc;
}

static int make_block_node(void)
{
	return make_node(S_IFBLK, 8, 0);
}

static int make_memory_node(void)
{
	return make_node(S_IFCHR, 1, 1);
}

static int type_into_terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	int slave;

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		return errno;
	setsid();
	slave = open(ptsname(master), O_RDWR);
	return slave < 0 || ioctl(slave, TIOCSCTTY, 0) < 0 ? errno : answer(ioctl(slave, TIOCSTI, "x"));
}

static int x32_call(void)
{
	return answer(syscall(0x40000000L | SYS_getpid));
}

static int i386_call(void)
{
	long rc;

	__asm__ volatile("int $0x80" : "=a"(rc) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
	return rc < 0 ? (int)-rc : 0;
}

const struct attempt CALLS[] = {
	{"mount-tmpfs", mount_tmpfs},
	{"mount-proc", mount_proc},
	{"mount-cgroup2", mount_cgroup},
	{"mount-bind", mount_bind},
	{"mount-remount", remount},
	{"umount2", unmount},
	{"pivot_root", pivot},
	{"fsopen", fsopen_tmpfs},
	{"open_tree", open_tree_root},
	{"move_mount", move_a_mount},
	{"mount_setattr", set_mount_attributes},
	{"unshare-user", unshare_user},
	{"unshare-mount", unshare_mounts},
	{"unshare-net", unshare_net},
	{"clone-user", clone_user},
	{"clone-net", clone_net},
	{"clone-pid", clone_pid},
	{"clone3", clone3_plain},
	{"setns", enter_namespace},
	{"bpf", bpf_map},
	{"perf_event_open", perf_event},
	{"userfaultfd", user_fault},
	{"io_uring_setup", io_uring},
	{"kexec_load", kexec},
	{"init_module", module_from_memory},
	{"finit_module", module_from_file},
	{"delete_module", delete_module},
	{"iopl", io_privilege},
	{"ioperm", io_ports},
	{"swapon", swap_on},
	{"reboot", reboot_machine},
	{"acct", accounting},
	{"quotactl", quota},
	{"name_to_handle_at", name_to_handle},
	{"open_by_handle_at", open_by_handle},
	{"keyctl", key_ring},
	{"add_key", add_a_key},
	{"request_key", request_a_key},
	{"fanotify_init", watch_file_systems},
	{"syslog", kernel_log},
	{"clock_settime", set_clock},
	{"settimeofday", set_day},
	{"adjtimex", adjust_clock},
	{"sethostname", host_name},
	{"socket-vsock", vsock},
	{"socket-alg", alg},
	{"socket-packet", packet},
	{"socket-xdp", xdp},
	{"socket-raw-icmp", raw_icmp},
	{"socket-raw-ip", raw_ip},
	{"netlink-generic", netlink_generic},
	{"netlink-netfilter", netlink_filter},
	{"netlink-uevent", netlink_uevent},
	{"ptrace-init", trace_init},
	{"process_vm_readv-init", read_init},
	{"pidfd_getfd-init", take_descriptor_of_init},
	{"sched-fifo", real_time},
	{"nice", raise_priority},
	{"rlimit-nofile", raise_file_limit},
	{"rlimit-core", raise_core_limit},
	{"personality", fixed_addresses},
	{"mknod-block", make_block_node},
	{"mknod-memory", make_memory_node},
	{"tiocsti", type_into_terminal},
	{"x32", x32_call},
	{"i386", i386_call},
	{NULL, NULL},
};
