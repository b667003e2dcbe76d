// SPDX-License-Identifier: Apache-2.0
// A small disk of its own for the state of a server, which can be full, broken or gone: a real file system of the
// kernel's on a loop device, in a mount namespace of its own, since everybody else's would keep it from being unmounted.
import assert from "node:assert/strict";
import { type SpawnSyncReturns, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readlinkSync,
  rmSync,
  statfsSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { eventually } from "../support/helpers.js";

export function run(program: string, ...args: string[]): string {
  const done = spawnSync(program, args, { encoding: "utf8" });
  assert.equal(done.status, 0, `${program} ${args.join(" ")}: ${done.stderr}`);
  return done.stdout;
}

export class Disk {
  private readonly directory = mkdtempSync(join(tmpdir(), "inis-disk-"));
  private readonly below = join(this.directory, "below");
  private readonly image = join(this.below, "image");
  /** Where it is mounted, in its namespace. */
  private readonly path = join(this.directory, "disk");
  readonly stateDir = join(this.path, "state");
  private readonly holder = spawn("unshare", ["--mount", "--propagation", "private", "sleep", "infinity"]);

  private constructor() {
    // The server's unprivileged part gets through.
    chmodSync(this.directory, 0o711);
    mkdirSync(this.below);
    mkdirSync(this.path);
  }

  /** A disk of this many megabytes; all its blocks are for everybody, as root is who fills it. */
  static async make(megabytes: number): Promise<Disk> {
    const disk = new Disk();
    try {
      closeSync(openSync(disk.image, "w"));
      truncateSync(disk.image, megabytes << 20);
      run("mkfs.ext4", "-q", "-F", "-m", "0", disk.image);
      await eventually("it has a namespace", () => {
        return readlinkSync(`/proc/${disk.namespace}/ns/mnt`) !== readlinkSync("/proc/self/ns/mnt");
      });
      disk.mount();
      mkdirSync(disk.seen(disk.stateDir));
      return disk;
    } catch (error) {
      disk.remove();
      throw error;
    }
  }

  /** The process whose mounts it is among. */
  get namespace(): number {
    return this.holder.pid!;
  }

  /** A path of its namespace, from here. */
  private seen(path: string): string {
    return join(`/proc/${this.namespace}/root`, path);
  }

  private inside(...command: string[]): SpawnSyncReturns<string> {
    return spawnSync("nsenter", ["-m", "-t", String(this.namespace), ...command], { encoding: "utf8" });
  }

  private get ballast(): string {
    return this.seen(join(this.path, "ballast"));
  }

  /** Bytes that can still be written. */
  get free(): number {
    const { bavail, bsize } = statfsSync(this.seen(this.path));
    return bavail * bsize;
  }

  private mount(): void {
    const { status, stderr } = this.inside("mount", "-o", "loop,errors=remount-ro", this.image, this.path);
    assert.equal(status, 0, stderr);
  }

  /** Somebody else takes what is free, but for this many bytes. */
  fill(but = 0): void {
    const chunk = Buffer.alloc(1 << 20, 1);
    const file = openSync(this.ballast, "a");
    try {
      for (;;) {
        const left = this.free - but;
        if (left <= 0) return;
        writeSync(file, chunk, 0, Math.min(left, chunk.length));
      }
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, "ENOSPC");
    } finally {
      closeSync(file);
    }
  }

  /** A file beside the server's. */
  write(name: string, bytes: number): void {
    writeFileSync(this.seen(join(this.path, name)), Buffer.alloc(bytes, 1));
  }

  /** Whether the kernel has the file in memory only. */
  isWaiting(name: string): boolean {
    return run("filefrag", "-v", this.seen(join(this.path, name))).includes("delalloc");
  }

  makeRoom(): void {
    rmSync(this.ballast, { force: true });
  }

  remove(): void {
    this.holder.kill("SIGKILL");
    rmSync(this.directory, { recursive: true, force: true });
  }

  private get device(): string {
    return run("losetup", "-nO", "NAME", "-j", this.image).trim();
  }

  /** The file system finds itself damaged, and from here on cannot be written. */
  damage(): void {
    writeFileSync(`/sys/fs/ext4/${basename(this.device)}/trigger_fs_error`, "1");
  }

  /** From here on every read and every write of it fails. */
  fail(): void {
    const script = `
import fcntl, os, struct, sys
EXT4_IOC_SHUTDOWN, NO_FLUSH = 0x8004587D, 2
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), EXT4_IOC_SHUTDOWN, struct.pack("I", NO_FLUSH))`;
    run("python3", "-c", script, this.seen(this.path));
  }

  /** What an administrator does about it, once nobody uses the disk. */
  async repair(): Promise<void> {
    await this.unmount();
    const { status } = spawnSync("e2fsck", ["-fy", this.image]);
    assert(status === 0 || status === 1, `e2fsck: ${status}`);
    this.mount();
  }

  /** Nobody uses it any more, in no other mount namespace either. */
  async unmount(): Promise<void> {
    await eventually("the disk is not busy", () => this.inside("umount", this.path).status === 0);
    await eventually("the disk is free", () => run("losetup", "-j", this.image) === "");
  }
}
