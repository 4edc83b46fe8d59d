import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The version of nats-server that `scripts/nats_server.sh` fetches. */
export const NATS_SERVER_VERSION = '2.15.1';

/**
 * Returns the path of the server program: the program that `TICKSEAL_NATS_SERVER` names, or the program that
 * `scripts/nats_server.sh` has fetched. Returns `undefined` when the file does not exist.
 */
export function findNatsServer(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const cache = env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const binary = env['TICKSEAL_NATS_SERVER'] || join(cache, 'tickseal', `nats-server-${NATS_SERVER_VERSION}`);
  return existsSync(binary) ? binary : undefined;
}
