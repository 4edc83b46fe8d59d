import { z } from 'zod';
import { ignoreInvalidParameter } from '../rest/parameters.js';
import type { DescribedRoute, Parameter } from '../rest/route.js';
import { streamQuery } from '../schemas/message_schemas.js';

const { channel, message_type, addtl_attrs } = streamQuery.shape;

/** The description of `/v1/stream`. The path is not a REST route, because its answer never ends. */
export const EVENT_STREAM_ROUTE: DescribedRoute = {
  summary: 'The frames of `/ws` as server-sent events',
  method: 'GET',
  access: 'token',
  scope: 'stream',
  parameters: {
    assets: {
      description:
        'Comma-separated list of symbols, and of streaming IDs such as `#2`, at most `limits.subscriptions_per_connection` of them',
      required: true,
      schema: z.string().regex(/^[^,]+(?:,[^,]+)*$/),
    },
    ignore_invalid: {
      ...ignoreInvalidParameter,
      description:
        'With `true`, assets that are unknown or not covered by the token are named in the first event, of the type `subscribe`, if there are others; otherwise one of them refuses the request',
    },
    ...Object.fromEntries(
      Object.entries({ channel, message_type, addtl_attrs }).map(([name, schema]): [string, Parameter] => [
        name,
        {
          description: schema.description ?? '',
          required: false,
          schema: schema as z.ZodType<unknown, string>,
        },
      ]),
    ),
  },
  response: z
    .string()
    .describe(
      'Events: `event` is the type of a message of `/ws`, `data` the message, and `id` the `ts` of a frame. A comment comes every 10 s. ' +
        'A request with the header `Last-Event-ID` first gets the aggregates of its assets that were signed since, as events `backfilled` with a `KeptSignedPrice`; their `id` is the time of the signature. An event `gap` with `error` and `kept_from` says that the past does not reach back so far. ' +
        'The last event of a stream that the service ends is `end`, with `code` and `reason`',
    ),
  raw: 'text/event-stream',
  errors: [503],
  headers: {},
};
