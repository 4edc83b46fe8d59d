import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** The command that records calls. With -D, the server stays the child of this process, and strace ends with the server. */
const STRACE = 'strace -D -f --seccomp-bpf -qq -y -s 0 -e signal=none -e';
const CALLS = 'openat,write,pwrite64,writev,pwritev,ftruncate,fsync,fdatasync,renameat,renameat2,unlinkat';

/** The power of message servers, which a fault can cut. The servers run under strace. Linux only. */
export class ServerPower {
  readonly #files: SyncedFiles[] = [];

  /** Returns the reason why this machine cannot record the system calls of a server. */
  static missing(): string | undefined {
    const { error } = spawnSync('strace', ['-V'], { stdio: 'ignore' });
    return error && 'no strace, which records the synced bytes of the NATS servers';
  }

  /** Begins to record, and returns the command that starts a server. @param folder the folder with the server's files */
  command(server: number, folder: string): readonly string[] {
    this.#files[server] ??= new SyncedFiles(folder);
    return this.#files[server].command();
  }

  /**
   * Removes the bytes that a server, which has ended, did not sync.
   * @param kept the share of these bytes that reached the disk, from 0 to 1
   */
  async cut(server: number, kept: () => number): Promise<void> {
    const lost = await this.#files[server]!.cut(kept);
    process.stderr.write(`  server ${server + 1} loses ${lost} bytes\n`);
  }
}

/** The state of a file: its size, and the size that is certainly on disk. */
interface Written {
  size: number;
  synced: number;
}

/**
 * Records which bytes of a server's files are synced. With this record, the check can simulate a loss of power: bytes without an
 * `fsync` are lost. The server runs under strace. The simulation keeps file names and overwritten bytes, as a real disk may do.
 */
class SyncedFiles {
  readonly #dir: string;
  readonly #pipe: string;
  #files = new Map<string, Written>();
  /** The handles of open files whose writes are on disk as soon as they return. */
  #syncedHandles = new Set<string>();
  /** The offsets of handles that write without an explicit offset. */
  #offsets = new Map<string, number>();
  /** The unfinished calls by thread. The next field has the sizes at the beginning of an `fsync`. */
  readonly #begun = new Map<string, string>();
  readonly #syncing = new Map<string, number>();
  #ended = Promise.resolve();

  /** @param dir the folder with the server's files */
  constructor(dir: string) {
    this.#dir = dir;
    this.#pipe = `${dir}.calls`;
    rmSync(this.#pipe, { force: true });
    execFileSync('mkfifo', [this.#pipe]);
  }

  /** Begins to record, and returns the command that starts the server. All existing files count as synced. */
  command(): readonly string[] {
    this.#files = new Map(filesIn(this.#dir).map((file) => [file, synced(statSync(file).size)]));
    this.#syncedHandles = new Set();
    this.#offsets = new Map();
    this.#begun.clear();
    this.#syncing.clear();
    // If this process opened the pipe itself, the pipe would block one of libuv's few threads.
    const { stdout } = spawn('cat', [this.#pipe], { stdio: ['ignore', 'pipe', 'ignore'] });
    const reader = createInterface({ input: stdout });
    reader.on('line', (line) => this.#take(line));
    this.#ended = new Promise((resolve) => reader.once('close', resolve));
    return [...STRACE.split(' '), `trace=${CALLS}`, '-o', this.#pipe];
  }

  /**
   * Cuts each file after its synced bytes. The server must not be running.
   * @param kept the share of the other bytes that reached the disk, from 0 to 1
   * @returns the number of lost bytes
   */
  async cut(kept: () => number): Promise<number> {
    await this.#ended;
    let lost = 0;
    for (const [file, { synced }] of this.#files) {
      if (!existsSync(file)) continue;
      const { size } = statSync(file);
      if (size <= synced) continue;
      const left = synced + Math.floor((size - synced) * kept());
      truncateSync(file, left);
      lost += size - left;
    }
    return lost;
  }

  #take(line: string): void {
    const [, thread, rest] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (thread === undefined || rest === undefined) return;
    if (rest.endsWith('<unfinished ...>')) {
      this.#begun.set(thread, rest.slice(0, -'<unfinished ...>'.length));
      this.#begins(thread, rest);
      return;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)?.[1];
    if (resumed === undefined) this.#begins(thread, rest);
    const whole = resumed === undefined ? rest : `${this.#begun.get(thread) ?? ''}${resumed}`;
    this.#begun.delete(thread);
    this.#ends(thread, whole);
  }

  #begins(thread: string, call: string): void {
    const file = /^f(?:data)?sync\(\d+<(.*?)>/.exec(call)?.[1];
    if (file !== undefined) this.#syncing.set(thread, this.#files.get(file)?.size ?? 0);
  }

  #ends(thread: string, call: string): void {
    const [, name, args, result] = /^(\w+)\((.*?) *\) += (-?\d+)/.exec(call) ?? [];
    if (name === undefined || args === undefined || Number(result) < 0) return;
    const [, handle = '', path = ''] = /^(\d+)<(.*?)>/.exec(args) ?? [];
    if (name === 'openat') this.#opened(call);
    else if (name.startsWith('rename')) this.#renamed(args);
    else if (name === 'unlinkat') this.#files.delete(pathsIn(args)[0] ?? '');
    else if (!path.startsWith(this.#dir)) return;
    else if (name === 'fsync' || name === 'fdatasync') this.#synced(path, this.#syncing.get(thread) ?? 0);
    else if (name === 'ftruncate') this.#truncated(path, Number(/(\d+)$/.exec(args)![1]));
    else this.#wrote(name, handle, path, args, Number(result));
  }

  #opened(call: string): void {
    const [, flags = '', handle = '', path = ''] = /", ([A-Z_|]+).* = (\d+)<(.*?)>/.exec(call) ?? [];
    if (!path.startsWith(this.#dir)) return;
    const flag = flags.split('|');
    this.#syncedHandles.delete(handle);
    if (flag.includes('O_SYNC') || flag.includes('O_DSYNC')) this.#syncedHandles.add(handle);
    if (flag.includes('O_TRUNC')) this.#files.set(path, synced(0));
    this.#offsets.set(handle, flag.includes('O_APPEND') ? (this.#files.get(path)?.size ?? 0) : 0);
  }

  #wrote(name: string, handle: string, path: string, args: string, length: number): void {
    const file = this.#files.get(path) ?? synced(0);
    const isPlaced = name.startsWith('p');
    const offset = isPlaced ? Number(/(\d+)$/.exec(args)![1]) : (this.#offsets.get(handle) ?? file.size);
    if (!isPlaced) this.#offsets.set(handle, offset + length);
    file.size = Math.max(file.size, offset + length);
    if (this.#syncedHandles.has(handle)) file.synced = file.size;
    this.#files.set(path, file);
  }

  #synced(path: string, size: number): void {
    const file = this.#files.get(path);
    if (file !== undefined) file.synced = Math.max(file.synced, Math.min(size, file.size));
  }

  #truncated(path: string, size: number): void {
    const before = this.#files.get(path) ?? synced(0);
    this.#files.set(path, { size, synced: Math.min(size, before.synced) });
  }

  #renamed(args: string): void {
    const [from = '', to = ''] = pathsIn(args);
    const file = this.#files.get(from);
    if (file === undefined) return;
    this.#files.delete(from);
    this.#files.set(to, file);
  }
}

function synced(size: number): Written {
  return { size, synced: size };
}

/** Returns the texts in quotation marks. */
function pathsIn(args: string): string[] {
  return [...args.matchAll(/"(.*?)"/g)].map(([, path]) => path!);
}

/** Returns all files in a folder and its subfolders. */
function filesIn(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
