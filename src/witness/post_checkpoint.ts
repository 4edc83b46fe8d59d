import { setTimeout } from 'node:timers/promises';
import { type PostToWitness, WITNESS_ANSWER_BYTES_MAX } from '../tlog/witness_line.js';

const ANSWER_MS_MAX = 10_000;

/** Sends a request to a witness over HTTP. */
export const postCheckpoint: PostToWitness = async (url, body, signal) => {
  const timeout = AbortSignal.timeout(ANSWER_MS_MAX);
  try {
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'text/plain; charset=utf-8', 'User-Agent': 'tickseal' },
      redirect: 'manual',
      signal: AbortSignal.any([timeout, signal]),
    });
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > WITNESS_ANSWER_BYTES_MAX)
        throw new Error(`its answer has more than ${WITNESS_ANSWER_BYTES_MAX} bytes`);
      chunks.push(chunk);
    }
    const retryAfter = response.headers.get('Retry-After') ?? '';
    const retryAfterS = /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : undefined;
    return { status: response.status, body: Buffer.concat(chunks), retryAfterS };
  } catch (error) {
    if (timeout.aborted) throw new Error(`no answer within ${ANSWER_MS_MAX / 1000} s`, { cause: error });
    const { cause, message } = error as Error & { cause?: NodeJS.ErrnoException };
    throw new Error(cause === undefined ? message : `no answer (${cause.code ?? 'no connection'})`, {
      cause: error,
    });
  }
};

/** Waits for a time, or until the signal aborts. */
export async function pauseUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await setTimeout(ms, undefined, { signal }).catch(() => {});
}
