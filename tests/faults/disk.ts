// SPDX-License-Identifier: Apache-2.0
// A small disk of its own for the state of a server, which can be full, broken or gone: a real file system of the
// kernel's on a loop device.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statfsSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { eventually } from "../support/helpers.js";

function run(program: string, ...args: string[]): string {
  const done = spawnSync(program, args, { encoding: "utf8" });
  assert.equal(done.status, 0, `${program} ${args.join(" ")}: ${done.stderr}`);
  return done.stdout;
}

export class Disk {
  private readonly directory = mkdtempSync(join(tmpdir(), "inis-disk-"));
  private readonly below = join(this.directory, "below");
  private readonly image = join(this.below, "image");
  private readonly ballast = join(this.directory, "disk", "ballast");
  /** Where it is mounted. */
  readonly path = join(this.directory, "disk");
  readonly stateDir = join(this.path, "state");

  private constructor() {
    // The server's unprivileged part gets through.
    chmodSync(this.directory, 0o711);
    mkdirSync(this.below);
    mkdirSync(this.path);
  }

  /** A disk of this many megabytes; all its blocks are for everybody, as root is who fills it. */
  static make(megabytes: number): Disk {
    const disk = new Disk();
    try {
      closeSync(openSync(disk.image, "w"));
      truncateSync(disk.image, megabytes << 20);
      run("mkfs.ext4", "-q", "-F", "-m", "0", disk.image);
      disk.mount();
      mkdirSync(disk.stateDir);
      return disk;
    } catch (error) {
      disk.remove();
      throw error;
    }
  }

  /** Bytes that can still be written. */
  get free(): number {
    const { bavail, bsize } = statfsSync(this.path);
    return bavail * bsize;
  }

  private mount(): void {
    run("mount", "-o", "loop,errors=remount-ro", this.image, this.path);
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

  makeRoom(): void {
    rmSync(this.ballast, { force: true });
  }

  remove(): void {
    spawnSync("umount", ["-l", this.path]);
    rmSync(this.directory, { recursive: true, force: true });
  }

  private get device(): string {
    return run("findmnt", "-no", "SOURCE", this.path).trim();
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
    run("python3", "-c", script, this.path);
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
    await eventually("the disk is not busy", () => spawnSync("umount", [this.path]).status === 0);
    await eventually("the disk is free", () => run("losetup", "-j", this.image) === "");
  }
}
