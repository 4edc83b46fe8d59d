import { fileURLToPath } from 'node:url';
import { type ServerProcess, type StartOptions, startServer } from '../../scripts/load/server_process.js';

/** Starts a server of this folder in a separate process. */
export function startPeer(name: string, ...args: string[]): Promise<ServerProcess> {
  return startPeerWith({}, name, ...args);
}

/** Starts a server of this folder in a separate process with additional options. */
export function startPeerWith(start: StartOptions, name: string, ...args: string[]): Promise<ServerProcess> {
  return startServer([fileURLToPath(new URL(`./${name}.js`, import.meta.url))], args, start);
}
