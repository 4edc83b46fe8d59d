import { Client } from '../client/client.js';
import { ProtocolError, RefusedError, UnreachableError } from '../client/connect/errors.js';
import type { FetchResponse } from '../client/connect/platform.js';
import type { RestService } from '../client/connect/rest_service.js';
import { pathOf } from '../client/prices/market_data.js';
import { nextOf, RangeAttempts } from '../client/prices/range_attempts.js';
import { receivedBlock, SENT_BLOCK_BYTES_MAX, SIZE_BYTES } from '../past/sent_block.js';
import { REST_PATHS } from '../wire/paths.js';
import type { SignatureType } from '../wire/signatures.js';
import { notPast, type PackedBlock } from './export/packed_block.js';

export interface PackedQuery {
  readonly symbol: string;
  /** The first time of the signatures, and the time before which all were made: UNIX nanoseconds. */
  readonly from: bigint;
  readonly to: bigint;
  readonly detail: 'signature' | 'whole';
  readonly type: SignatureType | undefined;
}

/** Thrown when a service does not know packed ranges, because its version is older. */
export class NotPacked extends Error {
  override readonly name = 'NotPacked';
}

/**
 * Reads ranges in the form in which the service keeps them. This form contains each input once, although JSON lines would repeat it,
 * and neither side writes or reads JSON.
 */
export class PackedRangeClient extends Client {
  /**
   * Reads the blocks of a range in order. The caller must verify them with a `BlockVerifier`.
   * @throws NotPacked before the first block, NotVerified, and the errors of {@link Client.range}
   */
  async *blocks({ to, ...query }: PackedQuery): AsyncGenerator<PackedBlock> {
    const { platform } = this.context;
    let { from } = query;
    const attempts = new RangeAttempts();
    const ahead = new NextPage((fromNs) => this.#page({ ...query, from: fromNs, to }));
    try {
      while (from < to) {
        try {
          const { blocks, next } = await ahead.from(from);
          const middle = next === undefined ? to : (from + next) / 2n;
          for await (const bytes of blocks) {
            const [fromNs, toNs] = [from, next ?? to];
            const times = timesOf(bytes).filter((timeNs) => timeNs >= fromNs && timeNs < toNs);
            if (times.length === 0) continue;
            from = times.at(-1)! + 1n;
            attempts.advanced();
            // The service counts the rows of a page before it sends the first row. This work overlaps with the rest of this page.
            if (next !== undefined && from > middle) ahead.ask(next);
            yield { bytes, fromNs, toNs, rows: times.length };
          }
          if (next === undefined) return;
          from = next;
        } catch (error) {
          const waitMs = attempts.delayAfter(error);
          await new Promise<void>((resolve) => void platform.schedule(resolve, waitMs));
        }
      }
    } finally {
      ahead.drop();
    }
  }

  async #page({ symbol, from, to, detail, type }: PackedQuery): Promise<PackedPage> {
    const range = { asset: symbol, from: String(from), to: String(to), detail, signature_type: type };
    const path = pathOf(REST_PATHS.range, { ...range, format: 'packed' });
    return await this.context.requests.ask((one: RestService) => askPage(one, path));
  }
}

/** The part of a range that one answer contains. */
interface PackedPage {
  readonly blocks: AsyncIterable<Buffer>;
  /** The beginning of the next page; `undefined` when the range has no more rows. */
  readonly next: bigint | undefined;
  /** Ends an answer whose blocks nobody reads. */
  close(): void;
}

/** Asks for a page before the caller needs the page. */
class NextPage {
  readonly #askPage: (fromNs: bigint) => Promise<PackedPage>;
  #asked: { readonly fromNs: bigint; readonly page: Promise<PackedPage> } | undefined;

  constructor(askPage: (fromNs: bigint) => Promise<PackedPage>) {
    this.#askPage = askPage;
  }

  /** Asks for the page at a time, once. */
  ask(fromNs: bigint): void {
    if (this.#asked?.fromNs === fromNs) return;
    this.drop();
    const page = this.#askPage(fromNs);
    // The error is thrown when the caller reaches this page.
    page.catch(() => {});
    this.#asked = { fromNs, page };
  }

  /** Returns the page at a time. */
  from(fromNs: bigint): Promise<PackedPage> {
    this.ask(fromNs);
    const { page } = this.#asked!;
    this.#asked = undefined;
    return page;
  }

  /** Ends the answer that the caller has not taken. */
  drop(): void {
    this.#asked?.page.then(
      (page) => page.close(),
      () => {},
    );
    this.#asked = undefined;
  }
}

async function askPage(service: RestService, path: string): Promise<PackedPage> {
  const answer = await service.ask(path, async (response, waiting) => {
    if (response.status !== 200 || !response.body) return response.text();
    const reader = response.body.getReader();
    // Without this call, a partly read body would keep its connection open.
    const close = () => void reader.cancel().catch(() => {});
    return { blocks: sizedParts(service.url, reader, waiting, close), close };
  });
  const { body, link } = answer;
  if (typeof body !== 'string') return { ...body, next: nextOf(service.url, link) };
  const refusal = service.refusal(path, { ...answer, body });
  if (refusal instanceof RefusedError && refusal.status === 400 && /\bformat must be\b/.test(body))
    throw new NotPacked('the service does not know packed ranges');
  throw refusal;
}

type PackedBody = ReturnType<NonNullable<FetchResponse['body']>['getReader']>;

/** Splits a body into its blocks as it arrives. */
async function* sizedParts(
  url: string,
  reader: PackedBody,
  waiting: () => () => void,
  close: () => void,
): AsyncGenerator<Buffer, void> {
  let parts: Uint8Array[] = [];
  let length = 0;
  let wanted = SIZE_BYTES;
  try {
    for (;;) {
      const waited = waiting();
      const { done, value } = await reader.read().finally(waited);
      if (done) break;
      parts.push(value!);
      length += value!.length;
      if (length < wanted) continue;
      const bytes = Buffer.concat(parts);
      let at = 0;
      for (;;) {
        wanted = SIZE_BYTES;
        if (bytes.length - at < SIZE_BYTES) break;
        const size = bytes.readUInt32LE(at);
        if (size > SENT_BLOCK_BYTES_MAX) throw new ProtocolError(url, 'a block is too large');
        wanted += size;
        if (bytes.length - at < wanted) break;
        yield bytes.subarray(at + SIZE_BYTES, at + wanted);
        at += wanted;
      }
      parts = [bytes.subarray(at)];
      length = bytes.length - at;
    }
    if (length > 0) throw new RangeError('the last block is not whole');
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    throw new UnreachableError(url, `the answer ended early: ${(error as Error).message}`, REST_PATHS.range);
  } finally {
    close();
  }
}

function timesOf(bytes: Buffer): bigint[] {
  try {
    return receivedBlock(bytes).times();
  } catch (error) {
    throw notPast(error);
  }
}
