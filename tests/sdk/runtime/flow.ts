// SPDX-License-Identifier: Apache-2.0
// A program: what everybody does with the client, on whatever runtime and globals it finds itself. Prints one line.
import { Client } from "@inis-run/sdk";

function check(condition: unknown, what: string): asserts condition {
  if (!condition) throw new Error(what);
}

const { INIS_BASE_URL: baseUrl, INIS_API_KEY: token, INIS_FLOW_DIR: dir } = process.env;
const text = "日本語 ☕\n";
const client = new Client({ baseUrl, token });
const session = await client.sessions.create({ env: { WORD: text } });
try {
  const result = await session.exec(["sh", "-c", 'printf %s "$WORD"; echo e >&2; exit 3']);
  check(result.stdout === text && result.stderr === "e\n" && result.exitCode === 3, `exec: ${JSON.stringify(result)}`);

  let streamed = "";
  for await (const event of session.execStream(["sh", "-c", 'for i in 1 2 3; do echo "$i$WORD"; sleep 0.05; done'])) {
    if (event.stream === "stdout") streamed += event.data;
    if (event.stream === "exit") check(event.exitCode === 0, "the stream's exit");
  }
  check(streamed === [1, 2, 3].map((i) => `${i}${text}\n`).join(""), `stream: ${streamed}`);

  const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => (i * 7) & 0xff);
  await session.writeFile("bytes", bytes);
  check((await session.readFile("bytes", "base64")).join() === bytes.join(), "bytes come back");
  await session.writeFile("text", text);
  check((await session.readFile("text")) === text, "text comes back");
  check((await session.listFiles(".")).sort().join() === "bytes,text", "both are listed");
  await session.downloadFile("bytes", `${dir}/down`);
  await session.uploadFile(`${dir}/down`, "up");
  check((await session.readFile("up", "base64")).join() === bytes.join(), "a file goes down and up again");

  // The end of a caller's signal ends the call, whoever made the signal.
  const stopper = new AbortController();
  const slow = session.exec(["sleep", "600"], { signal: stopper.signal });
  setTimeout(() => stopper.abort(new Error("enough")), 100);
  const stopped = await slow.catch((error: unknown) => error);
  check(stopped instanceof Error && stopped.message === "enough", `abort: ${stopped}`);

  // Leaving a stream ends its command, so the connection must really go.
  for await (const event of session.execStream(["sh", "-c", "echo begun; exec sleep 54321"])) {
    if (event.stream === "stdout") break;
  }
  for (let i = 0; ; i++) {
    const { stdout } = await session.exec(["sh", "-c", "grep -l [5]4321 /proc/[0-9]*/cmdline | wc -l"]);
    if (Number(stdout) === 0) break;
    check(i < 300, "a stream that was left goes on");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
} finally {
  await session.destroy();
}
const gone = await session.get().catch((error: { code?: string }) => error);
check("code" in gone && gone.code === "not_found", "it is destroyed");
console.log("the flow is whole");
