import { closeSync, openSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';

/** The socket in the data folder whose listener owns the folder. */
const LOCK_NAME = 'owner.sock';

/** A dead owner's socket is cleared away and tried again; more than a few rounds means others are starting as well. */
const TAKEOVERS_MAX = 3;

/**
 * Claims a folder for this process by listening on a socket inside it. The kernel ends the claim with the process, also
 * after `kill -9`, so there is no process number to go stale and it holds across containers that share the folder.
 * @returns what gives the folder back.
 * @throws Error when a living process has it.
 */
export async function lockFolder(dir: string): Promise<() => Promise<void>> {
  // A socket's path holds about 100 bytes; the one through the folder's descriptor is short however deep the folder is.
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

/** Removes the socket when nobody listens on it, in the turn that finds out, so that no new owner's is removed. */
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
