// SPDX-License-Identifier: Apache-2.0
// The package as its users get it: both module systems, no dependencies, nothing of Node at import.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createContext, Script } from "node:vm";
import * as sdk from "@inis-run/sdk";
import { build } from "esbuild";
import { FakeServer } from "./support/fake-server.js";

const run = promisify(execFile);
const entry = fileURLToPath(import.meta.resolve("@inis-run/sdk"));
const dist = fileURLToPath(new URL("..", import.meta.resolve("@inis-run/sdk")));
const NAMES = ["Client", "InisError", "PTY", "Session"];

async function modules(folder: string): Promise<[name: string, text: string][]> {
  const names = (await readdir(join(dist, folder), { recursive: true })).filter((name) => /\.m?js$/.test(name));
  return Promise.all(
    names.map(async (name) => [name, await readFile(join(dist, folder, name), "utf8")] as [string, string]),
  );
}

/** The code without comments. */
function code(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
}

test("K1_the_package_exports_what_it_should", async () => {
  assert.deepEqual(Object.keys(sdk).sort(), NAMES);
});

test("K4_the_package_has_no_runtime_dependency", async () => {
  const manifest = JSON.parse(await readFile(join(dist, "../package.json"), "utf8"));
  for (const kind of ["dependencies", "peerDependencies", "optionalDependencies"])
    assert.equal(manifest[kind], undefined);
});

test("K1_no_module_touches_node_when_it_is_imported", async () => {
  for (const [name, text] of await modules("esm")) {
    const body = code(text);
    const forbidden = [
      /\brequire\s*\(|createRequire|module\.exports|__dirname|__filename/,
      /\b(from|import)\s*\(?\s*["'`](node:|fs|path|http|net|tls)/,
      /(?<![\w.$"'`])process\s*[.[?]/,
      /(?<![\w.$])(Buffer|global|setImmediate)\s*[.(]/,
    ];
    for (const pattern of forbidden) assert.ok(!pattern.test(body), `${name} has ${pattern.exec(body)?.[0]}`);
  }
});

test("K1_modules_import_only_each_other", async () => {
  for (const folder of ["esm", "cjs"]) {
    for (const [name, text] of await modules(folder)) {
      const imports = code(text).matchAll(/(?:\bfrom\s+|\bimport\s*\(?\s*|\brequire\s*\(\s*)["']([^"']+)["']/g);
      for (const [, target] of imports) assert.match(target ?? "", /^\.\.?\/.*\.m?js$/, `${folder}/${name}`);
    }
  }
});

/** The URL of a server that is gone. */
async function nobody(): Promise<string> {
  await using server = await FakeServer.start(() => {});
  return server.url;
}

const program = (url: string): string => `
  const client = new sdk.Client({ token: "t", baseUrl: ${JSON.stringify(url)} });
  client.sessions.get("abc").catch((error) => console.log(Object.keys(sdk).sort().join(), error.name, error.cause.code));
`;

test("K1_import_and_require_both_work", async () => {
  const calls = program(await nobody());
  const esm = `import * as sdk from "@inis-run/sdk"; ${calls}`;
  const cjs = `const sdk = require("@inis-run/sdk"); ${calls}`;
  const mixed = `import("@inis-run/sdk").then((sdk) => { ${calls} });`;
  for (const [type, text] of [
    ["module", esm],
    ["commonjs", cjs],
    ["commonjs", mixed],
  ] as const) {
    // Run from the package's own folder, where its name resolves to itself.
    const options = { cwd: join(dist, "..") };
    const { stdout, stderr } = await run(process.execPath, [`--input-type=${type}`, "-e", text], options);
    assert.equal(stdout, `${NAMES.join()} TypeError ECONNREFUSED\n`);
    assert.equal(stderr, "");
  }
});

test("K1_the_require_build_is_commonjs_and_the_import_build_is_not", async () => {
  for (const [folder, type] of [
    ["esm", "module"],
    ["cjs", "commonjs"],
  ] as const) {
    assert.deepEqual(JSON.parse(await readFile(join(dist, folder, "package.json"), "utf8")), { type });
  }
  assert.match(
    await readFile(join(dist, "cjs/node.js"), "utf8"),
    /await import\(/,
    "dynamic imports stay what they are",
  );
});

interface EdgeResult {
  exit: { stdout: string; exitCode: number };
  events: { stream: string; data: string }[];
  file: number[];
  errors: string[];
}

test("K1_a_browser_bundle_runs_without_anything_of_node", async () => {
  const bundle = await build({
    stdin: {
      contents: `import { Client, InisError } from ${JSON.stringify(entry)};
        globalThis.main = async () => {
          const errors = [];
          try { new Client(); } catch (error) { errors.push(error.message); }
          const client = new Client({ token: "sk_edge", baseUrl: "https://edge.example" });
          const session = client.sessions.attach("abc");
          const exit = await session.exec("x");
          const events = [];
          for await (const event of session.execStream("x")) events.push(event);
          const file = Array.from(await session.readFile("a", "base64"));
          for (const call of [() => session.pty(), () => session.uploadFile("a", "b")]) {
            await call().catch((error) => errors.push(error instanceof InisError && error.code));
          }
          return JSON.stringify({ exit, events, file, errors });
        };`,
      resolveDir: dist,
    },
    bundle: true,
    write: false,
    platform: "browser",
    format: "esm",
    target: "es2022",
    logLevel: "silent",
  });
  assert.deepEqual([bundle.errors, bundle.warnings], [[], []]);
  const text = bundle.outputFiles[0]?.text ?? "";
  assert.doesNotMatch(text, /\brequire\b\(/);

  const seen: string[] = [];
  const fakeFetch = async (url: string, init: RequestInit): Promise<Response> => {
    seen.push(`${init.method} ${url} ${new Headers(init.headers).get("authorization")}`);
    if (url.endsWith("stream=true")) {
      return new Response('event: stdout\ndata: 4piV\n\nevent: exit\ndata: {"exit_code":0}\n\n');
    }
    return Response.json({ stdout: "out", exit_code: 7, content: "AP8=", encoding: "base64" });
  };
  const context = createContext({
    fetch: fakeFetch,
    AbortController,
    DOMException,
    Headers,
    ReadableStream,
    Response,
    TextDecoder,
    TextEncoder,
    URL,
    URLSearchParams,
    clearTimeout,
    crypto,
    setTimeout,
  });
  new Script(text).runInContext(context);
  const result: EdgeResult = JSON.parse(await new Script("main()").runInContext(context));
  assert.deepEqual([result.exit.stdout, result.exit.exitCode], ["out", 7]);
  assert.deepEqual(
    result.events.map(({ stream, data }) => [stream, data]),
    [
      ["stdout", "☕"],
      ["exit", ""],
    ],
  );
  assert.deepEqual(result.file, [0, 255]);
  assert.deepEqual(result.errors, ["INIS_API_KEY is required", "unsupported_runtime", "unsupported_runtime"]);
  assert.equal(seen[0], "POST https://edge.example/v1/sessions/abc/exec Bearer sk_edge");
});

test("K1_bundles_for_node_do_not_lose_the_built_in_modules", async () => {
  const folder = await mkdtemp(join(tmpdir(), "inis-sdk-"));
  const url = await nobody();
  try {
    for (const [format, name] of [
      ["esm", "bundle.mjs"],
      ["cjs", "bundle.cjs"],
    ] as const) {
      const outfile = join(folder, name);
      await build({
        stdin: {
          contents: `import { Client } from ${JSON.stringify(entry)};
            const session = new Client({ token: "t", baseUrl: ${JSON.stringify(url)} }).sessions.attach("abc");
            session.pty().catch((error) => console.log(error.cause?.code ?? error.message));`,
          resolveDir: dist,
        },
        bundle: true,
        outfile,
        platform: "node",
        format,
        logLevel: "silent",
      });
      const { stdout } = await run(process.execPath, [outfile]);
      assert.equal(stdout, "ECONNREFUSED\n");
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("the declarations are complete for programs of either module system", async () => {
  const folder = await mkdtemp(join(tmpdir(), "inis-sdk-"));
  const text = `import { Client, InisError, PTY, Session } from ${JSON.stringify(join(dist, "cjs/index.js"))};
    async function main(client: Client): Promise<void> {
      await using session: Session = await client.sessions.create({ egress: { mode: "deny" } });
      const text: string = await session.readFile("a");
      const bytes: Uint8Array = await session.readFile("a", "base64");
      for await (const event of session.execStream("x")) console.log(event.data, text, bytes);
      await using pty: PTY = await session.pty();
      throw new InisError("x", { code: pty.exitCode === 0 ? "a" : "b" });
    }
    void main;`;
  try {
    for (const name of ["program.cts", "program.mts"]) {
      await writeFile(join(folder, name), name.endsWith("cts") ? text : text.replace("cjs/index", "esm/index"));
    }
    const compilerOptions = { noEmit: true, strict: true, module: "nodenext", lib: ["es2022", "dom"], types: [] };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
    const tsc = join(fileURLToPath(import.meta.resolve("typescript")), "../../bin/tsc");
    await run(process.execPath, [tsc, "-p", folder]).catch((error) => assert.fail(error.stdout));
  } finally {
    await rm(folder, { recursive: true });
  }
});
