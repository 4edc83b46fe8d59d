import { constants } from 'node:fs';
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises';

/**
 * A file that a command writes. It receives its name only when it is whole, so a failed command leaves the earlier file. An output that is
 * no regular file, such as `/dev/stdout` or a pipe, is written directly.
 */
export class OutputFile {
  readonly #handle: FileHandle;
  /** The path of the file, and its path until it is whole; `undefined` for an output that is no regular file. */
  readonly #paths: { readonly target: string; readonly partial: string } | undefined;

  private constructor(handle: FileHandle, paths?: { readonly target: string; readonly partial: string }) {
    this.#handle = handle;
    this.#paths = paths;
  }

  /** @throws Error when the path is empty or names a folder, and when the system refuses */
  static async open(path: string): Promise<OutputFile> {
    if (path === '') throw new Error('the output has no name');
    if (path === '-') throw new Error('the output has no name; /dev/stdout is the standard output');
    const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw cannotBeWritten(path, error);
    });
    if (found?.isDirectory()) throw new Error(`${path} is a folder`);
    if (found !== undefined && !found.isFile()) return new OutputFile(await open(path, constants.O_WRONLY));
    // The name may be a link, which stays.
    const target = found === undefined ? path : await realpath(path);
    const partial = `${target}.${process.pid}.partial`;
    const handle = await open(partial, 'w').catch((error: NodeJS.ErrnoException) => {
      throw cannotBeWritten(path, error);
    });
    return new OutputFile(handle, { target, partial });
  }

  /** True for an output that can be written again from its beginning. */
  get isRegular(): boolean {
    return this.#paths !== undefined;
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#handle.writeFile(bytes);
  }

  /** Gives the whole file its name. */
  async finish(): Promise<void> {
    if (this.#paths !== undefined) await this.#handle.sync();
    await this.#handle.close();
    if (this.#paths !== undefined) await rename(this.#paths.partial, this.#paths.target);
  }

  /** Removes a file that is not whole. */
  async drop(): Promise<void> {
    await this.#handle.close().catch(() => {});
    if (this.#paths !== undefined) await rm(this.#paths.partial, { force: true });
  }
}

/** Describes why a file cannot be made, in plain words. */
function cannotBeWritten(path: string, error: NodeJS.ErrnoException): Error {
  const reason = REASONS[error.code ?? ''] ?? error.message;
  return new Error(`${path} cannot be written: ${reason}`, { cause: error });
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist; make it first (mkdir -p)',
  ENOTDIR: 'something above it is not a folder; choose another path',
  EACCES: 'this user may not write in its folder; choose another one',
  EROFS: 'the file system is read-only; choose another folder',
};
