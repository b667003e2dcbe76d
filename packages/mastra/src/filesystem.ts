// SPDX-License-Identifier: Apache-2.0
// InisFilesystem: the files of a session as a Mastra file system, so that an agent's file tools and its commands work
// on the same disk.
//
// Everything goes through the sandbox of the session, which starts it when it is first needed and replaces it when it
// is lost. Nothing is kept here: what a command changes is seen at once.

import { posix } from "node:path";
import type { FileStat as Entry, Session } from "@inis-run/sdk";
import {
  type CopyOptions,
  DirectoryNotFoundError,
  type FileContent,
  type FileEntry,
  FileExistsError,
  FileNotFoundError,
  type FileStat,
  type FilesystemInfo,
  IsDirectoryError,
  type ListOptions,
  MastraFilesystem,
  NotDirectoryError,
  type ReadOptions,
  type RemoveOptions,
  StaleFileError,
  WorkspaceReadOnlyError,
  type WriteOptions,
} from "@mastra/core/workspace";
import { copyFailed, isMissing, refusalOf, toFileError } from "./filesystem-errors.js";
import { type GrepOptions, type GrepResult, grep } from "./filesystem-grep.js";
import { isInside, relativeTo, resolvePath, WORKSPACE } from "./filesystem-paths.js";
import { tree } from "./filesystem-tree.js";
import type { InisSandboxOptions } from "./options.js";
import { InisSandbox } from "./sandbox.js";
import { writeFiles } from "./write-files.js";

/** The most that one read, and one write, may carry. */
const READ_MAX = 4 * 1024 * 1024;
const WRITE_MAX = 8 * 1024 * 1024;

type Status = MastraFilesystem["status"];

export interface InisFilesystemOptions extends Pick<InisSandboxOptions, "client" | "apiKey" | "baseUrl"> {
  /** The sandbox whose commands are to see the same files. */
  sandbox?: InisSandbox;
  /** Instead: the session, or its id. It is never paused or deleted. */
  session?: InisSandboxOptions["session"];
  id?: string;
  /** Refuse everything that changes a file. */
  readOnly?: boolean;
}

/**
 * The files of an Inis session.
 *
 * @example
 * ```ts
 * const sandbox = new InisSandbox();
 * const workspace = new Workspace({ sandbox, filesystem: new InisFilesystem({ sandbox }) });
 * ```
 */
export class InisFilesystem extends MastraFilesystem {
  readonly id: string;
  readonly name = "InisFilesystem";
  readonly provider = "inis";
  readonly readOnly: boolean;
  status: Status = "pending";
  readonly #sandbox: InisSandbox;

  constructor(options: InisFilesystemOptions) {
    super({ name: "InisFilesystem" });
    const { sandbox, session, client, apiKey, baseUrl } = options;
    if ((sandbox === undefined) === (session === undefined)) throw new TypeError("give either a sandbox or a session");
    this.#sandbox = sandbox ?? new InisSandbox({ session, client, apiKey, baseUrl });
    this.id = options.id ?? `${this.#sandbox.id}-files`;
    this.readOnly = options.readOnly ?? false;
  }

  async readFile(path: string, options?: ReadOptions): Promise<string | Buffer> {
    const at = resolvePath(path, "read");
    const content = await this.#do({ name: "read", path, expects: "file" }, (session) => readWhole(session, at));
    return options?.encoding ? content.toString(options.encoding) : content;
  }

  /** Makes missing directories, unless `recursive` is false. Replaces the file in one step. */
  async writeFile(path: string, content: FileContent, options: WriteOptions = {}): Promise<void> {
    const at = this.#writable(path, "write");
    await this.#do({ name: "write", path, expects: "file" }, async (session) => {
      if (options.recursive === false) await requireParent(session, at);
      if (options.overwrite === false && (await lookAt(session, at))) throw new FileExistsError(path);
      if (options.expectedMtime) await requireUnchanged(session, at, path, options.expectedMtime);
      await write(session, at, content);
    });
  }

  /** Reads and writes the file: what a command adds in between is lost. */
  async appendFile(path: string, content: FileContent): Promise<void> {
    const at = this.#writable(path, "append");
    await this.#do({ name: "append", path, expects: "file" }, async (session) => {
      const present = (await lookAt(session, at)) ? await readWhole(session, at) : Buffer.alloc(0);
      await write(session, at, Buffer.concat([present, Buffer.from(content as Uint8Array)]));
    });
  }

  async deleteFile(path: string, options: RemoveOptions = {}): Promise<void> {
    const at = this.#writable(path, "delete");
    await this.#do({ name: "delete", path, expects: "file" }, async (session) => {
      const entry = await lookAt(session, at);
      if (!entry && options.force) return;
      if (!entry) throw new FileNotFoundError(path);
      if (entry.type === "directory") throw new IsDirectoryError(path);
      await session.remove(at);
    });
  }

  /** Within the session. A file onto itself, by whatever names, stays as it is. */
  async copyFile(src: string, dest: string, options: CopyOptions = {}): Promise<void> {
    const from = resolvePath(src, "copy");
    const to = this.#writable(dest, "copy");
    await this.#do({ name: "copy", path: src, expects: "file" }, async (session) => {
      const source = await lookAt(session, from);
      if (!source) throw new FileNotFoundError(src);
      if (source.type === "directory" && !options.recursive) throw new IsDirectoryError(src);
      await this.#checkTarget(session, source, to, dest, options);
      if (from === to) return;
      await session.mkdir(posix.dirname(to));
      const { exitCode, stderr } = await session.exec(["cp", "-RT", "--preserve=mode", "--", from, to]);
      if (exitCode !== 0 && !/are the same file/.test(stderr)) throw copyFailed(src, stderr.trim());
    });
  }

  /** In one step. Onto itself, by whatever names, it stays as it is. */
  async moveFile(src: string, dest: string, options: CopyOptions = {}): Promise<void> {
    const from = this.#writable(src, "move");
    const to = this.#writable(dest, "move");
    await this.#do({ name: "move", path: src, expects: "file" }, async (session) => {
      const source = await lookAt(session, from);
      if (!source) throw new FileNotFoundError(src);
      await this.#checkTarget(session, source, to, dest, options);
      if (from !== to) await session.rename(from, to);
    });
  }

  /** Makes those above it too, unless `recursive` is false; one that exists is fine. */
  async mkdir(path: string, options: { recursive?: boolean } = {}): Promise<void> {
    const at = this.#writable(path, "mkdir");
    await this.#do({ name: "mkdir", path, expects: "directory" }, async (session) => {
      if (options.recursive === false) await requireParent(session, at);
      await session.mkdir(at);
    });
  }

  async rmdir(path: string, options: RemoveOptions = {}): Promise<void> {
    const at = this.#writable(path, "rmdir");
    await this.#do({ name: "rmdir", path, expects: "directory" }, async (session) => {
      const entry = await lookAt(session, at);
      if (!entry && options.force) return;
      if (!entry) throw new DirectoryNotFoundError(path);
      if (entry.type !== "directory") throw new NotDirectoryError(path);
      await session.remove(at, { recursive: options.recursive });
    });
  }

  /** One request for up to 10 000 entries. Names of a recursive listing are paths below the directory. */
  async readdir(path: string, options: ListOptions = {}): Promise<FileEntry[]> {
    const { recursive, extension, maxDepth } = options;
    const entries = await this.#tree(path, { maxDepth: recursive ? maxDepth : 1 });
    const extensions = extension === undefined ? undefined : [extension].flat().map((e) => e.replace(/^\.?/, "."));
    const wanted = (entry: Entry) =>
      entry.type === "directory" || !extensions || extensions.includes(posix.extname(entry.path));
    return entries.list.filter(wanted).map((entry) => toFileEntry(entry, relativeTo(entries.root, entry.path)));
  }

  /** Everything below a directory, in as few requests as possible; paths are relative to it. */
  async walk(
    path: string,
    options: { maxDepth?: number; includeHidden?: boolean } = {},
  ): Promise<(FileEntry & { path: string })[]> {
    const { maxDepth, includeHidden = false } = options;
    const { root, list } = await this.#tree(path, { maxDepth, noHidden: !includeHidden });
    return list.map((entry) => ({
      ...toFileEntry(entry, posix.basename(entry.path)),
      path: relativeTo(root, entry.path),
    }));
  }

  /** Searches in the session. Patterns that are not of RE2's syntax are left to Mastra. */
  async grep(options: GrepOptions): Promise<GrepResult[]> {
    const at = resolvePath(options.path, "grep");
    return this.#do({ name: "grep", path: options.path }, (session) => grep(session, at, options));
  }

  async exists(path: string): Promise<boolean> {
    const at = resolvePath(path, "exists");
    return this.#do({ name: "exists", path }, async (session) => (await lookAt(session, at)) !== undefined);
  }

  async stat(path: string): Promise<FileStat> {
    const at = resolvePath(path, "stat");
    return this.#do({ name: "stat", path }, async (session) => {
      const { type, sizeBytes, mtime } = await target(session, await session.stat(at));
      const directory = type === "directory";
      return {
        name: posix.basename(at),
        path: at,
        type: directory ? "directory" : "file",
        size: directory ? 0 : sizeBytes,
        createdAt: new Date(mtime),
        modifiedAt: new Date(mtime),
      };
    });
  }

  getInfo(): FilesystemInfo {
    const { id, name, provider, readOnly, status } = this;
    return { id, name, provider, readOnly, status, metadata: { sandboxId: this.#sandbox.id } };
  }

  getInstructions(): string {
    const rights = this.readOnly ? " They are read-only for the file tools." : "";
    return (
      `Files are those of the sandbox, below ${WORKSPACE}: commands and file tools see the same. ` +
      `Paths are relative to ${WORKSPACE}, or begin with it.${rights}`
    );
  }

  async #tree(
    path: string,
    options: { maxDepth?: number; noHidden?: boolean },
  ): Promise<{ root: string; list: Entry[] }> {
    const root = resolvePath(path, "list");
    const operation = { name: "list", path, expects: "directory" } as const;
    return { root, list: await this.#do(operation, (session) => tree(session, root, options)) };
  }

  #writable(path: string, operation: string): string {
    if (this.readOnly) throw new WorkspaceReadOnlyError(operation);
    return resolvePath(path, operation);
  }

  /** Where something is to be copied or moved to. */
  async #checkTarget(session: Session, source: Entry, to: string, dest: string, options: CopyOptions): Promise<void> {
    if (options.overwrite === false && (await lookAt(session, to))) throw new FileExistsError(dest);
    if (source.type === "directory" && source.path !== to && isInside(source.path, to)) {
      throw copyFailed(dest, "a directory cannot be put into itself");
    }
  }

  async #do<T>(
    operation: { name: string; path: string; expects?: "file" | "directory" },
    work: (session: Session) => Promise<T>,
  ): Promise<T> {
    try {
      return await this.#sandbox.request(work);
    } catch (error) {
      throw toFileError(error, operation);
    }
  }
}

/** What is there, a link itself; undefined: nothing. */
async function lookAt(session: Session, path: string): Promise<Entry | undefined> {
  try {
    return { ...(await session.stat(path)), path };
  } catch (error) {
    if (isMissing(toFileError(error, { name: "stat", path }))) return undefined;
    throw error;
  }
}

/** What a link leads to, or the link itself when that is nowhere in the workspace. */
async function target(session: Session, entry: Entry): Promise<Entry> {
  if (entry.type !== "symlink") return entry;
  const { exitCode, stdout } = await session.exec(["realpath", "-ez", "--", entry.path]);
  const path = stdout.replace(/\0$/, "");
  return exitCode === 0 && isInside(WORKSPACE, path) ? session.stat(path) : entry;
}

async function readWhole(session: Session, path: string): Promise<Buffer> {
  try {
    return Buffer.from(await session.readFile(path, "base64"));
  } catch (error) {
    if (refusalOf(error)?.code !== "payload_too_large") throw error;
  }
  const pieces: Uint8Array[] = [];
  for (let offset = 0; ; offset += READ_MAX) {
    const piece = await session.readFile(path, "base64", { offset, length: READ_MAX });
    pieces.push(piece);
    if (piece.length < READ_MAX) return Buffer.concat(pieces);
  }
}

async function write(session: Session, path: string, content: FileContent): Promise<void> {
  const bytes = Buffer.from(content as Uint8Array);
  if (bytes.length <= WRITE_MAX) await session.writeFile(path, bytes);
  else await writeFiles(session, [{ path, content: bytes }]);
}

async function requireParent(session: Session, path: string): Promise<void> {
  const parent = posix.dirname(path);
  const entry = await lookAt(session, parent);
  if (!entry) throw new DirectoryNotFoundError(parent);
}

async function requireUnchanged(session: Session, at: string, path: string, expected: Date): Promise<void> {
  const entry = await lookAt(session, at);
  const actual = entry && new Date((await target(session, entry)).mtime);
  if (actual && actual.getTime() !== expected.getTime()) throw new StaleFileError(path, expected, actual);
}

function toFileEntry({ type, sizeBytes }: Entry, name: string): FileEntry {
  if (type === "directory") return { name, type };
  return { name, type: "file", size: sizeBytes, ...(type === "symlink" && { isSymlink: true }) };
}
