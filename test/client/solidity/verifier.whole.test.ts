import { keccak_256 } from '@noble/hashes/sha3.js';
import { type Test, test } from 'tap';
import { secp256k1 } from '../../../src/crypto/secp256k1/secp256k1.js';
import { publisherSigner, startTestService, TestSocket } from '../../service/harness.js';
import { openPublisher, publish } from '../../service/publishing.js';
import { bytesTail, Contract, compile, type Outcome, selector, word } from './contract.js';

const TAXONOMY_ID = 7;
const MAX_AGE_S = 60;
const MAX_FUTURE_S = 30;
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const NO_SCHEDULE = 255n;
/** The number of fields of an entry. */
const ENTRY_WORDS = 7;
const ASSETS = Array.from({ length: 100 }, (_, i) => ({
  id: 10 * i + 1,
  symbol: `ASSET${i}`,
  ...(i % 3 === 0 && { calendar: 'forex' }),
}));
/** Prices of both signs, and both ends of the int128 range. */
const PRICES = ASSETS.map((_, i) => (i % 2 === 0 ? 1n : -1n) * BigInt(i + 1) * 10n ** 18n);
PRICES[0] = 2n ** 127n - 1n;
PRICES[1] = -(2n ** 127n);

const bytecode = compile('TicksealVerifier');

function deploy(signers: readonly string[], taxonomyId = TAXONOMY_ID): Promise<Contract | string> {
  const head = [taxonomyId, MAX_AGE_S, MAX_FUTURE_S, 128, signers.length].map(word);
  return Contract.deploy(bytecode, [...head, ...signers.map((signer) => word(BigInt(signer)))].join(''));
}

async function verifierOf(...signers: string[]): Promise<Contract> {
  const contract = await deploy(signers);
  if (typeof contract === 'string') throw new Error(`the constructor reverts with ${contract}`);
  return contract;
}

function verify(contract: Contract, payload: Uint8Array): Promise<Outcome> {
  return contract.call('verify(bytes)', word(32) + bytesTail(payload));
}

/** Returns the time and the entries that `verify` returned. */
function decoded(outcome: Outcome) {
  if (!outcome.ok) throw new Error(`it reverts with ${outcome.error}`);
  const [timestampNs, , count, ...fields] = outcome.words;
  const entries = Array.from({ length: Number(count) }, (_, i) => ({
    id: Number(fields[ENTRY_WORDS * i]),
    value: BigInt.asIntN(256, fields[ENTRY_WORDS * i + 1]!),
    status: fields[ENTRY_WORDS * i + 2]!,
    attributes: fields[ENTRY_WORDS * i + 3]!,
    ageMs: fields[ENTRY_WORDS * i + 4]!,
    publishers: fields[ENTRY_WORDS * i + 5]!,
    spreadPpm: fields[ENTRY_WORDS * i + 6]!,
  }));
  return { timestampNs: timestampNs!, entries };
}

/** Records payloads of a running service, by the number of assets. All prices are as in PRICES. */
async function recordPayloads(t: Test, attributes: string): Promise<{ signer: string; payloads: Buffer[] }> {
  const service = await startTestService({
    service: { taxonomy_id: TAXONOMY_ID },
    assets: ASSETS,
    limits: { control_messages_per_second: 100 },
  });
  t.teardown(() => service.stop());
  const publisher = await openPublisher(service);
  const timestampNs = BigInt(Date.now()) * 1_000_000n;
  const updates = ASSETS.map(({ symbol }, i) =>
    publisherSigner(1).sign({ symbol, price: PRICES[i]!, timestampNs }),
  );
  t.equal((await publish(publisher, updates)).accepted.length, ASSETS.length);
  const payloads: Buffer[] = [];
  for (const count of [1, 10, 14, 32, 100]) {
    const url = `${service.socketUrl}/ws?channel=10ms&message_type=signed_ecdsa${attributes}`;
    const socket = await TestSocket.open(url);
    socket.send({ type: 'subscribe', assets: ASSETS.slice(0, count).map(({ id }) => id) });
    const { p } = (await socket.nextJson()) as { p: string };
    payloads.push(Buffer.from(p.slice(2), 'hex'));
    socket.ws.close();
  }
  publisher.ws.close();
  return { signer: service.evmAddress, payloads };
}

for (const [layout, attributes] of [
  ['simplified', ''],
  ['versioned', '&addtl_attrs=ms'],
  ['versioned with the quality', '&addtl_attrs=ms,age,n,spread'],
] as const) {
  test(`payloads of the ${layout} layout from a running service`, async (t) => {
    const { signer, payloads } = await recordPayloads(t, attributes);
    const contract = await verifierOf(signer);
    for (const payload of payloads) {
      const timestampNs = payload.readBigUInt64BE(layout === 'simplified' ? 67 : 71);
      contract.timeS = timestampNs / 1_000_000_000n;
      const { entries, ...time } = decoded(await verify(contract, payload));
      t.same(time, { timestampNs });
      t.same(
        entries.map(({ id, value }) => [id, value]),
        entries.map((_, i) => [ASSETS[i]!.id, PRICES[i]]),
      );
      t.ok(
        entries.every(({ status }, i) =>
          layout !== 'simplified' && i % 3 === 0 ? status < 4n : status === NO_SCHEDULE,
        ),
        'market status',
      );
      const hasQuality = attributes.includes('spread');
      t.ok(
        entries.every(
          ({ attributes, ageMs, publishers, spreadPpm }) =>
            attributes === (layout === 'simplified' ? 1n : hasQuality ? 31n : 3n) &&
            (hasQuality ? ageMs < 60_000n : ageMs === 0n) &&
            publishers === (hasQuality ? 1n : 0n) &&
            spreadPpm === 0n,
        ),
        'age, publishers and spread',
      );
    }
    t.same(payloads.length, 5);

    // Recovering a key takes 5 ms on this EVM, so the test changes only every third or seventh byte of the longer payloads.
    for (const [payload, step] of [
      [payloads[0]!, 1],
      [payloads[2]!, 3],
      [payloads[4]!, 7],
    ] as const) {
      contract.timeS = payload.readBigUInt64BE(layout === 'simplified' ? 67 : 71) / 1_000_000_000n;
      let accepted = 0;
      for (let at = 0; at < payload.length; at += step) {
        const flipped = Buffer.from(payload);
        flipped[at]! ^= at % 2 === 0 ? 0x01 : 0x80;
        if ((await verify(contract, flipped)).ok) accepted++;
      }
      t.equal(accepted, 0, `flipped bytes of ${payload.length}`);
      for (const length of [0, 64, 65, 74, 75, 79, 92, payload.length - 1, payload.length - 18])
        t.notOk(
          (await verify(contract, payload.subarray(0, Math.max(0, length)))).ok,
          `cut to ${length} bytes`,
        );
      t.notOk(
        (await verify(contract, Buffer.concat([payload, Buffer.alloc(18)]))).ok,
        'with an entry behind it',
      );
    }
  });
}

/** The payload of the golden vector, with a single asset: ID 1, 100 units, taxonomy 1. */
const GOLDEN = Buffer.from(
  '690a1cce3cf72e889b699ef800fb80ba47c123ce7422517bfcd2ce0c701423a1' +
    '2938fb6fcf4424c21e39688cd41dd8919b149642b590328ada7532c88b5f0d6b' +
    '010001187f4dcc627041f8000100000000000000056bc75e2d63100000',
  'hex',
);
const GOLDEN_SIGNER = '0xc4a02e7d370402f4afc36032076b05e74ff81786';
const GOLDEN_TIME_S = 1_765_215_119n;
const SIGNING_KEY = Buffer.from(word(1), 'hex');

test('what is refused, and with which error', async (t) => {
  const contract = (await deploy([GOLDEN_SIGNER], 1)) as Contract;
  contract.timeS = GOLDEN_TIME_S;
  t.match(await verify(contract, GOLDEN), { ok: true });

  const refused = async (error: string, payload: Uint8Array, what: string) =>
    t.same(await verify(contract, payload), { ok: false, error: selector(error) }, what);
  const changed = (at: number, bytes: Uint8Array) => {
    const payload = Buffer.from(GOLDEN);
    payload.set(bytes, at);
    return payload;
  };
  const twin = Buffer.from(GOLDEN);
  const highS = CURVE_ORDER - BigInt(`0x${GOLDEN.subarray(32, 64).toString('hex')}`);
  twin.write(highS.toString(16).padStart(64, '0'), 32, 'hex');
  twin[64]! ^= 1;
  await refused('InvalidSignature()', twin, 'the twin with the high s');
  await refused('InvalidSignature()', changed(64, Buffer.of(27)), 'v is 0 or 1');
  await refused('InvalidSignature()', changed(0, Buffer.alloc(32)), 'no key made r = 0');
  await refused('UnknownSigner(address)', changed(92, Buffer.of(1)), 'another price');
  await refused('WrongTaxonomy(uint16)', changed(65, Buffer.of(0, 2)), 'another taxonomy');
  await refused('WrongLength(uint256)', GOLDEN.subarray(0, 75), 'no entry');
  await refused('WrongLength(uint256)', Buffer.alloc(0), 'nothing');
  const versioned = (header: string) => Buffer.concat([GOLDEN.subarray(0, 65), Buffer.from(header, 'hex')]);
  await refused('UnknownVersion(uint8)', versioned(`ff030003${'00'.repeat(29)}`), 'another version');
  await refused(
    'UnknownAttributes(uint16)',
    versioned(`ff020002${'00'.repeat(29)}`),
    'a mask without the price',
  );
  await refused('UnknownAttributes(uint16)', versioned(`ff020021${'00'.repeat(29)}`), 'an unknown attribute');
  await refused('WrongLength(uint256)', versioned('ff0200030001000000'), 'a cut header');

  contract.timeS = GOLDEN_TIME_S + BigInt(MAX_AGE_S);
  t.match(await verify(contract, GOLDEN), { ok: true }, 'as old as it may be');
  contract.timeS++;
  await refused('TooOld(uint64)', GOLDEN, 'a second older');
  contract.timeS = GOLDEN_TIME_S - BigInt(MAX_FUTURE_S);
  t.match(await verify(contract, GOLDEN), { ok: true }, 'as far ahead as it may be');
  contract.timeS--;
  await refused('InTheFuture(uint64)', GOLDEN, 'a second further');
});

test('one asset of a payload', async (t) => {
  const contract = (await deploy([GOLDEN_SIGNER], 1)) as Contract;
  contract.timeS = GOLDEN_TIME_S;
  const priceOf = (id: number) =>
    contract.call('priceOf(bytes,uint16)', word(64) + word(id) + bytesTail(GOLDEN));
  t.match(await priceOf(1), {
    ok: true,
    words: [1_765_215_119_172_715_000n, 1n, 100n * 10n ** 18n, NO_SCHEDULE, 1n, 0n, 0n, 0n],
  });
  for (const id of [0, 2, 65_535])
    t.same(await priceOf(id), { ok: false, error: selector('AssetMissing(uint16)') }, `${id}`);
});

/** Returns a payload of taxonomy 1 with these entries, signed by key 1. */
function signedPayload(entries: readonly (readonly [id: number, value: bigint])[]): Buffer {
  const body = Buffer.alloc(10 + 18 * entries.length);
  body.writeUInt16BE(1, 0);
  body.writeBigUInt64BE(GOLDEN_TIME_S * 1_000_000_000n, 2);
  for (const [i, [id, value]] of entries.entries()) {
    body.writeUInt16BE(id, 10 + 18 * i);
    body.write(word(value).slice(32), 12 + 18 * i, 'hex');
  }
  const { signature, recovery } = secp256k1.sign(keccak_256(body), SIGNING_KEY);
  return Buffer.concat([signature, Buffer.of(recovery), body]);
}

test('asset IDs that do not ascend are refused, also where one asset is asked for', async (t) => {
  const signer = `0x${Buffer.from(keccak_256(secp256k1.publicKey(SIGNING_KEY).subarray(1))).toString('hex', 12)}`;
  const contract = (await deploy([signer], 1)) as Contract;
  contract.timeS = GOLDEN_TIME_S;
  const unordered = { ok: false, error: selector('UnorderedAssets(uint16)') };
  const priceOf = (payload: Uint8Array, id: number) =>
    contract.call('priceOf(bytes,uint16)', word(64) + word(id) + bytesTail(payload));
  const ascending = signedPayload([
    [1, 10n],
    [2, -20n],
    [7, 70n],
  ]);
  for (const [id, value] of [
    [1, 10n],
    [2, -20n],
    [7, 70n],
  ] as const)
    t.match(await priceOf(ascending, id), {
      ok: true,
      words: [
        GOLDEN_TIME_S * 1_000_000_000n,
        BigInt(id),
        BigInt.asUintN(256, value),
        NO_SCHEDULE,
        1n,
        0n,
        0n,
        0n,
      ],
    });
  for (const ids of [
    [1, 1],
    [2, 1],
    [1, 7, 2],
    [1, 2, 7, 7],
    [7, 1, 2],
  ]) {
    const payload = signedPayload(ids.map((id, i) => [id, BigInt(i)]));
    t.same(await verify(contract, payload), unordered, `verify ${ids}`);
    for (const id of ids) t.same(await priceOf(payload, id), unordered, `priceOf ${id} of ${ids}`);
  }
});

test('the owner changes the signers, and nobody else does', async (t) => {
  const contract = (await deploy([], 1)) as Contract;
  contract.timeS = GOLDEN_TIME_S;
  const unknown = { ok: false, error: selector('UnknownSigner(address)') };
  t.same(await verify(contract, GOLDEN), unknown);
  const setSigner = (isAccepted: boolean, caller?: string) =>
    contract.call('setSigner(address,bool)', word(BigInt(GOLDEN_SIGNER)) + word(isAccepted ? 1 : 0), caller);
  const stranger = `0x${'22'.repeat(20)}`;
  t.same(await setSigner(true, stranger), { ok: false, error: selector('NotOwner()') });
  t.same(await verify(contract, GOLDEN), unknown);
  t.match(await setSigner(true), { ok: true });
  t.match(await verify(contract, GOLDEN), { ok: true });
  t.match(await setSigner(false), { ok: true });
  t.same(await verify(contract, GOLDEN), unknown);
});

test('ownership is transferred in two steps, and never to nobody', async (t) => {
  const contract = (await deploy([], 1)) as Contract;
  const [heir, stranger] = [`0x${'22'.repeat(20)}`, `0x${'33'.repeat(20)}`];
  const transfer = (to: string, caller?: string) =>
    contract.call('transferOwnership(address)', word(BigInt(to)), caller);
  const accept = (caller: string) => contract.call('acceptOwnership()', '', caller);
  const setSigner = (caller?: string) =>
    contract.call('setSigner(address,bool)', word(BigInt(GOLDEN_SIGNER)) + word(1), caller);
  const addressOf = async (name: string) => ((await contract.call(name, '')) as Outcome & { ok: true }).words;
  const [notOwner, notPending] = ['NotOwner()', 'NotPendingOwner()'].map((error) => ({
    ok: false,
    error: selector(error),
  }));

  t.same(await accept(stranger), notPending, 'nobody is named at first');
  t.same(await transfer(heir, stranger), notOwner);
  t.same(await transfer(`0x${'00'.repeat(20)}`), { ok: false, error: selector('InvalidOwner(address)') });
  t.match(await transfer(stranger), { ok: true }, 'a mistyped address');
  t.match(await transfer(heir), { ok: true }, 'is replaced');
  t.same(await addressOf('pendingOwner()'), [BigInt(heir)]);
  t.same(await accept(stranger), notPending);
  t.match(await setSigner(), { ok: true }, 'until the heir accepts nothing has changed');
  t.same(await setSigner(heir), notOwner);
  t.match(await accept(heir), { ok: true });
  t.same(await addressOf('owner()'), [BigInt(heir)]);
  t.same(await addressOf('pendingOwner()'), [0n]);
  t.same(await setSigner(), notOwner);
  t.match(await setSigner(heir), { ok: true });
  t.same(await accept(heir), notPending, 'once');
});

test('a taxonomy whose simplified payloads start with the magic byte is refused', async (t) => {
  t.same(await deploy([], 0xff00), selector('AmbiguousTaxonomy(uint16)'));
  t.type(await deploy([], 0xfeff), Contract);
});
