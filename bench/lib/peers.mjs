// SPDX-License-Identifier: Apache-2.0
// The tools that the server is held against, set up the same way on every machine.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Stopwatch } from "./stopwatch.mjs";

/** A command in a fresh sandbox of bubblewrap: all namespaces, the machine's own file system, read-only. */
export const BWRAP = [
  ...["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"],
  "/bin/true",
];

/**
 * Containers of crun. It refuses machines that have both kinds of cgroups, so it runs, together with the stopwatch that
 * measures it, in a mount namespace in which the second kind is hidden.
 */
export class Crun {
  #dir = mkdtempSync(join(tmpdir(), "inis-bench-crun-"));
  #stopwatch;
  #count = 0;

  constructor(program) {
    const hide = 'umount -l /sys/fs/cgroup/unified 2>/dev/null; exec "$0"';
    this.#stopwatch = new Stopwatch(program, ["unshare", "-m", "--propagation", "private", "sh", "-c", hide]);
    makeBundle(join(this.#dir, "true"), ["/bin/true"]);
    makeBundle(join(this.#dir, "sleep"), ["/bin/sleep", "infinity"]);
  }

  #command(...words) {
    return this.#stopwatch.spawn(["crun", "--root", join(this.#dir, "state"), ...words]);
  }

  #name() {
    this.#count++;
    return `inis-bench-${process.pid}-${this.#count}`;
  }

  /** Milliseconds of a container that runs /bin/true, from nothing to nothing. */
  run() {
    return this.#command("run", "-b", join(this.#dir, "true"), this.#name());
  }

  /** A running container: `exec()` answers milliseconds of /bin/true in it. */
  async start() {
    const name = this.#name();
    await this.#command("run", "-d", "-b", join(this.#dir, "sleep"), name);
    return {
      exec: () => this.#command("exec", name, "/bin/true"),
      stop: () => this.#command("delete", "-f", name),
    };
  }

  async close() {
    await this.#stopwatch.close();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

function makeBundle(directory, args) {
  const rootfs = join(directory, "rootfs");
  for (const name of ["usr", "proc", "dev", "tmp"]) mkdirSync(join(rootfs, name), { recursive: true });
  for (const name of ["bin", "lib", "lib64"]) symlinkSync(`usr/${name}`, join(rootfs, name));
  const config = {
    ociVersion: "1.0.2",
    process: {
      user: { uid: 0, gid: 0 },
      args,
      env: ["PATH=/usr/bin:/bin"],
      cwd: "/",
      noNewPrivileges: true,
    },
    root: { path: "rootfs", readonly: true },
    mounts: [
      { destination: "/usr", type: "bind", source: "/usr", options: ["rbind", "ro"] },
      { destination: "/proc", type: "proc", source: "proc" },
      { destination: "/dev", type: "tmpfs", source: "tmpfs", options: ["nosuid", "mode=755"] },
      { destination: "/tmp", type: "tmpfs", source: "tmpfs" },
    ],
    linux: { namespaces: ["pid", "network", "ipc", "uts", "mount"].map((type) => ({ type })) },
  };
  writeFileSync(join(directory, "config.json"), JSON.stringify(config));
}
