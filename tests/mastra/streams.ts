// SPDX-License-Identifier: Apache-2.0
// Standard input of processes, and handles as Node streams.
import assert from "node:assert/strict";
import { once } from "node:events";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { test } from "node:test";
import type { InisProcessHandle } from "@inis-run/mastra";
import { sha256, withinMs } from "../support/helpers.js";
import { newest } from "./support/core.js";
import { onSandbox } from "./support/sandbox.js";

const SOON_MS = 30_000;

async function collect(stream: AsyncIterable<unknown>): Promise<string> {
  let text = "";
  for await (const piece of stream) text += String(piece);
  return text;
}

onSandbox("streams", {}, (sandbox) => {
  const spawn = (command: string, options?: object) =>
    sandbox().processes.spawn(command, options) as Promise<InisProcessHandle>;

  test("stdin_reaches_the_process", async () => {
    const handle = await spawn("head -1");
    await handle.sendStdin("first line\n");
    assert.equal((await withinMs("head", SOON_MS, handle.wait())).stdout, "first line\n");
  });

  test("closing_stdin_is_end_of_file", async () => {
    const handle = await spawn("cat; echo end");
    await handle.sendStdin("a");
    await handle.sendStdin("b\n");
    await handle.closeStdin();
    assert.equal((await withinMs("cat", SOON_MS, handle.wait())).stdout, "ab\nend\n");
  });

  test("writes_arrive_in_the_order_they_were_made", async () => {
    const handle = await spawn("cat");
    const pieces = Array.from({ length: 50 }, (_, i) => `${i}\n`);
    await Promise.all([...pieces.map((piece) => handle.sendStdin(piece)), handle.closeStdin()]);
    assert.equal((await handle.wait()).stdout, pieces.join(""));
  });

  test("stdin_after_the_exit_is_refused", async () => {
    const handle = await spawn("true");
    await handle.wait();
    await assert.rejects(handle.sendStdin("x"), /exited/);
  });

  test("a_process_without_stdin_meets_end_of_file_and_refuses_writes", async () => {
    const handle = await spawn("cat; echo end; sleep 0.3", { stdinMode: "ignore" });
    await assert.rejects(handle.sendStdin("x"), { code: "UNSUPPORTED_FEATURE" });
    assert.equal((await withinMs("cat", SOON_MS, handle.wait())).stdout, "end\n");
  });

  test("reader_gives_the_output_and_ends_with_the_process", async () => {
    const handle = await spawn("head -1; echo two");
    const { reader } = handle;
    await handle.sendStdin("one\n");
    const text = await withinMs("reader", SOON_MS, collect(reader));
    assert.equal(text, "one\ntwo\n");
  });

  test("writer_feeds_stdin_and_its_end_is_end_of_file", async () => {
    const handle = await spawn("cat");
    handle.writer.write("some ");
    handle.writer.end("text");
    await withinMs("finish", SOON_MS, once(handle.writer, "finish"));
    assert.equal((await withinMs("cat", SOON_MS, handle.wait())).stdout, "some text");
  });

  test("writer_carries_bytes_exactly", async () => {
    const bytes = Buffer.alloc(1_000_000);
    for (let i = 0; i < bytes.length; i++) bytes[i] = (i * 2654435761) >>> 24;
    const handle = await spawn("sha256sum; wc -c < /dev/null");
    await pipeline(Readable.from([bytes.subarray(0, 333_333), bytes.subarray(333_333)]), handle.writer);
    assert.equal((await handle.wait()).stdout.split(" ")[0], sha256(bytes));
  });

  test("ending_the_writer_of_an_exited_process_is_no_error", async () => {
    const handle = await spawn("true");
    await handle.wait();
    handle.writer.end();
    await once(handle.writer, "finish");
  });

  test("a_conversation_by_lines_works", async () => {
    const handle = await spawn('while read -r line; do echo "you said $line"; done');
    const { reader } = handle;
    reader.setEncoding("utf8");
    for (const word of ["hello", "again"]) {
      const answer = once(reader, "data");
      await handle.sendStdin(`${word}\n`);
      assert.equal((await withinMs("answer", SOON_MS, answer))[0], `you said ${word}\n`);
    }
    await handle.closeStdin();
    assert.equal((await handle.wait()).exitCode, 0);
  });

  // Older cores have no abortable wait.
  if (newest) {
    test("21387_abort_of_a_wait_kills", async () => {
      const handle = await spawn("sleep 600");
      const controller = new AbortController();
      const waiting = (handle.wait as (options: object) => Promise<{ killed?: boolean }>)({
        abortSignal: controller.signal,
      });
      controller.abort();
      assert.equal((await withinMs("wait", SOON_MS, waiting)).killed, true);
    });
  }
});
