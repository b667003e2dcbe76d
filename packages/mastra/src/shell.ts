// SPDX-License-Identifier: Apache-2.0
// How a Mastra command line becomes the argv of a guest process.

/** `login` reads the guest's profile first (`bash -lc`), `plain` does not (`bash -c`). */
export type ShellMode = "login" | "plain";

/** A command line is always run by a shell, so that pipes, redirects and `&&` mean what they look like. */
export function shellArgv(mode: ShellMode, commandLine: string): string[] {
  return ["bash", mode === "login" ? "-lc" : "-c", commandLine];
}

/** Joins command and arguments the way Mastra does: the command is shell text, each argument is one word. */
export function commandLine(command: string, args: readonly string[] = []): string {
  return args.length > 0 ? `${command} ${args.map(quoteArgument).join(" ")}` : command;
}

function quoteArgument(argument: string): string {
  return /^[A-Za-z0-9._\-/=:@]+$/.test(argument) ? argument : quote(argument);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Carries an environment inside the command line, for servers that cannot take it as a field.
 * Names must be validated by the caller; values are quoted here.
 */
export function exportPrefix(env: Readonly<Record<string, string>> = {}): string {
  return Object.entries(env)
    .map(([name, value]) => `export ${name}=${quote(value)}; `)
    .join("");
}

const EXPORT_PREFIX = /^(?:export [A-Za-z_][A-Za-z0-9_]*='(?:[^']|'\\'')*'; )+/;

/** The command as its author wrote it: without the shell around it and without a carried environment. */
export function displayCommand(argv: readonly string[]): string {
  const [shell, flag, text] = argv;
  const isShellLine = argv.length === 3 && shell === "bash" && (flag === "-lc" || flag === "-c");
  return isShellLine ? (text as string).replace(EXPORT_PREFIX, "") : argv.join(" ");
}
