import { setTimeout } from 'node:timers/promises';
import type { ForeignFault } from '../../client/connect/answer_limit.js';
import { boundedFetch } from '../../client/connect/bounded_fetch.js';
import type { ReadLogFile } from '../../client/verify/served_log.js';

/** The time limit of a file. A batch of records may have 64 MiB. */
const FILE_MS_MAX = 30_000;
/** The number of requests for a file while the service limits the rate, and the longest pause between two. */
const ATTEMPTS_MAX = 3;
const PAUSE_S_MAX = 10;

/** Returns a reader of the files below an address. While the service limits the rate, it waits as `Retry-After` says. */
export function logFileReader(address: string, signal: AbortSignal): ReadLogFile {
  return async (path, bytesMax) => {
    try {
      for (let attempt = 1; ; attempt += 1) {
        const answer = await boundedFetch({
          url: address + path,
          answerMsMax: FILE_MS_MAX,
          // An audit reads many files at once, and a listener of each on one signal would look like a leak.
          signal: AbortSignal.any([signal]) as never,
        });
        const { status, headers } = answer;
        if (status === 200) return await answer.wholeBytes(bytesMax);
        answer.close();
        if (status === 404 || status === 410) return undefined;
        const pauseS = status === 429 ? Number(headers.get('retry-after') ?? Number.NaN) : Number.NaN;
        if (attempt === ATTEMPTS_MAX || !(pauseS >= 0 && pauseS <= PAUSE_S_MAX))
          throw new Error(`the answer is ${status}`);
        await setTimeout(pauseS * 1_000, undefined, { signal: AbortSignal.any([signal]) });
      }
    } catch (error) {
      const { message, networkError } = error as ForeignFault;
      throw new Error(`${path} cannot be read: ${networkError?.code ?? message}`, { cause: error });
    }
  };
}
