import type { SignatureType } from '../../wire/signatures.js';
import { type TicksealError, UnreachableError } from '../connect/errors.js';
import type { ClientContext, GapEvent } from './client_context.js';
import { priceRange } from './price_range.js';
import { Tick } from './tick.js';
import type { GappedStream, MissedTicks } from './unread_ticks.js';

/**
 * Reads the aggregates that were signed in a gap as ticks, asset by asset, each ascending. An asset whose range cannot be read becomes an
 * `error` event, and the others follow.
 */
export async function* missedTicks(
  context: ClientContext,
  { symbols, fromNs, toNs }: GapEvent,
  { intervalMs, signatureType, wanted, lastPrices, isOpen }: GappedStream,
): MissedTicks {
  for (const symbol of symbols) {
    // The service signs with the same trust what it streams, so the inputs need no check here.
    const query = { to: toNs, everyMs: intervalMs, detail: 'signature' as const };
    const [, type, name] = (signatureType === 'both' && /^(evm|stark) (.+)$/.exec(symbol)) || [
      '',
      signatureType === 'both' ? undefined : signatureType,
      symbol,
    ];
    let last = intervalMs === undefined ? lastPrices.get(symbol) : undefined;
    for (let from: bigint | undefined = fromNs + 1n; from !== undefined && isOpen(); )
      try {
        const prices = priceRange(context, name!, {
          ...query,
          from,
          signatureType: type as SignatureType | undefined,
        });
        for await (const price of prices) {
          if (!wanted.has(symbol)) break;
          from = price.timestampNs + 1n;
          // A change is signed shortly after its tick, so the first aggregates may have the price of the tick before the gap.
          if (price.price === last) continue;
          last = undefined;
          const { price: value, timestampNs, signer, verdict, status, url } = price;
          const fields = { symbol, price: value, timestampNs, signer, verdict, status, url };
          yield new Tick(fields, context.platform.nowMs, true);
        }
        from = undefined;
      } catch (error) {
        context.reportError(error as TicksealError);
        // The service may be away again, and be back later.
        if (!(error instanceof UnreachableError)) from = undefined;
      }
  }
  return undefined;
}
