import { SIGNATURE_TYPE_PATTERN, type SignatureType } from '../../wire/signatures.js';
import { type TicksealError, UnreachableError } from '../connect/errors.js';
import type { ClientContext, GapEvent } from './client_context.js';
import { priceRange } from './price_range.js';
import { Tick } from './tick.js';
import type { GappedStream, MissedTicks } from './unread_ticks.js';

/** The pattern of the name of an asset on a stream of all signature types. */
const TYPED_NAME = new RegExp(`^${SIGNATURE_TYPE_PATTERN} (.+)$`);

/**
 * Reads the aggregates that the service signed in a gap, as ticks. The ticks of each asset are in ascending order, and the assets
 * follow one another. An asset with an unreadable range causes an `error` event, and the next asset follows.
 */
export async function* missedTicks(
  context: ClientContext,
  { symbols, fromNs, toNs }: GapEvent,
  { intervalMs, signatureType, wanted, lastPrices, lastMissed, isOpen }: GappedStream,
): MissedTicks {
  for (const symbol of symbols) {
    // A live tick proves only the service's signature, so a missed tick needs no check of the inputs either.
    const query = { to: toNs, everyMs: intervalMs, detail: 'signature' as const };
    const [, type, name] = (signatureType === 'both' && TYPED_NAME.exec(symbol)) || [
      '',
      signatureType === 'both' ? undefined : signatureType,
      symbol,
    ];
    let last = intervalMs === undefined ? lastPrices.get(symbol) : undefined;
    if (last !== undefined) lastMissed.set(symbol, { price: last, toNs });
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
          // On `real_time` only changes are ticks. The service also signs unchanged prices, and signs a change shortly after its tick,
          // so the first aggregates may have the price of the tick before the gap.
          if (price.price === last) continue;
          if (intervalMs === undefined) last = price.price;
          const { price: value, timestampNs, signer, verdict, attributes, url } = price;
          const fields = { symbol, price: value, timestampNs, signer, verdict, attributes, url };
          lastMissed.set(symbol, { price: value, toNs });
          yield new Tick(fields, context.platform.nowMs, true);
        }
        from = undefined;
      } catch (error) {
        context.reportError(error as TicksealError);
        // The service may be unreachable again and return later.
        if (!(error instanceof UnreachableError)) from = undefined;
      }
  }
  return undefined;
}
