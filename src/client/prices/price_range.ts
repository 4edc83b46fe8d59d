import { REST_PATHS } from '../../wire/paths.js';
import { getLines } from '../connect/answer_lines.js';
import { ProtocolError } from '../connect/errors.js';
import type { RestService } from '../connect/rest_service.js';
import type { ClientContext } from './client_context.js';
import { KeptPrices } from './kept_prices.js';
import { type AggregatePrice, type AssetQuery, pathOf, requireNs } from './market_data.js';
import { RangeAttempts, RangePages } from './range_attempts.js';

/** The wanted part of an asset's past. */
export interface RangeQuery extends AssetQuery {
  /** The first UNIX nanosecond of the signatures. */
  readonly from: bigint;
  /** The UNIX nanosecond before which all signatures were made. Default: all until now, by the service's clock. */
  readonly to?: bigint | undefined;
  /**
   * The length of an interval, in milliseconds. The range then contains only the last aggregate of each interval. Default: all
   * aggregates.
   */
  readonly everyMs?: number | undefined;
  /**
   * `signature` omits the publishers' prices. The client then verifies only the service's signature, so reads and checks cost less.
   * Default: `whole`.
   */
  readonly detail?: 'signature' | 'whole' | undefined;
}

/** The time for which the client works without a pause. After this time, other work of the program gets a turn. */
const TURN_MS = 10;
const NS_PER_MS = 1_000_000n;
/** The latest time that a service accepts. The service ends a range with this end at its current time. */
const LATEST_NS = 9n * 10n ** 18n;

/** Checks the options of `Client.range`. */
export function requireRange({ from, to, everyMs }: RangeQuery): void {
  requireNs('from', from);
  if (to !== undefined) requireNs('to', to);
  if (everyMs !== undefined && !(Number.isSafeInteger(everyMs) && everyMs > 0))
    throw new RangeError('everyMs must be a whole number of milliseconds, at least 1');
}

/** Reads a range: see `Client.range`. @param isSampled false to look up no price in the public log */
export async function* priceRange(
  context: ClientContext,
  symbol: string,
  query: RangeQuery,
  isSampled = true,
): AsyncGenerator<AggregatePrice, void, undefined> {
  const { platform, requests } = context;
  const { detail, everyMs, signatureType } = query;
  const { to = LATEST_NS } = query;
  const everyNs = everyMs === undefined ? 1n : BigInt(everyMs) * NS_PER_MS;
  const pause = (ms: number) => new Promise<void>((resolve) => void platform.schedule(resolve, ms));
  const kept = new KeptPrices(context, symbol);
  let { from } = query;
  const attempts = new RangeAttempts();
  const pages = new RangePages();
  let turnEndMs = platform.steadyMs() + TURN_MS;
  while (from < to) {
    const askedNs = from;
    let rows = 0;
    const path = pathOf(REST_PATHS.range, {
      asset: symbol,
      from: String(from),
      to: String(to),
      every: everyMs === undefined ? undefined : `${everyMs}ms`,
      detail,
      signature_type: signatureType,
    });
    try {
      const { service, lines, link } = await requests.ask(async (one: RestService) => ({
        service: one,
        ...(await getLines(one, path)),
      }));
      for await (const price of kept.read(service, lines)) {
        const { timestampNs } = price;
        if (timestampNs < from || timestampNs >= to)
          throw new ProtocolError(service.url, `a price of ${timestampNs} is not in its place in the range`);
        // An interval has one row, also when a later answer repeats it.
        from = timestampNs - (timestampNs % everyNs) + everyNs;
        rows += 1;
        attempts.advanced();
        if (isSampled) context.sample?.received(price);
        yield price;
        if (platform.steadyMs() < turnEndMs) continue;
        await pause(0);
        turnEndMs = platform.steadyMs() + TURN_MS;
      }
      const next = pages.next(service.url, path, link, askedNs, rows);
      if (next === undefined) return;
      if (next > from) from = next;
    } catch (error) {
      await pause(attempts.delayAfter(error));
    }
  }
}
