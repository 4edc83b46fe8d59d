import { closeSync, openSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';

/** The socket in the data folder whose listener owns the folder. */
const LOCK_NAME = 'owner.sock';

/** How often a dead owner's socket is removed and the claim tried again. More rounds mean that other processes start too. */
const TAKEOVERS_MAX = 3;

/**
 * Claims a folder for this process by listening on a socket inside it. The kernel ends the claim with the process, also
 * after `kill -9`, so no process number can become stale, and the claim holds across containers that share the folder.
 * @returns a function that releases the folder.
 * @throws Error when a living process has it.
 */
export async function lockFolder(dir: string): Promise<() => Promise<void>> {
  // A socket's path has about 100 bytes at most. The path through the folder's descriptor is always short.
  const descriptor = openSync(dir, 'r');
  const folder = process.platform === 'linux' ? `/proc/self/fd/${descriptor}` : dir;
  const path = `${folder}/${LOCK_NAME}`;
  try {
    for (let takeover = 0; takeover <= TAKEOVERS_MAX; takeover++) {
      const server = await listen(path);
      if (server !== undefined) return () => release(server, descriptor);
      if (await clearIfDead(path)) continue;
      break;
    }
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  closeSync(descriptor);
  throw new Error('it is in use by another process');
}

function listen(path: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(path, () => resolve(server.unref()));
  });
}

/** Removes the socket when no process listens on it, in the same turn of the event loop, so a new owner keeps its own. */
function clearIfDead(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      const isDead = error.code === 'ECONNREFUSED' || error.code === 'ENOENT';
      if (isDead) rmSync(path, { force: true });
      resolve(isDead);
    });
  });
}

function release(server: Server, descriptor: number): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      closeSync(descriptor);
      resolve();
    });
  });
}
