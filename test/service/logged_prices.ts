import { eventually } from '../../scripts/load/wait.js';
import { verifyLogged } from '../../src/client/verify/logged_price.js';
import { verifyByNode } from '../../src/tlog/ed25519_key.js';
import { type LogPolicy, parsePolicy } from '../../src/tlog/log_policy.js';
import { openCheckpoint } from '../../src/tlog/open_checkpoint.js';
import type { LoggedPrice } from '../../src/tlog/price_proof.js';
import { publisherSigner, type TestService } from './harness.js';
import { type Aggregate, latestWhen, openPublisher, refusalOf, UNIT } from './publishing.js';

/** Publishes a price, and returns its aggregate. */
export async function priceOf(
  service: Pick<TestService, 'url' | 'socketUrl'>,
  symbol: string,
  type: 'evm' | 'stark',
  price: bigint,
  nowNs: bigint,
) {
  const update = publisherSigner(1, type).sign({ symbol, price: price * UNIT, timestampNs: nowNs });
  const socket = await openPublisher(service, type);
  const refusal = await refusalOf(socket, update);
  if (refusal !== undefined) throw new Error(refusal);
  await socket.close();
  return latestWhen(service, symbol, (found) => found.price === `${price * UNIT}`);
}

/** Returns the place of an aggregate in the log, once a checkpoint covers it. */
export async function placeOf(
  service: TestService,
  aggregate: Aggregate,
  policy: LogPolicy,
): Promise<LoggedPrice> {
  const { timestamp, msg_hash: msgHash } = aggregate.service_signed_price.timestamped_signature;
  const query = `asset=${aggregate.asset_id}&timestamp=${timestamp}`;
  const proof = await eventually(async () => {
    const response = await fetch(`${service.url}/v1/prices/proof?${query}`);
    const text = await response.text();
    if (response.status === 503 || response.status === 429 || text.includes('no public log'))
      return undefined;
    if (response.status !== 200) throw new Error(`${response.status} ${text}`);
    if (response.headers.get('Access-Control-Allow-Origin') !== '*') throw new Error('not for every origin');
    return text;
  });
  const price = {
    signatureType: aggregate.signature_type,
    signer: BigInt(aggregate.service_signed_price.public_key),
    symbol: aggregate.asset_id,
    timeNs: BigInt(timestamp),
    msgHash: BigInt(msgHash),
  };
  return verifyLogged(price, proof, { policy, verifyEd25519: verifyByNode });
}

/** Returns the policy that a service shows, once the limit of requests allows the question. */
export function policyOf(service: TestService): Promise<LogPolicy> {
  return eventually(async () => {
    const response = await fetch(`${service.url}/v1/signers`);
    if (response.status === 429) return undefined;
    const { log } = (await response.json()) as { log: { policy: string } };
    return parsePolicy(log.policy);
  });
}

/** Waits for a checkpoint beyond a size. Returns its size. */
export function sizeBeyond(service: TestService, policy: LogPolicy, size: bigint): Promise<bigint> {
  return eventually(async () => {
    const response = await fetch(`${service.url}/tlog/checkpoint`);
    if (response.status !== 200) return undefined;
    const { checkpoint } = await openCheckpoint(await response.text(), policy, verifyByNode);
    return checkpoint.size > size ? checkpoint.size : undefined;
  });
}
