import { getPublicKey, Point, pedersen, verify } from '@scure/starknet';
import { ORACLE_ID, symbolOf } from '../../scripts/load/config.js';
import { publisherKeys } from '../../scripts/load/keys.js';
import { Pedersen } from '../../src/crypto/stark/pedersen.js';
import { fieldNumber, starkPriceMessage } from '../../src/crypto/stark/stark.js';
import { starkSignMessage } from '../../src/crypto/stark/stark_ecdsa.js';
import type { Price } from '../../src/model/price.js';
import type { TimeNs } from '../../src/model/time.js';
import type { Figures, Measurement, Row, Scale } from '../harness/row.js';
import { callsPerCpuSecond } from '../harness/stage.js';
import { addCores, coresOf } from '../harness/used_cores.js';
import { measureIngest } from '../workloads/ingest.js';

const ASSETS = 20;
const PUBLISHERS = 5;
const UPDATES: Readonly<Record<Scale, number>> = { full: 3_000, smoke: 20 };

export const starkIngest: Row = {
  name: 'stark-ingest',
  title: 'Stark updates accepted per second and core',
  method:
    'Over a socket as for EVM, 20 per message. The peer hashes with Pedersen and ' +
    'verifies with @scure/starknet as it comes, under whole public keys, though the wire carries only their x, which ' +
    'costs that library twice as much.',
  rounds: 3,
  variants: {
    service: overSocket,
    '@scure/starknet': async (scale) => ({ figures: { calls: callsPerCpuSecond(scale, plain()) } }),
  },
  lines: () => [
    {
      name: 'over a socket',
      unit: 'updates/s per core',
      variant: 'service',
      figure: 'updates',
      peers: [{ variant: '@scure/starknet', figure: 'calls', ratio: { atLeast: 6 } }],
      shown: coresOf('service', 'updates'),
    },
  ],
};

async function overSocket(scale: Scale): Promise<Measurement> {
  const usage = await measureIngest({
    signatureType: 'stark',
    assets: ASSETS,
    publishers: PUBLISHERS,
    updatesPerMessage: ASSETS,
    updates: UPDATES[scale],
    warmUpUpdates: UPDATES[scale] / 2,
  });
  const figures: Figures = { updates: usage.updatesPerCpuSecond };
  addCores(figures, 'updates', usage);
  return { figures };
}

function signedMessages() {
  const pedersenHash = new Pedersen();
  const { secretKey, key } = publisherKeys('stark', 0);
  return Array.from({ length: 128 }, (_, i) => {
    const price = (10n ** 20n + BigInt(i) * 7n ** 20n) as Price;
    const timestampNs = (1_735_689_600_000_000_000n + BigInt(i)) as TimeNs;
    const message = starkPriceMessage(symbolOf(i % ASSETS), ORACLE_ID, timestampNs, price)!;
    const signature = starkSignMessage(pedersenHash, message, fieldNumber(secretKey));
    return { ...message, ...signature, publicKey: key, secretKey };
  });
}

function plain(): () => void {
  const claims = signedMessages().map((claim) => ({
    x: fieldNumber(claim.x),
    y: fieldNumber(claim.y),
    msgHash: hex(claim.msgHash),
    signature: Buffer.concat([claim.r, claim.s]).toString('hex'),
    publicKey: Point.fromBytes(getPublicKey(hex(claim.secretKey))).toBytes(false),
  }));
  let at = 0;
  return () => {
    const { x, y, msgHash, signature, publicKey } = claims[at++ & 127]!;
    const hash = pedersen(x, y);
    if (BigInt(hash) !== BigInt(msgHash)) throw new Error('another hash');
    if (!verify(signature, hash, publicKey)) throw new Error('a signature is not valid');
  };
}

function hex(bytes: Uint8Array): string {
  return `0x${fieldNumber(bytes).toString(16)}`;
}
