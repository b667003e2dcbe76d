// SPDX-License-Identifier: Apache-2.0
// The refusals of file operations that clients recognise by status, code and text.
import assert from "node:assert/strict";
import { test } from "node:test";
import { suite } from "../support/suite.js";
import { fileCalls } from "./calls.js";

const t = suite();
const { get, legacy, remove, rename, mkdir, download, upload, write } = fileCalls(() => t.session);

/** Every operation that needs an existing thing at the path. */
const NEEDS = {
  read: (path: string) => get("read", path),
  list: (path: string) => get("list", path),
  stat: (path: string) => get("stat", path),
  remove: (path: string) => remove(path),
  rename: (path: string) => rename(path, "/workspace/never"),
  download,
  legacy_read: (path: string) => legacy("read", path),
  legacy_list: (path: string) => legacy("list", path),
};
const WRITES = {
  write,
  legacy_write: (path: string) => legacy("write", path, { content: "x" }),
  upload: (path: string) => upload(path),
};

for (const [name, call] of Object.entries(NEEDS)) {
  test(`something missing is 404 with the text clients look for (${name})`, async () => {
    for (const path of ["/workspace/missing", "missing", "/workspace/no/such/dir/file"]) {
      const reply = await call(path);
      assert.deepEqual([reply.status, reply.json.code], [404, "not_found"], path);
      assert.match(reply.json.error as string, /no such file or directory/i);
    }
  });

  test(`a component that is no directory is 404 (${name})`, async () => {
    await t.session.write("/workspace/plain", "x");
    const reply = await call("/workspace/plain/below");
    assert.deepEqual([reply.status, reply.json.code], [404, "not_found"]);
    assert.match(reply.json.error as string, /not a directory/i);
  });
}

for (const [name, call] of Object.entries({ ...NEEDS, ...WRITES, mkdir })) {
  test(`F7_a_path_outside_workspace_is_refused (${name})`, async () => {
    const outside = [
      "/etc/passwd",
      "/",
      "/workspace/../etc/passwd",
      "../etc/passwd",
      "/workspacex/f",
      "/proc/self/environ",
    ];
    for (const path of outside) {
      const reply = await call(path);
      assert.equal(reply.status, 400, `${path}: ${reply.body}`);
      assert.equal(reply.json.code, "invalid_path", path);
      assert.match(reply.json.error as string, /path must be under \/workspace/);
    }
  });

  test(`F7_a_symbolic_link_never_leads_out (${name})`, async () => {
    await t.session.output(
      "ln -sfn /etc /workspace/out; ln -sfn ../../etc /workspace/up; ln -sfn /proc/1/root/etc /workspace/magic",
    );
    for (const path of ["/workspace/out/hostname", "up/hostname", "/workspace/magic/hostname"]) {
      const reply = await call(path);
      assert.equal(reply.status, 400, `${path}: ${reply.body}`);
      assert.equal(reply.json.code, "invalid_path", path);
    }
  });
}

for (const [name, call] of Object.entries(WRITES)) {
  test(`a directory where a file is needed is 400 is_directory (${name})`, async () => {
    await mkdir("/workspace/dir");
    const reply = await call("/workspace/dir");
    assert.deepEqual([reply.status, reply.json.code], [400, "is_directory"]);
    assert.match(reply.json.error as string, /is a directory/);
  });

  test(`what the guest user may not do is permission_denied (${name})`, async () => {
    await t.session.output("sudo mkdir -p /workspace/locked && sudo chmod 755 /workspace/locked");
    const reply = await call("/workspace/locked/file");
    assert.deepEqual([reply.status, reply.json.code], [400, "permission_denied"]);
    assert.match(reply.json.error as string, /permission denied/i);
  });
}

test("a_directory_read_as_a_file_is_400_and_a_file_listed_is_404", async () => {
  for (const call of [NEEDS.read, NEEDS.download, NEEDS.legacy_read]) {
    const reply = await call("/workspace");
    assert.deepEqual([reply.status, reply.json.code], [400, "is_directory"]);
    assert.match(reply.json.error as string, /is a directory/);
  }
  await t.session.write("/workspace/file", "x");
  const reply = await get("list", "/workspace/file");
  assert.deepEqual([reply.status, reply.json.code], [404, "not_found"]);
  assert.match(reply.json.error as string, /not a directory/);
});

test("a_file_without_read_permission_is_permission_denied", async () => {
  await t.session.output("echo secret | sudo tee /workspace/private >/dev/null; sudo chmod 600 /workspace/private");
  for (const call of [NEEDS.read, NEEDS.download]) {
    const reply = await call("/workspace/private");
    assert.deepEqual([reply.status, reply.json.code], [400, "permission_denied"]);
  }
});

test("pipes_and_devices_are_never_opened", async () => {
  await t.session.output("mkfifo hang; ln -s /dev/zero zero");
  for (const path of ["hang", "zero"]) {
    const reply = await get("read", path);
    assert.equal(reply.status, 400, path);
    assert.equal((await download(path)).status, 400, path);
  }
});
