// SPDX-License-Identifier: Apache-2.0
// Foreground commands: result, arguments, environment, directory, streaming.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parallel } from "../support/helpers.js";
import { onSandbox, withSandbox } from "./support/sandbox.js";

onSandbox("commands", {}, (sandbox) => {
  test("a_command_returns_its_output_and_success", async () => {
    const result = await sandbox().executeCommand("echo hello");
    assert.equal(result.success, true);
    assert.equal(result.exitCode, 0);
    assert.equal(result.stdout, "hello\n");
    assert.equal(result.stderr, "");
    assert.equal(result.command, "echo hello");
    assert(result.executionTimeMs >= 0);
    assert.deepEqual([result.timedOut, result.killed, result.stdoutTruncated], [false, false, false]);
  });

  test("stderr_is_kept_apart_and_kept_on_success", async () => {
    const result = await sandbox().executeCommand("echo out; echo warning >&2");
    assert.deepEqual([result.exitCode, result.stdout, result.stderr], [0, "out\n", "warning\n"]);
  });

  test("a_failing_command_is_a_result_with_its_exit_code", async () => {
    const result = await sandbox().executeCommand("echo oops >&2; exit 42");
    assert.deepEqual([result.success, result.exitCode, result.stderr], [false, 42, "oops\n"]);
  });

  test("an_unknown_command_is_a_result_with_127", async () => {
    const result = await sandbox().executeCommand("no-such-program-anywhere");
    assert.equal(result.exitCode, 127);
    assert.match(result.stderr, /not found/);
  });

  test("arguments_reach_the_program_one_by_one", async () => {
    const awkward = ["two words", "a'b", 'c"d', "$HOME", "`id`", "x;y", "*", "\\", "", "line\nbreak", "日本語☕"];
    const result = await sandbox().executeCommand("printf '<%s>'", awkward);
    assert.equal(result.stdout, awkward.map((word) => `<${word}>`).join(""));
  });

  test("the_command_itself_is_shell_text", async () => {
    const result = await sandbox().executeCommand("echo a && echo b | wc -l");
    assert.equal(result.stdout.trim(), "a\n1");
    const piped = await sandbox().executeCommand("seq 10 | tr '\\n' ',' | head -c 6");
    assert.equal(piped.stdout, "1,2,3,");
  });

  test("X3_heredoc_runs_and_leaves_the_sandbox_usable", async () => {
    const script = "cat << 'EOF'\nfirst $HOME\nsecond `line`\nEOF\necho after";
    const result = await sandbox().executeCommand(script);
    assert.equal(result.stdout, "first $HOME\nsecond `line`\nafter\n");
    assert.equal((await sandbox().executeCommand("echo ok")).stdout, "ok\n");
  });

  test("a_file_written_by_one_command_is_read_by_the_next", async () => {
    await sandbox().executeCommand("echo kept > /tmp/between-commands");
    assert.equal((await sandbox().executeCommand("cat /tmp/between-commands")).stdout, "kept\n");
  });

  test("five_thousand_lines_arrive_complete_and_in_order", async () => {
    const { stdout } = await sandbox().executeCommand("seq 5000");
    assert.equal(stdout, `${Array.from({ length: 5000 }, (_, i) => i + 1).join("\n")}\n`);
  });

  test("output_is_streamed_while_the_command_runs", async () => {
    const seen: string[] = [];
    let sawFirst!: () => void;
    const first = new Promise<void>((resolve) => {
      sawFirst = resolve;
    });
    // The command ends only when the file appears, which is made after its first line was seen here.
    const running = sandbox().executeCommand(
      "rm -f go; echo one; echo two >&2; until [ -e go ]; do sleep 0.05; done; echo three",
      [],
      {
        onStdout: (text) => {
          seen.push(text);
          sawFirst();
        },
        onStderr: (text) => seen.push(`err:${text}`),
      },
    );
    await first;
    await sandbox().executeCommand("touch go");
    const result = await running;
    assert.equal(seen.filter((text) => !text.startsWith("err:")).join(""), "one\nthree\n");
    assert(seen.includes("err:two\n"));
    assert.equal(result.stdout, "one\nthree\n");
  });

  test("commands_start_in_the_workspace_or_where_they_are_told", async () => {
    await sandbox().executeCommand("mkdir -p /workspace/sub/deep");
    const pwd = async (cwd?: string) => (await sandbox().executeCommand("pwd", [], { cwd })).stdout.trim();
    assert.equal(await pwd(), "/workspace");
    assert.equal(await pwd(), sandbox().workingDirectory);
    assert.equal(await pwd("/tmp"), "/tmp");
    assert.equal(await pwd("sub/deep"), "/workspace/sub/deep");
    const home = (await sandbox().executeCommand("echo ~")).stdout.trim();
    assert.equal(await pwd("~"), home);
  });

  test("a_missing_directory_is_a_clear_error", async () => {
    await assert.rejects(sandbox().executeCommand("pwd", [], { cwd: "/no/such/dir" }), (error: Error) => {
      assert.match(error.message, /cwd/);
      assert.match(error.message, /\/no\/such\/dir/);
      return true;
    });
  });

  test("environment_of_a_call_reaches_the_command", async () => {
    const env = {
      PLAIN: "v",
      SPACES: "a b  c",
      QUOTES: `'"\`$x`,
      LINES: "1\n2",
      UNICODE: "☕",
      EMPTY: "",
      UNSET: undefined,
    };
    const names = ["PLAIN", "SPACES", "QUOTES", "LINES", "UNICODE", "EMPTY"] as const;
    const script = `${names.map((name) => `printf '[%s]' "$${name}"`).join(";")}; printf '%s' "\${UNSET-none}"`;
    const { stdout } = await sandbox().executeCommand(script, [], { env });
    assert.equal(stdout, `${names.map((name) => `[${env[name]}]`).join("")}none`);
  });

  test("an_environment_name_that_is_none_is_refused_before_anything_runs", async () => {
    const env = { "A; touch /workspace/injected; B": "x" };
    await assert.rejects(sandbox().executeCommand("true", [], { env }), TypeError);
    assert.equal((await sandbox().executeCommand("ls injected")).success, false);
  });

  test("commands_run_side_by_side", async () => {
    const results = await parallel(5, 5, (i) => sandbox().executeCommand(`echo ${i}; exit ${i % 2}`));
    results.forEach((result, i) => {
      assert.deepEqual([result.stdout, result.exitCode], [`${i}\n`, i % 2]);
    });
  });

  test("O1_characters_cut_between_chunks_are_put_together", async () => {
    const text = "日本語☕😀".repeat(40);
    const bytes = Buffer.from(text).toString("base64");
    const script = `echo ${bytes} | base64 -d > chars; for i in $(seq 0 ${Buffer.byteLength(text) - 1}); do dd if=chars bs=1 skip=$i count=1 status=none; done`;
    let streamed = "";
    const { stdout } = await sandbox().executeCommand(script, [], {
      onStdout: (piece) => {
        assert(!piece.includes("\uFFFD"), "a piece holds a broken character");
        streamed += piece;
      },
    });
    assert.equal(stdout, text);
    assert.equal(streamed, text);
  });

  test("a_throwing_listener_ends_the_command_and_is_told", async () => {
    const mistake = new Error("listener mistake");
    const onStdout = () => {
      throw mistake;
    };
    await assert.rejects(sandbox().executeCommand("echo x; sleep 60", [], { onStdout }), mistake);
  });

  test("ordinary_devices_work", async () => {
    const { stdout } = await sandbox().executeCommand(": > /dev/null && head -c 4 /dev/zero | wc -c && echo $((1+1))");
    assert.deepEqual(stdout.split(/\s+/).filter(Boolean), ["4", "2"]);
  });
});

test("environment_of_the_sandbox_is_inherited_and_overridden", async () => {
  await withSandbox({ env: { FROM_BOX: "box", BOTH: "box" } }, async (sandbox) => {
    const both = await sandbox.executeCommand('echo "$FROM_BOX $BOTH $CALL"', [], {
      env: { BOTH: "call", CALL: "call" },
    });
    assert.equal(both.stdout, "box call call\n");
    assert.equal((await sandbox.executeCommand('echo "$BOTH"')).stdout, "box\n");
    sandbox.setEnv((env) => ({ ...env, LATER: "set" }));
    assert.equal((await sandbox.executeCommand('echo "$LATER $FROM_BOX"')).stdout, "set box\n");
    assert.deepEqual(sandbox.getEnv(), { FROM_BOX: "box", BOTH: "box", LATER: "set" });
  });
});

test("a_plain_shell_can_be_asked_for", async () => {
  await withSandbox({ shell: "plain", workingDirectory: "/tmp" }, async (sandbox) => {
    const { stdout } = await sandbox.executeCommand("shopt -q login_shell && echo login || echo plain; pwd");
    assert.equal(stdout, "plain\n/tmp\n");
  });
});
