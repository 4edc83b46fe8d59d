import type { Clock } from '../../model/time.js';
import { StreamSession } from '../../stream/group.js';
import { parseStreamOptions } from '../../stream/stream_options.js';
import { namedId, unknownSymbols } from '../../wire/asset_id.js';
import { CLOSES } from '../../wire/close_codes.js';
import { EVENTS_PATH } from '../../wire/paths.js';
import { missingFault, trueOrFalse } from '../http/query.js';
import { failure, type RestResponse } from '../http/rest_exchange.js';
import { type Endpoint, readerPath } from './connection.js';
import { type StreamEndpointOptions, sharedTerms, signsNothing } from './stream_endpoint.js';

export interface EventEndpointOptions extends StreamEndpointOptions {
  readonly clock: Clock;
  readonly subscriptionsPerConnection: number;
  /** Returns the streaming ID of a symbol. */
  readonly idOf: (symbol: string) => number | undefined;
}

/** Makes the endpoint `/v1/stream`. This endpoint is a connection of `/ws` whose request names its assets. */
export function eventEndpoint(options: EventEndpointOptions): Endpoint {
  const { stream, clock, subscriptionsPerConnection } = options;
  const termsOf = sharedTerms(options);
  return {
    path: readerPath(EVENTS_PATH, options),
    scope: 'stream',
    accept(query, caller) {
      const parsed = parseStreamOptions(query);
      if (typeof parsed === 'string') return failure(400, parsed);
      if (query.get('encoding') === 'binary') return failure(400, 'encoding must be json here');
      const fault = signsNothing(parsed, options);
      if (fault !== undefined) return fault;
      const ids = readAssets(query, options);
      if ('status' in ids) return ids;
      const isVisible = (id: number | undefined) => id !== undefined && stream.isVisible(id, caller);
      const ignores = trueOrFalse.safeParse(query.get('ignore_invalid') ?? 'false');
      if (!ignores.success) return failure(400, `ignore_invalid ${ignores.error.issues[0]!.message}`);
      const invalid = [...ids].flatMap(([name, id]) => (isVisible(id) ? [] : [name]));
      const assets = [...new Set([...ids.values()].filter(isVisible))];
      if (invalid.length > 0 && (!ignores.data || assets.length === 0)) {
        const names = unknownSymbols(invalid, (symbol) => isVisible(options.idOf(symbol)), true);
        return failure(400, `assets names unknown assets, or assets that the token does not cover: ${names}`);
      }
      if (assets.length > subscriptionsPerConnection) {
        const limit = `subscriptions_per_connection is ${subscriptionsPerConnection}`;
        return failure(400, `assets names ${assets.length} assets, ${limit}`);
      }
      const terms = termsOf(caller, parsed);
      const { subscriptionChanges } = terms.budgets;
      if (!subscriptionChanges.has(assets.length, clock.nowNs())) {
        subscriptionChanges.countRefusal();
        return failure(429, 'the token has used its subscription_changes_per_second', [['Retry-After', '1']]);
      }
      return (socket) => {
        const session = new StreamSession(socket, terms);
        if (ignores.data) socket.send(JSON.stringify({ type: 'subscribe', assets, invalid }));
        stream.receive(session, JSON.stringify({ type: 'subscribe', assets }));
        // The subscription was refused, because the token has used up its control messages of this second.
        if (session.group === undefined) socket.close(CLOSES.controlFlood.code, CLOSES.controlFlood.reason);
        return session;
      };
    },
  };
}

/** The other parameters of the path. */
const PARAMETERS = ['channel', 'message_type', 'addtl_attrs', 'ignore_invalid', 'encoding'];

/** Reads the list of symbols and streaming IDs. @returns the ID by each name */
function readAssets(
  query: ReadonlyMap<string, string>,
  { idOf }: EventEndpointOptions,
): Map<string, number | undefined> | RestResponse {
  const text = query.get('assets');
  if (text === undefined) return failure(400, missingFault('assets', query, PARAMETERS));
  const names = text.split(',').map((name) => name.trim());
  if (names.includes('')) return failure(400, 'assets has an empty element; in a URL, # is written %23');
  return new Map(names.map((name) => [name, namedId(name, idOf)]));
}
