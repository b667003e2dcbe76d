// SPDX-License-Identifier: Apache-2.0
// The disk that everything of a server lies on is full, or fails: whoever asks for what cannot be done is told so, the
// rest goes on, and nothing that was promised is lost. Real disks, small ones of their own.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { loopsBelow, role, settledFootprint } from "../support/footprint.js";
import { eventually, sha256, withinMs } from "../support/helpers.js";
import type { RawClient, Reply } from "../support/http.js";
import { Server } from "../support/server.js";
import { sh, TestSession } from "../support/session.js";
import { Disk, run } from "./disk.js";

const MiB = 1024 * 1024;
const NO_SPACE = /no (space left|room)/i;

/** A server on a disk of its own, which is gone afterwards however the test went. */
async function onDisk(context: TestContext, work: (server: Server, disk: Disk) => Promise<void>): Promise<void> {
  const disk = await Disk.make(256);
  try {
    const server = await Server.start({ pool: 1, disk_mb: 1024 }, [], disk);
    try {
      await work(server, disk);
      await server.stop();
    } catch (error) {
      context.diagnostic(server.logs().slice(-6000));
      disk.makeRoom();
      server.crash();
      throw error;
    }
    await disk.unmount();
  } finally {
    disk.remove();
  }
}

const TICKER = sh("i=0; while :; do i=$((i+1)); echo $i; sleep 0.05; done");

/** Every line that the ticker has printed, in its log, as far as it has come. */
async function assertTicks(session: TestSession): Promise<void> {
  const { stdout } = await session.logs("ticker");
  const lines = stdout.split("\n").slice(0, -1);
  assert(lines.length > 0);
  assert.deepEqual(
    lines,
    lines.map((_, i) => String(i + 1)),
    "no line is lost",
  );
}

const READ_PAST_THE_CACHE = `
import hashlib, os, sys
os.sync()
for path in sys.argv[1:]:
    file = os.open(path, os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    with open(file, "rb") as content: print(hashlib.sha256(content.read()).hexdigest())`;

/** What really lies on the disk, and not only in memory. */
async function assertOnDisk(session: TestSession, book: Map<string, string>): Promise<void> {
  const { stdout, stderr } = await session.exec(["python3", "-c", READ_PAST_THE_CACHE, ...book.keys()]);
  assert.equal(stderr, "");
  assert.deepEqual(stdout.trim().split("\n"), [...book.values()], "what was acknowledged is there");
}

/** Writes files through the API until one is refused, and keeps book of the others. */
async function writeUntilFull(session: TestSession, book: Map<string, string>): Promise<Reply> {
  for (let n = 0; ; n++) {
    assert(n < 1000, "the disk never got full");
    const content = `${n}`.repeat(4 * MiB).slice(0, 4 * MiB);
    const reply = await session.send("PUT", "/files", { json: { path: `/workspace/f${n}`, content } });
    if (reply.status !== 200) return reply;
    book.set(`/workspace/f${n}`, sha256(content));
  }
}

test("T10_sessions_that_fill_the_machine's_disk_are_told_so_and_lose_nothing", async (context) => {
  await onDisk(context, async (server, disk) => {
    const client = server.client();
    const [writer, bystander] = [await TestSession.create(client), await TestSession.create(client)];
    await bystander.write("/workspace/kept", "kept");
    await bystander.start("ticker", TICKER);
    const book = new Map<string, string>();
    const filled = await writer.exec(sh("head -c 1G /dev/urandom >big; sha256sum <big | cut -c-64"), {
      timeout_ms: 600_000,
    });
    assert.match(filled.stderr, NO_SPACE, "a program is told");
    book.set("/workspace/big", filled.stdout.trim());
    const refused = await writeUntilFull(writer, book);
    assert(refused.status >= 400);
    assert.match(refused.json.error as string, NO_SPACE);
    assert(disk.free > 0, "the server's own files have room");
    await assertOnDisk(writer, book);
    assert.equal(await bystander.output("cat kept"), "kept", "others live");
    await assertTicks(bystander);
    // What is deleted in a session is the machine's again.
    const before = disk.free;
    await writer.output("rm big");
    await eventually("the disk has room again", () => disk.free > before + 32 * MiB);
    await eventually("writes are taken again", async () => {
      const content = "again".repeat(MiB);
      return (await writer.send("PUT", "/files", { json: { path: "again", content } })).status === 200;
    });
    await (await TestSession.create(client)).destroy();
    await assertTicks(bystander);
  });
});

/** Creates are refused for now, by an error that says why. */
async function assertNoCreate(client: RawClient): Promise<void> {
  const { status, json } = await client.send("POST", "/v1/sessions");
  assert.deepEqual([status, json.code], [503, "unavailable"]);
  assert.match(json.error as string, NO_SPACE);
}

async function assertNoWrite(session: TestSession): Promise<void> {
  await session.output("rm -f new");
  const content = "x".repeat(4 * MiB);
  const replies = [
    await session.send("PUT", "/files", { json: { path: "new", content } }),
    await session.send("PUT", "/files/stream", { query: { path: "new" }, body: content }),
  ];
  for (const { status, json } of replies) {
    assert(status >= 400, `${status}`);
    assert.match(json.error as string, NO_SPACE);
  }
  const batch = await session.expect(200, "PUT", "/files/batch", { json: { files: [{ path: "new", content }] } });
  const [item] = batch.json.results as { ok: boolean; error: string }[];
  assert.equal(item?.ok, false);
  assert.match(item!.error, NO_SPACE);
  assert.equal((await session.list("/workspace")).includes("new"), false, "nor is half of it there");
}

async function kill(server: Server, victim: "front" | "broker"): Promise<void> {
  const old = role(server, victim);
  process.kill(old, "SIGKILL");
  const client = server.client();
  await eventually(`a new ${victim} runs`, () => role(server, victim) !== old);
  await eventually("it answers", async () => (await client.send("GET", "/v1/healthz")).status === 200);
}

test("T10_what_was_written_before_others_fill_the_disk_is_on_it_sooner_than_the_kernel_thinks_of_it", async (context) => {
  await onDisk(context, async (server, disk) => {
    const session = await TestSession.create(server.client());
    disk.write("older", 1 * MiB);
    const before = disk.free;
    await session.output("head -c 24M /dev/urandom >big; mkdir d; cd d; touch $(seq 500)");
    await eventually("it has its room on the disk", () => before - disk.free >= 24 * MiB);
    assert(disk.isWaiting("older"), "that is not the kernel's own pace");
    const book = new Map([["/workspace/big", (await session.output("sha256sum <big | cut -c-64")).trim()]]);
    disk.fill();
    await assertOnDisk(session, book);
    assert.equal((await session.list("/workspace/d")).length, 500);
  });
});

test("T10_on_a_disk_that_others_have_filled_all_goes_on_that_needs_no_room", async (context) => {
  await onDisk(context, async (server, disk) => {
    const client = server.client();
    const [resident, passing] = [await TestSession.create(client), await TestSession.create(client)];
    await resident.write("/workspace/kept", "kept");
    await resident.start("sleeper", ["sleep", "600"], { keep_alive: true });
    const before = await settledFootprint(server);
    disk.fill();
    await eventually("sessions are told", () => assertNoWrite(resident).then(() => true));
    await eventually("clients are told", () => assertNoCreate(client).then(() => true));
    await resident.output("touch $(seq 40); sync");
    const { stdout, exit_code } = await resident.exec(sh("cat kept; seq 100000; exit 3"));
    assert.deepEqual([stdout.length, exit_code], [588_899, 3]);
    assert.equal((await resident.read("kept")).toString(), "kept");
    await resident.start("another", ["sleep", "600"]);
    await resident.kill("another");
    await resident.pause();
    await resident.resume();
    await passing.destroy();
    disk.fill();
    for (const victim of ["front", "broker"] as const) {
      await kill(server, victim);
      await client.expect(404, "GET", passing.path());
      const again = resident.through(server.client());
      assert.equal((await again.process("sleeper")).state, "running");
      assert.equal(await again.output("cat kept"), "kept");
    }
    disk.makeRoom();
    const again = server.client();
    await eventually("creates are taken again", async () => {
      const { status, json } = await again.send("POST", "/v1/sessions");
      if (status !== 201) return false;
      await again.expect(204, "DELETE", `/v1/sessions/${json.session_id}`);
      return true;
    });
    await resident.through(again).write("new", "x".repeat(4 * MiB));
    const { units, sessions, processes } = await settledFootprint(server);
    assert.equal(units, before.units - 1, "of the session that went, and of those that were refused, nothing is left");
    assert(sessions <= before.sessions && processes < before.processes);
  });
});

/** An ext4 of somebody else's on the loop device of this name; false when the name is taken. */
function attachForeign(directory: string, name: string): boolean {
  const image = join(directory, name);
  run("mkfs.ext4", "-q", "-F", image, "16M");
  return spawnSync("losetup", [join("/dev", name), image]).status === 0;
}

const timesMounted = (image: string) => /^Mount count:\s+(\d+)$/m.exec(run("dumpe2fs", "-h", image))?.[1];

test("a_device_whose_number_was_a_session's_is_left_alone_once_it_is_another's", async () => {
  const foreign = mkdtempSync(join(tmpdir(), "inis-foreign-"));
  const server = await Server.start({ pool: 0 });
  const attached: string[] = [];
  try {
    const session = await TestSession.create(server.client());
    await session.start("words", sh("echo kept"));
    await session.exited("words");
    await session.output("sync");
    const names = loopsBelow(server.stateDir);
    server.crash();
    await eventually("its devices are free", () => loopsBelow(server.stateDir).length === 0);
    for (const name of names) if (attachForeign(foreign, name)) attached.push(name);
    assert(attached.length > 0);
    await server.relaunchAfterKill();
    const client = server.client();
    await eventually("the session has ended", async () => {
      const { status, body } = await client.send("GET", session.path("/processes/words/logs"), {
        query: { ended: true },
      });
      return status === 200 && body.toString().includes("kept");
    });
    await (await TestSession.create(client)).destroy();
    for (const name of attached) assert.equal(timesMounted(join(foreign, name)), "0");
    await server.stop();
  } finally {
    server.crash();
    for (const name of attached) spawnSync("losetup", ["-d", join("/dev", name)]);
    rmSync(foreign, { recursive: true, force: true });
  }
});

const BROKEN = {
  turns_read_only: (disk: Disk) => disk.damage(),
  answers_nothing_but_errors: (disk: Disk) => disk.fail(),
};

/** That it cannot be done is told, as a failure of the machine's. */
async function assertFails(client: RawClient, method: string, path: string): Promise<void> {
  const { status, body } = await withinMs(`${method} ${path}`, 120_000, client.send(method, path));
  assert(status >= 500, `${method} ${path}: ${status} ${body}`);
}

for (const [how, broken] of Object.entries(BROKEN)) {
  test(`T10_under_a_disk_that_${how}_the_server_lives_and_nothing_acknowledged_is_lost`, async (context) => {
    await onDisk(context, async (server, disk) => {
      const client = server.client();
      const names = ["resident", "doomed", "gone"];
      const made: TestSession[] = [];
      for (const name of names) made.push(await TestSession.create(client, { name }));
      const [resident, doomed, gone] = made as [TestSession, TestSession, TestSession];
      await gone.destroy();
      await resident.write("/workspace/kept", "kept");
      await resident.output("sync");
      broken(disk);
      await assertFails(client, "POST", "/v1/sessions");
      await assertFails(client, "POST", resident.path("/pause"));
      const read = await resident.send("GET", "/files", { query: { path: "kept", op: "read" } });
      assert(read.status >= 400 || read.json.content === "kept", `${read.status} ${read.body}`);
      const ran = await resident.send("POST", "/exec", { json: { command: sh("echo words; exit 3") } });
      assert(ran.status >= 400 || ran.json.exit_code !== 0, `${ran.status} ${ran.body}`);
      await assertFails(client, "DELETE", doomed.path());
      const { json } = await client.expect(200, "GET", "/v1/sessions");
      assert.deepEqual(
        (json.sessions as { name: string }[]).map(({ name }) => name),
        ["resident"],
      );
      const shown = await client.send("GET", gone.path());
      assert(shown.status === 404 || shown.status >= 500, "what was destroyed stays so, if it can be said");
      server.crash();
      await disk.repair();
      await server.relaunchAfterKill();
      const again = server.client();
      const ended = { query: { state: "ended" } };
      await eventually("what was acknowledged is found again", async () => {
        const { json } = await again.expect(200, "GET", "/v1/sessions", ended);
        const found = json.sessions as { session_id: string }[];
        assert.deepEqual(found.map(({ session_id }) => session_id).sort(), made.map(({ id }) => id).sort());
        return true;
      });
      await again.expect(404, "GET", gone.path());
      const fresh = await TestSession.create(again);
      assert.equal(await fresh.output("echo works"), "works\n");
    });
  });
}
