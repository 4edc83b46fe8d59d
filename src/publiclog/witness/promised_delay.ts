import type { ReadLogFile } from '../../client/verify/served_log.js';
import { REST_PATHS } from '../../wire/paths.js';

const SIGNERS_BYTES_MAX = 1024 * 1024;
/** The longest promise that counts. A service that promises more does not get more time. */
const PROMISE_S_MAX = 7_200;

/**
 * Reads the delay that a service promises for its log.
 * @param read reads a path of the service
 * @param isOfPayloads true for the log of streaming payloads
 * @returns `undefined` when the service promises no delay
 */
export async function promisedDelayMs(read: ReadLogFile, isOfPayloads: boolean): Promise<number | undefined> {
  try {
    const bytes = await read(REST_PATHS.signers, SIGNERS_BYTES_MAX);
    const answer = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, { max_delay?: unknown }>;
    const delayS = Number(answer[isOfPayloads ? 'stream_log' : 'log']?.max_delay);
    return delayS > 0 ? Math.min(delayS, PROMISE_S_MAX) * 1_000 : undefined;
  } catch {
    return undefined;
  }
}
