import { type BigIntStats, closeSync, openSync, rmSync, statSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** The socket in the data folder whose listener owns the folder. */
const LOCK_NAME = 'owner.sock';

/**
 * The number of attempts to claim the folder after removing a dead owner's socket. More failed attempts show that other processes start
 * at the same time.
 */
const TAKEOVERS_MAX = 3;

/** The longest time that a living owner may take to hand the folder over. */
const HAND_OVER_MS_MAX = 30_000;
/** The longest time for which a process that handed over the folder waits until the next process serves. */
const SUCCESSION_MS_MAX = 10_000;
const RETRY_MS = 5;
/** The longest time between finding a dead owner and removing its socket. The two steps follow each other directly. */
const REMOVAL_MS_MAX = 50;

/**
 * The messages of the two processes on the socket. After these messages, the old process ends its side. The new process ends its side
 * when it serves.
 */
const TAKE_OVER = 'take over\n';
const RELEASED = 'released\n';

export interface FolderLock {
  /** True when another process had the folder, wrote all its records, and handed the folder over. */
  readonly isHandedOver: boolean;
  /** Sets the callback for the first request of another process for the folder. Before this call, the owner refuses such requests. */
  onTakeOver(callback: () => void): void;
  /**
   * Releases the folder. Only the first call has an effect.
   * @param isClean true if all records of this process are on disk
   */
  release(isClean: boolean): Promise<void>;
  /**
   * Resolves when the process that took the folder starts to serve, ends, or takes too long. Resolves immediately when no process
   * took the folder.
   */
  successorServes(): Promise<void>;
  /** Reports to the process that handed over the folder, if any, that this process serves. */
  tellServing(): void;
}

/**
 * Claims a folder for this process by listening on a socket inside the folder. The kernel ends the claim with the process, even after
 * `kill -9`, so the claim can never be stale. The claim also holds across containers that share the folder.
 * @param takeOver true to ask a living owner to hand the folder over
 * @throws Error when a living process has the folder
 */
export async function lockFolder(dir: string, takeOver = false): Promise<FolderLock> {
  const descriptor = openSync(dir, 'r');
  const path = pathIn(dir, descriptor);
  let predecessor: Socket | undefined;
  try {
    if (takeOver) predecessor = await askForFolder(path);
    for (let takeover = 0; takeover <= TAKEOVERS_MAX; takeover++) {
      const owner = await Owner.listen(path);
      if (owner === undefined) {
        if (await clearIfDead(path)) continue;
        break;
      }
      // After this process removed a dead socket, another process may have removed this process's socket by mistake.
      if (takeover === 0 || (await owner.isStillAt(path)))
        return new HeldFolder(owner, descriptor, predecessor);
      // The socket stays open, because closing it would remove the file that now has its path.
      break;
    }
  } catch (error) {
    predecessor?.destroy();
    closeSync(descriptor);
    throw error;
  }
  predecessor?.destroy();
  closeSync(descriptor);
  throw new Error('it is in use by another process: end that one, or choose another folder');
}

/** Returns whether a living process has claimed the folder. */
export function isFolderInUse(dir: string): Promise<boolean> {
  const descriptor = openSync(dir, 'r');
  return new Promise<boolean>((resolve) => {
    const socket = connect(pathIn(dir, descriptor));
    const answer = (isInUse: boolean) => {
      socket.destroy();
      resolve(isInUse);
    };
    socket.once('connect', () => answer(true));
    // If this process may not connect, a service of another user may have the folder.
    socket.once('error', ({ code }: NodeJS.ErrnoException) => answer(code === 'EACCES'));
  }).finally(() => closeSync(descriptor));
}

/**
 * Returns a short path, because a socket's path can have about 100 bytes at most. The path through the folder's descriptor is always
 * short.
 */
function pathIn(dir: string, descriptor: number): string {
  const folder = process.platform === 'linux' ? `/proc/self/fd/${descriptor}` : dir;
  return `${folder}/${LOCK_NAME}`;
}

class HeldFolder implements FolderLock {
  readonly #owner: Owner;
  readonly #descriptor: number;
  /** The connection to the process that handed the folder over. */
  readonly #predecessor: Socket | undefined;
  #released: Promise<void> | undefined;

  constructor(owner: Owner, descriptor: number, predecessor: Socket | undefined) {
    this.#owner = owner;
    this.#descriptor = descriptor;
    this.#predecessor = predecessor;
  }

  get isHandedOver(): boolean {
    return this.#predecessor !== undefined;
  }

  onTakeOver(callback: () => void): void {
    this.#owner.onTakeOver = callback;
  }

  release(isClean: boolean): Promise<void> {
    this.#predecessor?.destroy();
    this.#released ??= this.#owner.close(isClean).then(() => closeSync(this.#descriptor));
    return this.#released;
  }

  successorServes(): Promise<void> {
    return this.#owner.nextServes();
  }

  tellServing(): void {
    this.#predecessor?.end();
  }
}

/** The listener in a folder. */
class Owner {
  onTakeOver: (() => void) | undefined;
  readonly #server: Server;
  /** The connection of the process that will have the folder next. */
  #next: Socket | undefined;
  /** The file of the owner's socket in the folder. */
  #file: BigIntStats | undefined;

  private constructor() {
    this.#server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', (data) => {
        if (data.toString() !== TAKE_OVER || this.onTakeOver === undefined || this.#next !== undefined) {
          socket.destroy();
          return;
        }
        this.#next = socket;
        this.onTakeOver();
      });
    });
  }

  /** @returns `undefined` when another process already listens */
  static listen(path: string): Promise<Owner | undefined> {
    return new Promise((resolve, reject) => {
      const owner = new Owner();
      owner.#server.once('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'EADDRINUSE') resolve(undefined);
        else reject(error);
      });
      owner.#server.listen(path, () => {
        owner.#server.unref();
        resolve(owner);
      });
      // The file exists now, or an error event follows.
      owner.#file = fileAt(path);
    });
  }

  /**
   * Returns whether the path still leads to this socket. The function first waits for the time in which another process may still
   * remove a dead owner's socket.
   */
  async isStillAt(path: string): Promise<boolean> {
    await new Promise((resolve) => setTimeout(resolve, REMOVAL_MS_MAX));
    return isSame(fileAt(path), this.#file);
  }

  close(isClean: boolean): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const next = this.#next;
    if (next === undefined) return closed;
    // From here on, no process listens, so the next owner can listen. Node counts the server as open while the connection to the
    // next owner is open.
    if (isClean) return new Promise((resolve) => next.end(RELEASED, resolve));
    next.destroy();
    return closed;
  }

  nextServes(): Promise<void> {
    const next = this.#next;
    if (next === undefined || next.closed) return Promise.resolve();
    return new Promise((resolve) => {
      next.resume().setTimeout(SUCCESSION_MS_MAX, () => next.destroy());
      next.once('close', () => resolve());
    });
  }
}

/**
 * Requests the folder. Resolves when no living process has the folder, or when the folder's owner refuses.
 * @returns the open connection to a process that had the folder and wrote all its records
 */
async function askForFolder(path: string): Promise<Socket | undefined> {
  const socket = connect({ path, allowHalfOpen: true });
  socket.setTimeout(HAND_OVER_MS_MAX, () => socket.destroy());
  let answer = '';
  await new Promise<void>((resolve) => {
    socket.once('connect', () => socket.write(TAKE_OVER));
    socket.on('data', (data) => {
      answer += data.toString();
    });
    socket.on('error', () => {});
    socket.once('end', resolve);
    socket.once('close', () => resolve());
  });
  if (answer !== RELEASED) {
    socket.destroy();
    return undefined;
  }
  socket.setTimeout(0);
  // The kernel may show the old listener for a short time.
  await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  return socket;
}

/** Removes the socket when no process listens on the socket, unless another socket already has the same path. */
function clearIfDead(path: string): Promise<boolean> {
  const found = fileAt(path);
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      const isDead = error.code === 'ECONNREFUSED';
      if (isDead && found !== undefined && isSame(fileAt(path), found)) rmSync(path, { force: true });
      resolve(isDead || error.code === 'ENOENT');
    });
  });
}

function fileAt(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}

/** Compares files. The inode number alone is not enough, because a later file may have the number of a removed file. */
function isSame(one: BigIntStats | undefined, other: BigIntStats | undefined): boolean {
  return one !== undefined && one.ino === other?.ino && one.ctimeNs === other.ctimeNs;
}
