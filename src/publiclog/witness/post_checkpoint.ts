import { setTimeout } from 'node:timers/promises';
import type { ForeignFault } from '../../client/connect/answer_limit.js';
import { boundedFetch } from '../../client/connect/bounded_fetch.js';
import { type PostToWitness, WITNESS_ANSWER_BYTES_MAX } from '../../tlog/witness_line.js';

const HEADERS = { 'Content-Type': 'text/plain; charset=utf-8', 'User-Agent': 'tickseal' };

/** Sends a request to a witness over HTTP. */
export const postCheckpoint: PostToWitness = async (url, body, signal) => {
  try {
    const answer = await boundedFetch({ url, body, headers: HEADERS, signal: signal as never });
    const retryAfter = answer.headers.get('Retry-After') ?? '';
    const retryAfterS = /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : undefined;
    const bytes = await answer.wholeBytes(WITNESS_ANSWER_BYTES_MAX);
    return { status: answer.status, body: Buffer.from(bytes), retryAfterS };
  } catch (error) {
    const { message, networkError } = error as ForeignFault;
    throw new Error(
      networkError === undefined ? message : `no answer (${networkError.code ?? 'no connection'})`,
      {
        cause: error,
      },
    );
  }
};

/** Waits for a time, or until the signal aborts. */
export async function pauseUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await setTimeout(ms, undefined, { signal }).catch(() => {});
}
