import { createHash } from 'node:crypto';
import { ORACLE_ID, symbolOf } from '../../scripts/load/config.js';
import { publisherKeys } from '../../scripts/load/keys.js';
import { median } from '../../scripts/load/statistics.js';
import * as portable from '../../src/client/index.js';
import * as node from '../../src/client/node.js';
import { eip191, evmPriceHash } from '../../src/crypto/evm.js';
import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import { Pedersen } from '../../src/crypto/stark/pedersen.js';
import { fieldNumber, starkPriceMessage } from '../../src/crypto/stark/stark.js';
import { starkSignMessage } from '../../src/crypto/stark/stark_ecdsa.js';
import type { SignatureType } from '../../src/model/asset.js';
import { toHex } from '../../src/model/hex.js';
import type { Price } from '../../src/model/price.js';
import { NS_PER_SECOND, type TimeNs } from '../../src/model/time.js';
import { SIGNATURE_TYPES } from '../../src/wire/signatures.js';
import type { Measurement, Row, Scale } from '../harness/row.js';
import { callsPerCpuSecond } from '../harness/stage.js';

const ASSETS = 20;
/** The smallest allowed ratio to the rate of the service's own signer. */
const SERVICE_RATIO_MIN = 0.95;
const TURNS: Readonly<Record<Scale, number>> = { full: 5, smoke: 2 };
const START_NS = 1_735_689_600_000_000_000n;

export const clientSigning: Row = {
  name: 'client-signing',
  title: 'Prices that a publisher signs per second and core',
  method:
    'The signer of `tickseal/client` in Node, each price at another second, up to the finished update. The peers: the ' +
    'service’s own hash and signature of the same prices, in hex, in turns with it in one process, because processes ' +
    'differ by more than the two; and the same signer in plain JavaScript, as in a browser. All make the same signatures.',
  rounds: 3,
  variants: {
    client: async (scale) =>
      measure(scale, {
        client: (type) => clientSign(node.createPriceSigner, type),
        service: serviceSign,
      }),
    'plain JavaScript': async (scale) =>
      measure(scale, { client: (type) => clientSign(portable.createPriceSigner, type) }),
  },
  lines: () =>
    SIGNATURE_TYPES.map((type) => ({
      name: type === 'evm' ? 'EVM' : 'Stark',
      unit: 'prices/s per core',
      ours: { variant: 'client', figure: `${type} client` },
      peers: [
        {
          name: 'the service’s signer',
          source: { variant: 'client', figure: `${type} service` },
          ratio: { atLeast: SERVICE_RATIO_MIN },
        },
        { name: 'plain JavaScript', source: { variant: 'plain JavaScript', figure: `${type} client` } },
      ],
      shown: [{ name: 'a price', unit: 'µs', source: { variant: 'client', figure: `${type} client µs` } }],
    })),
};

/**
 * Signs the price of an asset.
 * @returns the texts of `r` and `s`.
 */
type Sign = (symbol: string, price: Price, timestampNs: TimeNs) => { readonly r: string; readonly s: string };

/**
 * Measures all signers in turns.
 * @throws Error when two signers make different signatures.
 */
function measure(
  scale: Scale,
  signers: Readonly<Record<string, (type: SignatureType) => Sign>>,
): Measurement {
  const figures: Record<string, number> = {};
  const hashes: Record<string, string> = {};
  for (const type of SIGNATURE_TYPES) {
    const stages = Object.entries(signers).map(([name, signOf]) => {
      const sign = signOf(type);
      let made = 0;
      return { name, signNext: () => signNumber(sign, made++), rates: [] as number[] };
    });
    for (const { signNext } of stages) {
      const hash = hashOf(Array.from({ length: ASSETS }, signNext));
      hashes[`${type} signatures`] ??= hash;
      if (hashes[`${type} signatures`] !== hash) throw new Error(`${type} signatures differ`);
    }
    for (let turn = 0; turn < TURNS[scale]; turn++)
      for (const { rates, signNext } of stages) rates.push(callsPerCpuSecond(scale, signNext));
    for (const { name, rates } of stages) {
      // The first turn does not count, because V8 is still compiling the code.
      const rate = median(rates.slice(1));
      figures[`${type} ${name}`] = rate;
      figures[`${type} ${name} µs`] = 1e6 / rate;
    }
  }
  return { figures, hashes };
}

function signNumber(sign: Sign, i: number) {
  const price = (10n ** 20n + BigInt(i)) as Price;
  const timestampNs = (START_NS + BigInt(i) * NS_PER_SECOND) as TimeNs;
  return sign(symbolOf(i % ASSETS), price, timestampNs);
}

/** Hashes signatures as numbers, because one signer writes the leading zeros of Stark numbers and the other signer does not. */
function hashOf(signatures: readonly { readonly r: string; readonly s: string }[]): string {
  const numbers = signatures.map(({ r, s }) => `${BigInt(r)} ${BigInt(s)}`);
  return createHash('sha256').update(numbers.join()).digest('hex');
}

function clientSign(create: typeof portable.createPriceSigner, signatureType: SignatureType): Sign {
  const { secretKey } = publisherKeys(signatureType, 0);
  const signer = create({ signatureType, secretKey, oracleId: ORACLE_ID });
  return (symbol, price, timestampNs) =>
    signer.sign({ symbol, price, timestampNs }).signed_price.timestamped_signature.signature;
}

function serviceSign(type: SignatureType): Sign {
  const { secretKey, key } = publisherKeys(type, 0);
  const pedersen = new Pedersen();
  if (type === 'evm') {
    return (symbol, price, timestampNs) => {
      const msgHash = evmPriceHash(key, symbol, timestampNs, price);
      const { signature } = secp256k1.sign(eip191(msgHash), secretKey);
      return hexOf(msgHash, signature.subarray(0, 32), signature.subarray(32));
    };
  }
  return (symbol, price, timestampNs) => {
    const message = starkPriceMessage(symbol, ORACLE_ID, timestampNs, price)!;
    const { msgHash, r, s } = starkSignMessage(pedersen, message, fieldNumber(secretKey));
    return hexOf(msgHash, r, s);
  };
}

function hexOf(msgHash: Uint8Array, r: Uint8Array, s: Uint8Array) {
  return { msgHash: toHex(msgHash), r: toHex(r), s: toHex(s) };
}
