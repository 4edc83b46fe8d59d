import { fileURLToPath } from 'node:url';
import { type ServerProcess, type StartOptions, startServer } from '../../scripts/load/server_process.js';

/** Starts a server of this folder in a separate process. */
export function startPeer(
  name: string,
  args: readonly string[] = [],
  start: StartOptions = {},
): Promise<ServerProcess> {
  return startServer([fileURLToPath(new URL(`./${name}.js`, import.meta.url))], args, start);
}
