import type { ForeignFault } from '../client/connect/answer_limit.js';
import { boundedFetch } from '../client/connect/bounded_fetch.js';
import type { ReadLogFile } from '../client/verify/served_log.js';

/** The time limit of a file. A batch of records may have 64 MiB. */
const FILE_MS_MAX = 30_000;

/** Returns a reader of the files below an address. */
export function logFileReader(address: string, signal: AbortSignal): ReadLogFile {
  return async (path, bytesMax) => {
    try {
      const answer = await boundedFetch({
        url: address + path,
        answerMsMax: FILE_MS_MAX,
        // An audit reads many files at once, and a listener of each on one signal would look like a leak.
        signal: AbortSignal.any([signal]) as never,
      });
      const { status } = answer;
      if (status === 200) return await answer.wholeBytes(bytesMax);
      answer.close();
      if (status === 404 || status === 410) return undefined;
      throw new Error(`the answer is ${status}`);
    } catch (error) {
      const { message, networkError } = error as ForeignFault;
      throw new Error(`${path} cannot be read: ${networkError?.code ?? message}`, { cause: error });
    }
  };
}
