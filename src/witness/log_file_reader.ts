import type { ReadLogFile } from '../client/verify/served_log.js';

const ANSWER_MS_MAX = 30_000;

/** Returns a reader of the files below an address. */
export function logFileReader(address: string, signal: AbortSignal): ReadLogFile {
  return async (path, bytesMax) => {
    const timeout = AbortSignal.timeout(ANSWER_MS_MAX);
    try {
      const response = await fetch(`${address}${path}`, { signal: AbortSignal.any([timeout, signal]) });
      if (response.status === 404 || response.status === 410) {
        await response.body?.cancel();
        return undefined;
      }
      if (!response.ok) throw new Error(`the answer is ${response.status}`);
      const chunks: Uint8Array[] = [];
      let size = 0;
      for await (const chunk of response.body ?? []) {
        size += chunk.length;
        if (size > bytesMax) throw new Error(`it has more than ${bytesMax} bytes`);
        chunks.push(chunk);
      }
      return Buffer.concat(chunks);
    } catch (error) {
      const { cause, message } = error as Error & { cause?: NodeJS.ErrnoException };
      throw new Error(`${path} cannot be read: ${timeout.aborted ? 'no answer' : (cause?.code ?? message)}`, {
        cause: error,
      });
    }
  };
}
