import { test } from 'tap';
import type { VerifyLines } from '../../../src/client/connect/platform.js';
import type { RestService } from '../../../src/client/connect/rest_service.js';
import { createPriceSigner } from '../../../src/client/index.js';
import type { ClientContext } from '../../../src/client/prices/client_context.js';
import { KeptPrices } from '../../../src/client/prices/kept_prices.js';
import type { AggregatePrice } from '../../../src/client/prices/market_data.js';
import type { SignerSource } from '../../../src/client/verify/checks.js';
import { createAggregateSigner } from '../../../src/crypto/aggregate_signer.js';
import { nativePriceCurves, nativeRecoverAddress } from '../../../src/crypto/native_price_curves.js';
import { LineVerifier } from '../../../src/crypto/pool/line_verifier.js';
import { createCryptoPool } from '../../../src/crypto/pool/pool.js';
import type { Asset } from '../../../src/model/asset.js';
import { PRICE_SCALE, type Price } from '../../../src/model/price.js';
import type { PublisherPrice } from '../../../src/model/signed_price.js';
import type { TimeNs } from '../../../src/model/time.js';
import { lineOf, sampleShown } from '../../log/records/sample_line.js';

const START_NS = 1_795_482_000_000_000_007n;

const publishers = [1, 2, 3, 4].map((n) =>
  createPriceSigner({
    signatureType: 'evm',
    secretKey: Buffer.alloc(32, n),
    oracleId: 'tests',
    curves: nativePriceCurves,
  }),
);

function inputOf(publisher: number, units: bigint, timestampNs: bigint, metadata?: string): PublisherPrice {
  const price = (units * PRICE_SCALE) as Price;
  const { signed_price: signed } = publishers[publisher]!.sign({ symbol: 'BTCUSD', price, timestampNs });
  const { signature, msg_hash: msgHash } = signed.timestamped_signature;
  const { publisher_key: publisherKey, external_asset_id: externalAssetId } = signed;
  const wire = {
    publisherKey,
    externalAssetId,
    price: String(price),
    ...signature,
    v: signature.v!,
    msgHash,
    metadata,
  };
  return { price, timestampNs: timestampNs as TimeNs, wire };
}

/** Signs aggregates one second apart, as the service does, and returns them as REST shows them. */
async function linesOf(
  inputs: readonly (readonly PublisherPrice[])[],
  prices: readonly bigint[],
): Promise<string[]> {
  const pool = await createCryptoPool({ threads: 0 });
  const signer = createAggregateSigner({ evm: Buffer.alloc(32, 0x11) }, 'servc', pool);
  const asset = { symbol: 'BTCUSD', signatureType: 'evm', aggregation: 'median' } as Asset;
  const lines: string[] = [];
  for (const [i, own] of inputs.entries()) {
    const signedAtNs = (START_NS + BigInt(i) * 1_000_000_000n) as TimeNs;
    const price = prices[i]! as Price;
    const [aggregate] = await signer.sign('evm', [
      { asset, trigger: 'clock', price, inputs: own, signedAtNs },
    ]);
    lines.push(lineOf(aggregate!, sampleShown('tickseal')));
  }
  return lines;
}

/** Returns the data that a client reads from lines: the prices until the first error, and the error. */
async function readAll(
  parts: readonly (readonly string[])[],
  signers: SignerSource,
  verifyLines?: VerifyLines,
): Promise<{ prices: AggregatePrice[]; error: string | undefined }> {
  const trust = { signers, recover: nativeRecoverAddress };
  const context = { platform: { verifyLines, steadyMs: () => 0 }, trust } as unknown as ClientContext;
  const service = { url: 'http://service', nowMs: () => 0 } as unknown as RestService;
  const prices: AggregatePrice[] = [];
  const source = (async function* () {
    yield* parts;
  })();
  try {
    for await (const price of new KeptPrices(context, 'BTCUSD').read(service, source)) prices.push(price);
  } catch (error) {
    return { prices, error: (error as Error).message };
  }
  return { prices, error: undefined };
}

function together(): VerifyLines & { passed: number } {
  const verifier = new LineVerifier();
  const verify = (lines: readonly string[]) => {
    const signed = verifier.verify(lines);
    verify.passed += signed.filter((one) => one !== undefined).length;
    return signed;
  };
  verify.passed = 0;
  return verify;
}

const BASE = [100n, 103n, 101n, 105n].map((units, i) =>
  inputOf(i, units, START_NS - BigInt(i + 1) * 10n ** 9n),
);
const MEDIAN = 102n * PRICE_SCALE;
const SIGNER = ['0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'];

test('lines verified together give what lines verified alone give', async (t) => {
  const withMetadata = inputOf(0, 100n, START_NS, '{"venue":"a},{b","n":[1.50,{"x":"\\"},{"}]}');
  const plain = inputOf(0, 100n, START_NS, '{"venue":"ab","n":7}');
  const all = [
    BASE,
    BASE,
    [plain, ...BASE.slice(1)],
    [withMetadata, ...BASE.slice(1)],
    BASE.slice(0, 3),
    BASE,
  ];
  const prices = [MEDIAN, MEDIAN, MEDIAN, MEDIAN, 101n * PRICE_SCALE, MEDIAN];
  const lines = await linesOf(all, prices);
  const bare = lines[0]!.replace(/,"signed_prices":.*\]\}$/, '}');
  const parts = [lines.slice(0, 1), lines.slice(1), [bare, bare]];
  for (const signers of [SIGNER, 'unchecked', () => SIGNER] as const) {
    const verify = together();
    const alone = await readAll(parts, signers);
    t.equal(alone.error, undefined);
    const read = await readAll(parts, signers, verify);
    t.strictSame(read, alone);
    t.equal(verify.passed, lines.length + 2, 'also the metadata that looks like two inputs');
  }
  t.match(await readAll([lines], [`0x${'12'.repeat(20)}`], together()), { prices: [], error: /public_key/ });
});

test('a changed line fails together as it fails alone', async (t) => {
  const [first, line] = await linesOf([BASE, BASE], [MEDIAN, MEDIAN]);
  const changed = new Set<string>();
  /** Changes the first digit of each value, and each name. */
  for (const { index } of line!.matchAll(/[0-9a-zA-Z](?=[0-9a-zA-Z]*[",}\]:])/g)) {
    const before = line![index - 1]!;
    if (/[0-9a-wyzA-Z]/.test(before)) continue;
    const digit = line![index]! === '1' ? '2' : '1';
    changed.add(line!.slice(0, index) + digit + line!.slice(index + 1));
  }
  t.ok(changed.size > 60, `${changed.size} changes`);
  const [a, b] = line!.match(/\{"publisher_key".*?"\}\}/g)! as [string, string];
  for (const other of [
    line!.replace(a, b),
    line!.replace(`${a},`, ''),
    line!.replace(a, `${a.slice(0, -1)},"metadata":{},"price":"5"}`),
    line!.replace(a, `${a.slice(0, -1)},"metadata":{"x":1},"metadata":{}}`),
    line!.replaceAll('BTCUSD', 'BTCEUR'),
    line!.replace(/"r":"0x[0-9a-f]{64}/g, `"r":"0x${'0'.repeat(64)}`),
    line!.replace(/"s":"0x[0-9a-f]{64}/g, `"s":"0x${'f'.repeat(64)}`),
    line!.slice(0, -1),
    `${line},`,
    '',
    '{}',
    ...(await linesOf([[BASE[1]!, BASE[1]!, BASE[2]!]], [103n * PRICE_SCALE])),
    ...(await linesOf([BASE], [MEDIAN + 1n])),
  ])
    changed.add(other);
  const verify = together();
  for (const other of changed) {
    const { prices, error } = await readAll([[first!], [other]], SIGNER, verify);
    t.strictSame({ prices: prices.slice(1), error }, await readAll([[other]], SIGNER), other);
  }
  const second = await readAll([[first!], [...changed].slice(0, 1), [line!]], SIGNER, verify);
  t.equal(second.prices.length, 1, 'nothing follows a failed line');
});
