import { z } from 'zod';
import { ORACLE_PRICES_TYPE } from '../../wire/aggregates.js';
import { ERROR_TYPE, REQUEST_TYPES } from '../../wire/stream.js';
import { traceId } from './message_schemas.js';
import { aggregatedSignedPrice, assetId } from './value_schemas.js';

// The messages of `/evm/subscribe` and `/stark/subscribe`. `message_schemas.ts` has the messages of the other paths.

const [SUBSCRIBE, UNSUBSCRIBE] = REQUEST_TYPES;

/** The query of `/evm/subscribe` and `/stark/subscribe`, which has no parameters. */
export const aggregateQuery = z.object({});

const symbols = z.array(assetId);
const sentTraceId = traceId
  .nullable()
  .optional()
  .describe('Chosen by the client; it comes back in the answer');

export const aggregateSubscribe = z
  .object({ type: z.literal(SUBSCRIBE), data: symbols.describe('What to add'), trace_id: sentTraceId })
  .meta({ id: 'AggregateSubscribe' });

export const aggregateUnsubscribe = z
  .object({
    type: z.literal(UNSUBSCRIBE),
    data: symbols.describe('What to leave; symbols that are not subscribed are ignored'),
    trace_id: sentTraceId,
  })
  .meta({ id: 'AggregateUnsubscribe' });

const aggregatesAnswered = {
  trace_id: traceId.optional().describe("The request's, when it carried one"),
  data: z.strictObject({
    subscriptions: symbols.describe('The whole set now, without symbols that no asset has yet'),
  }),
};
export const aggregateSubscribed = z
  .strictObject({ type: z.literal(SUBSCRIBE), ...aggregatesAnswered })
  .meta({ id: 'AggregateSubscribed' });
export const aggregateUnsubscribed = z
  .strictObject({ type: z.literal(UNSUBSCRIBE), ...aggregatesAnswered })
  .meta({ id: 'AggregateUnsubscribed' });

export const aggregateError = z
  .strictObject({
    type: z.literal(ERROR_TYPE),
    trace_id: traceId.optional().describe("The request's, when it carried one that was read"),
    error: z.string(),
  })
  .meta({ id: 'AggregateError' });

/** @param serviceName the first word of the field `service_signed_price` */
export function oraclePrices(serviceName: string) {
  return z
    .strictObject({
      type: z.literal(ORACLE_PRICES_TYPE),
      trace_id: z.string().describe('Another one in each frame'),
      data: z.record(assetId, aggregatedSignedPrice(serviceName)).describe('By symbol'),
    })
    .meta({ id: 'OraclePrices' });
}
