// SPDX-License-Identifier: Apache-2.0
// writeFiles: any number, any size, modes, failures one by one, aborts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { randomBytes, sha256 } from "../support/helpers.js";
import { onSandbox } from "./support/sandbox.js";

onSandbox("files", {}, (sandbox) => {
  const hash = async (path: string) => (await sandbox().executeCommand(`sha256sum < '${path}'`)).stdout.split(" ")[0];

  test("text_and_bytes_are_written_exactly_and_directories_made", async () => {
    const bytes = randomBytes(5000);
    await sandbox().writeFiles([
      { path: "/workspace/a/b/text.txt", content: "日本語☕\n" },
      { path: "relative/bytes.bin", content: bytes },
      { path: "empty", content: "" },
    ]);
    assert.equal((await sandbox().executeCommand("cat a/b/text.txt")).stdout, "日本語☕\n");
    assert.equal(await hash("relative/bytes.bin"), sha256(bytes));
    assert.equal((await sandbox().executeCommand("stat -c %s empty")).stdout, "0\n");
  });

  for (const size of [0, 1, 4095, 4097, 65_536, 131_073, 1 << 20, 8 << 20, (8 << 20) + 1, 33 << 20]) {
    test(`F1_a_file_of_${size}_bytes_arrives_whole`, async () => {
      const content = Buffer.alloc(size, randomBytes(64 * 1024));
      await sandbox().writeFiles([{ path: "sized.bin", content }]);
      assert.equal(await hash("sized.bin"), sha256(content));
    });
  }

  test("F5_more_files_than_one_request_takes", async () => {
    const files = Array.from({ length: 200 }, (_, i) => ({ path: `many/d${i % 7}/${i}.txt`, content: `file ${i}` }));
    await sandbox().writeFiles(files);
    const { stdout } = await sandbox().executeCommand("find many -type f | wc -l; cat many/d3/199.txt");
    assert.equal(stdout.trim(), "200\nfile 199");
  });

  test("F5_more_bytes_than_one_request_takes_mixed_with_small_ones", async () => {
    const files = Array.from({ length: 6 }, (_, i) => ({ path: `big/${i}`, content: Buffer.alloc(3 << 20, i) }));
    const huge = { path: "big/huge", content: Buffer.alloc(9 << 20, 7) };
    await sandbox().writeFiles([...files.slice(0, 3), huge, ...files.slice(3), { path: "big/small", content: "s" }]);
    for (const { path, content } of [...files, huge]) assert.equal(await hash(path), sha256(content));
  });

  test("modes_are_set_or_refused_like_the_core_does", async () => {
    await sandbox().writeFiles([
      { path: "m/script.sh", content: "#!/bin/sh\necho ran\n", mode: 0o755 },
      { path: "m/private", content: "x", mode: 0o600 },
      { path: "m/plain", content: "x" },
      { path: "m/large", content: Buffer.alloc(9 << 20), mode: 0o640 },
    ]);
    assert.equal((await sandbox().executeCommand("m/script.sh")).stdout, "ran\n");
    const { stdout } = await sandbox().executeCommand("stat -c %a m/script.sh m/private m/plain m/large");
    assert.equal(stdout, "755\n600\n644\n640\n");
    for (const mode of [0, -1, 0o1000, 1.5, Number.NaN]) {
      await assert.rejects(sandbox().writeFiles([{ path: "m/bad", content: "", mode }]), { code: "INVALID_ARGUMENT" });
    }
    assert.equal((await sandbox().executeCommand("ls m/bad")).success, false);
  });

  test("F5_one_error_names_every_file_that_failed_and_the_others_are_written", async () => {
    await sandbox().executeCommand("mkdir -p isdir");
    const files = [
      { path: "fine1", content: "1" },
      { path: "/etc/passwd", content: "x" },
      { path: "isdir", content: "x" },
      { path: "fine2", content: "2" },
      { path: "/outside-and-large", content: Buffer.alloc(9 << 20) },
      { path: "fine3", content: "3" },
    ];
    await assert.rejects(sandbox().writeFiles(files), (error: Error) => {
      assert.match(error.message, /3\/6/);
      assert.match(error.message, /\/etc\/passwd: .*path must be under \/workspace/);
      assert.match(error.message, /isdir: .*is a directory/);
      assert.match(error.message, /\/outside-and-large: .*path must be under \/workspace/);
      return true;
    });
    assert.equal((await sandbox().executeCommand("cat fine1 fine2 fine3")).stdout, "123");
  });

  test("an_abort_stops_the_writing", async () => {
    const files = [{ path: "aborted/never", content: "x" }];
    await assert.rejects(sandbox().writeFiles(files, { abortSignal: AbortSignal.abort() }), { code: "ABORTED" });
    assert.equal((await sandbox().executeCommand("ls aborted")).success, false);
    const controller = new AbortController();
    const many = Array.from({ length: 40 }, (_, i) => ({ path: `partly/${i}`, content: Buffer.alloc(4 << 20) }));
    const writing = sandbox().writeFiles(many, { abortSignal: controller.signal });
    writing.catch(() => {});
    while (!(await sandbox().executeCommand("ls partly/0")).success);
    controller.abort();
    await assert.rejects(writing, { code: "ABORTED" });
    const { stdout } = await sandbox().executeCommand("ls partly | wc -l");
    assert(Number(stdout) < 40, stdout);
  });
});
