import { z } from 'zod';
import { type aggregatedSignedPrice, timestampNs } from './value_schemas.js';

/** @param whole the schema of an aggregate with its inputs */
export function keptSignedPrice(whole: ReturnType<typeof aggregatedSignedPrice>) {
  return whole.partial({ signed_prices: true }).meta({
    id: 'KeptSignedPrice',
    description:
      'An aggregate as it was signed. `signed_prices` is absent when the inputs are no longer kept',
  });
}

export const goneResponse = z
  .strictObject({
    error: z.string(),
    kept_from: timestampNs.optional(),
    damaged: z.strictObject({ from: timestampNs, to: timestampNs }).optional(),
  })
  .meta({
    id: 'GoneResponse',
    description:
      'The time is before all that is kept, or in the part `damaged` of a range that was never stored',
  });
