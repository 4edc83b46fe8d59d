import { eventually } from '../../scripts/load/wait.js';
import { verifyLogged } from '../../src/client/verify/logged_price.js';
import { verifyByNode } from '../../src/tlog/ed25519_key.js';
import { type LogPolicy, parsePolicy } from '../../src/tlog/log_policy.js';
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

/** Returns the policy that a service shows. */
export async function policyOf(service: TestService): Promise<LogPolicy> {
  const { log } = (await (await fetch(`${service.url}/v1/signers`)).json()) as { log: { policy: string } };
  return parsePolicy(log.policy);
}
