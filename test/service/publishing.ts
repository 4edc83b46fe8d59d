import { eventually } from '../../scripts/load/wait.js';
import {
  type PriceUpdate,
  parseExactJson,
  type SignedPrice,
  writeExactJson,
} from '../../src/client/index.js';
import type { SignatureType } from '../../src/model/asset.js';
import { get, type TestService, TestSocket, TOKEN } from './harness.js';

/** The price of 1, times 10^18. */
export const UNIT = 10n ** 18n;

/** Opens a publisher socket. The service answers its messages, unless `query` sets a different `ack`. */
export function openPublisher(
  service: Pick<TestService, 'socketUrl'>,
  type: SignatureType = 'evm',
  { query = '?ack=true', token = TOKEN } = {},
): Promise<TestSocket> {
  return TestSocket.open(`${service.socketUrl}/${type}/publish${query}`, token);
}

let messages = 0;

/** Sends updates. The keys are those of the record, or the asset IDs for a list. Resolves with the answer. */
export async function publish(socket: TestSocket, updates: readonly PriceUpdate[] | Record<string, unknown>) {
  const data = Array.isArray(updates)
    ? Object.fromEntries(updates.map((update: PriceUpdate) => [update.asset_id, update]))
    : updates;
  const traceId = `trace-${++messages}`;
  socket.send(writeExactJson({ type: 'signed_prices', trace_id: traceId, data }));
  const answer = await socket.nextJson();
  if (answer['trace_id'] !== traceId) throw new Error(`answer to another message: ${JSON.stringify(answer)}`);
  return answer as { type: string; accepted: string[]; rejected: Record<string, string>; error?: string };
}

/** Publishes an update on a socket with acks. Returns the reason for refusing the update; `undefined` if it is accepted. */
export async function refusalOf(
  socket: TestSocket,
  update: PriceUpdate,
  key = update.asset_id,
): Promise<string | undefined> {
  const { accepted, rejected } = await publish(socket, { [key]: update });
  if (accepted.includes(key) === key in rejected)
    throw new Error(`${key} is accepted and rejected, or neither`);
  return rejected[key];
}

/**
 * Returns the update with changed values in some fields. The names of the fields must be unique in the update. `undefined`
 * removes a field.
 */
export function altered(update: PriceUpdate, fields: Readonly<Record<string, unknown>>): PriceUpdate {
  const alter = (value: unknown): unknown =>
    typeof value !== 'object' || value === null
      ? value
      : Object.fromEntries(
          Object.entries(value)
            .map(([name, inner]) => [name, name in fields ? fields[name] : alter(inner)] as const)
            .filter(([, inner]) => inner !== undefined),
        );
  return alter(update) as PriceUpdate;
}

/** An `AggregatedSignedPrice` whose integers are bigints. */
export interface Aggregate {
  readonly timestamp: bigint;
  readonly asset_id: string;
  readonly signature_type: SignatureType;
  readonly trigger: string;
  readonly price: string;
  readonly service_signed_price: {
    readonly public_key: string;
    readonly encoded_asset_id: string;
    readonly price: string;
    readonly timestamped_signature: SignedPrice['timestamped_signature'];
    readonly publisher_merkle_root: string;
    readonly calculation_alg: { readonly type: string; readonly checksum: string };
  };
  readonly signed_prices: readonly SignedPrice[];
}

/** Returns the text of `/v1/prices/latest`. */
export async function latestText(service: Pick<TestService, 'url'>, ...symbols: string[]): Promise<string> {
  return (await get(`${service.url}/v1/prices/latest?assets=${symbols.join()}`)).text();
}

/** Returns the `data` of `/v1/prices/latest`. */
export async function latestOf(
  service: Pick<TestService, 'url'>,
  ...symbols: string[]
): Promise<Record<string, Aggregate>> {
  return (parseExactJson(await latestText(service, ...symbols)) as { data: Record<string, Aggregate> }).data;
}

/** Returns the asset's latest aggregate as soon as `isWanted` accepts it. By default any aggregate is accepted. */
export function latestWhen(
  service: Pick<TestService, 'url'>,
  symbol: string,
  isWanted: (aggregate: Aggregate) => boolean = () => true,
): Promise<Aggregate> {
  return eventually(async () => {
    const aggregate = (await latestOf(service, symbol))[symbol];
    return aggregate !== undefined && isWanted(aggregate) ? aggregate : undefined;
  });
}
