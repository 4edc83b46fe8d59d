import { keccak_256 } from '@noble/hashes/sha3.js';
import { type Test, test } from 'tap';
import { secp256k1 } from '../../../src/crypto/secp256k1/secp256k1.js';
import type { AnnouncedSigner } from '../../../src/wire/announcement.js';
import { NO_ROOT } from '../../../src/wire/announcement.js';
import { addressOf, type ListToSign, signChain } from '../../model/signed_chain.js';
import { bodyOf } from '../signed_payload.js';
import { bytesTail, Contract, compile, listOf, type Outcome, selector, word } from './contract.js';

// Tests of contracts that follow the announcements of a root key.

const NOW_S = 1_800_000_000;
const DAY_S = 86_400;
const TAXONOMY_ID = 7;
const STRANGER = `0x${'22'.repeat(20)}`;
const key = (byte: number) => Buffer.alloc(32, byte);
const [ROOT, NEXT_ROOT, ONE, TWO, THREE, THIEF] = [1, 2, 3, 4, 5, 6].map(key) as [
  Buffer,
  Buffer,
  Buffer,
  Buffer,
  Buffer,
  Buffer,
];

function streamKey(secret: Buffer, change: Partial<AnnouncedSigner> = {}): AnnouncedSigner {
  return {
    kind: 'stream',
    key: addressOf(secret),
    fromS: 0,
    untilS: undefined,
    isRevoked: false,
    ...change,
  };
}

/** Returns a list for the root to sign, with default values. */
function list(signers: readonly AnnouncedSigner[], change: Partial<ListToSign> = {}): ListToSign {
  return {
    by: ROOT,
    root: addressOf(ROOT),
    issuedS: NOW_S - DAY_S,
    expiresS: NOW_S + 90 * DAY_S,
    signers,
    ...change,
  };
}

const bytesOf = (hex: string) => Buffer.from(hex.slice(2), 'hex');
const announcements = (texts: readonly (string | Uint8Array)[]) =>
  listOf(texts.map((text) => bytesTail(typeof text === 'string' ? bytesOf(text) : text)));

const verifierCode = compile('TicksealVerifier');
const quorumCode = compile('TicksealQuorum');

/** A verifier that follows the root, and its calls. */
class Followed {
  private constructor(readonly contract: Contract) {}

  static async deploy(root = addressOf(ROOT), signers: readonly string[] = []): Promise<Followed> {
    const head = [TAXONOMY_ID, 60, 30, 128, signers.length].map(word).join('');
    const tail = signers.map((signer) => word(BigInt(signer))).join('');
    const contract = (await Contract.deploy(verifierCode, head + tail)) as Contract;
    contract.timeS = BigInt(NOW_S);
    await contract.call('setRoot(address)', word(BigInt(root)));
    return new Followed(contract);
  }

  announce(texts: readonly (string | Uint8Array)[], caller = STRANGER): Promise<Outcome> {
    return this.contract.call('announce(bytes[])', word(32) + announcements(texts), caller);
  }

  /** Returns whether the contract accepts a payload that the key signs now. */
  async accepts(secret: Buffer): Promise<boolean | string> {
    const outcome = await this.contract.call(
      'verify(bytes)',
      word(32) + bytesTail(payloadOf(secret, this.contract.timeS)),
    );
    return outcome.ok || outcome.error !== selector('UnknownSigner(address)') ? outcome.ok : false;
  }

  async acceptedOf(...secrets: Buffer[]): Promise<(boolean | string)[]> {
    const accepted = [];
    for (const secret of secrets) accepted.push(await this.accepts(secret));
    return accepted;
  }
}

function payloadOf(secret: Buffer, timeS: bigint, taxonomyId = TAXONOMY_ID): Buffer {
  const assets = [[1, 100n * 10n ** 18n, 1]] as const;
  const body = bodyOf({ taxonomyId, timestampNs: timeS * 1_000_000_000n, assets }, false);
  const { signature, recovery } = secp256k1.sign(keccak_256(body), secret);
  return Buffer.concat([signature, Buffer.of(recovery), body]);
}

function refused(t: Test, outcome: Outcome, error: string, what: string): void {
  t.same(outcome, { ok: false, error: selector(error) }, what);
}

test('anybody passes on an announcement, and its keys count within their times', async (t) => {
  const followed = await Followed.deploy(addressOf(ROOT), [addressOf(THREE)]);
  const { contract } = followed;
  const changeS = NOW_S + 7 * DAY_S;
  const chain = signChain([
    list([streamKey(ONE), { ...streamKey(TWO), kind: 'evm aggregate' }]),
    list([streamKey(ONE, { untilS: changeS }), streamKey(TWO, { fromS: changeS })]),
    list([streamKey(TWO, { isRevoked: true })]),
  ]);
  t.same(await followed.acceptedOf(ONE, TWO, THREE), [false, false, true]);
  const first = await followed.announce(chain.slice(0, 1));
  t.match(first, { ok: true });
  if (first.ok) t.comment(`an announcement of one key of payloads: ${first.transactionGas} gas`);
  t.same(
    await followed.acceptedOf(ONE, TWO, THREE),
    [true, false, true],
    'keys of aggregates sign no payloads',
  );
  t.match(await followed.announce(chain.slice(1, 2)), { ok: true });
  t.same(await followed.acceptedOf(ONE, TWO), [true, false]);
  for (const [afterS, accepted] of [
    [-61, [true, false]],
    [-60, [true, true]],
    [59, [true, true]],
    [60, [false, true]],
  ] as const) {
    contract.timeS = BigInt(changeS + afterS);
    t.same(await followed.acceptedOf(ONE, TWO), accepted, `${afterS} s after the change`);
  }
  t.match(await followed.announce(chain.slice(2)), { ok: true });
  t.same(await followed.acceptedOf(ONE, TWO, THREE), [false, false, true], 'a revoked key ends at once');
});

test('no key counts longer than its list', async (t) => {
  const followed = await Followed.deploy();
  await followed.announce(signChain([list([streamKey(ONE)], { expiresS: NOW_S + 100 })]));
  t.same(await followed.accepts(ONE), true);
  followed.contract.timeS += 99n;
  t.same(await followed.accepts(ONE), true);
  followed.contract.timeS += 1n;
  t.same(await followed.accepts(ONE), false);
});

test('each wrong announcement is refused with its reason, and changes nothing', async (t) => {
  const chain = signChain([list([streamKey(ONE)]), list([streamKey(TWO)]), list([streamKey(THREE)])]);
  const others = signChain([list([streamKey(THREE)]), list([streamKey(THREE)])]);
  const one = (change: Partial<ListToSign>) => signChain([list([streamKey(THREE)], change)]);
  const followed = await Followed.deploy();
  const cases: [string, string, readonly (string | Uint8Array)[]][] = [
    ['another signer', 'WrongRoot(address,address)', one({ by: THIEF })],
    ['no announcement', 'NoAnnouncement()', []],
    ['version 0', 'BrokenChain(uint32,uint32)', one({ version: 0 })],
    ['the last version', 'BrokenChain(uint32,uint32)', one({ version: 0xffffffff })],
    ['a first one after another', 'BrokenChain(uint32,uint32)', one({ previous: `0x${'01'.repeat(32)}` })],
    ['no next root', 'MissingNextRoot(uint32)', one({ root: NO_ROOT })],
    ['an expired list', 'WrongAnnouncementTime(uint64,uint64)', one({ expiresS: NOW_S })],
    [
      'expired before its issue',
      'WrongAnnouncementTime(uint64,uint64)',
      one({ issuedS: NOW_S, expiresS: NOW_S }),
    ],
    ['issued in the future', 'WrongAnnouncementTime(uint64,uint64)', one({ issuedS: NOW_S + 3_601 })],
    ['cut', 'WrongAnnouncementLength(uint256)', [bytesOf(chain[0]!).subarray(0, -1)]],
    ['longer', 'WrongAnnouncementLength(uint256)', [Buffer.concat([bytesOf(chain[0]!), Buffer.alloc(49)])]],
    ['empty', 'WrongAnnouncementLength(uint256)', [Buffer.alloc(0)]],
    ['v of 27', 'InvalidSignature()', [Buffer.from(bytesOf(chain[0]!)).fill(27, 64, 65)]],
    [
      'a good one and then a wrong one',
      'WrongRoot(address,address)',
      [chain[0]!, ...one({ by: THIEF, version: 2 })],
    ],
  ];
  for (const [what, error, texts] of cases) refused(t, await followed.announce(texts), error, what);
  t.match(await followed.announce(chain.slice(0, 2)), { ok: true }, 'two in one call');
  t.same(await followed.acceptedOf(ONE, TWO, THREE), [false, true, false]);
  for (const [what, texts] of [
    ['a replay', chain.slice(1, 2)],
    ['a rollback', chain.slice(0, 1)],
    ['another list of the same version', others.slice(1)],
    ['another chain', signChain([list([]), list([]), list([streamKey(THREE)])]).slice(2)],
  ] as const)
    refused(t, await followed.announce(texts), 'BrokenChain(uint32,uint32)', what);
  t.same(await followed.acceptedOf(ONE, TWO, THREE), [false, true, false]);
  t.match(await followed.announce(chain.slice(2)), { ok: true });
});

test('no flipped byte of an announcement is accepted', async (t) => {
  const followed = await Followed.deploy();
  const bytes = bytesOf(signChain([list([streamKey(ONE), streamKey(TWO)])])[0]!);
  let accepted = 0;
  for (let at = 0; at < bytes.length; at++) {
    const flipped = Buffer.from(bytes);
    flipped[at]! ^= at % 2 === 0 ? 0x01 : 0x80;
    if ((await followed.announce([flipped])).ok) accepted++;
  }
  t.equal(accepted, 0, `flipped bytes of ${bytes.length}`);
  t.match(await followed.announce([bytes]), { ok: true });
});

test('a root names the next root, and only the owner names another', async (t) => {
  const followed = await Followed.deploy();
  const { contract } = followed;
  const next = { by: NEXT_ROOT, root: addressOf(NEXT_ROOT) };
  const chain = signChain([
    list([streamKey(ONE)], { root: addressOf(NEXT_ROOT), expiresS: NOW_S - 10 }),
    list([streamKey(TWO)], next),
    list([streamKey(THREE)], { ...next, by: ROOT }),
  ]);
  t.match(await followed.announce(chain.slice(0, 2)), { ok: true }, 'one that has expired may be on the way');
  refused(t, await followed.announce(chain.slice(2)), 'WrongRoot(address,address)', 'the former root');
  t.same(await followed.acceptedOf(ONE, TWO, THREE), [false, true, false]);
  const setRoot = (root: string, caller?: string) =>
    contract.call('setRoot(address)', word(BigInt(root)), caller);
  refused(t, await setRoot(addressOf(THIEF), STRANGER), 'NotOwner()', 'a stranger names no root');
  t.match(await setRoot(NO_ROOT), { ok: true });
  t.same(await followed.accepts(TWO), false, 'the keys of the former root end');
  refused(t, await followed.announce(chain.slice(0, 1)), 'NoRoot(uint16)', 'without a root');
  t.match(
    await contract.call('setSignerUntil(address,uint64)', word(BigInt(addressOf(ONE))) + word(NOW_S + 10)),
    { ok: true },
  );
  t.same(await followed.accepts(ONE), true);
  contract.timeS += 10n;
  t.same(await followed.accepts(ONE), false, 'an owner’s key ends too');
});

test('a quorum follows a root for each operator, and no operator takes the key of another', async (t) => {
  const roots = [ROOT, NEXT_ROOT];
  const contract = (await Contract.deploy(quorumCode, [2, 10_000, 60, 5].map(word).join(''))) as Contract;
  contract.timeS = BigInt(NOW_S);
  for (const [i, root] of roots.entries())
    t.match(
      await contract.call(
        'setRoot(uint16,uint16,address)',
        [i + 1, i + 11, BigInt(addressOf(root))].map(word).join(''),
      ),
      { ok: true },
    );
  const announce = (operator: number, texts: readonly string[]) =>
    contract.call('announce(uint16,bytes[])', word(operator) + word(64) + announcements(texts), STRANGER);
  const by = (root: Buffer) => ({ by: root, root: addressOf(root) });
  const first = signChain([list([streamKey(ONE)]), list([streamKey(THREE, { fromS: NOW_S + 100 })])]);
  const second = signChain([list([streamKey(TWO)], by(NEXT_ROOT)), list([streamKey(ONE)], by(NEXT_ROOT))]);
  const priced = async (votes: readonly (readonly [Buffer, number])[]) => {
    const sorted = [...votes].sort(([a], [b]) => (BigInt(addressOf(a)) < BigInt(addressOf(b)) ? -1 : 1));
    const payloads = listOf(
      sorted.map(([secret, taxonomy]) => bytesTail(payloadOf(secret, contract.timeS, taxonomy))),
    );
    const ids = listOf([word(sorted.length) + sorted.map(() => word(1)).join('')]);
    const outcome = await contract.call(
      'pricesOf(bytes[],uint16[][])',
      word(64) + word(64 + payloads.length / 2) + payloads + ids,
    );
    return outcome.ok ? true : outcome.error;
  };
  t.match(await announce(1, first.slice(0, 1)), { ok: true });
  refused(
    t,
    await announce(2, first.slice(0, 1)),
    'WrongRoot(address,address)',
    'the list of another operator',
  );
  t.match(await announce(2, second.slice(0, 1)), { ok: true });
  t.same(
    await priced([
      [ONE, 11],
      [TWO, 12],
    ]),
    true,
  );
  t.same(
    await priced([
      [ONE, 12],
      [TWO, 12],
    ]),
    selector('WrongTaxonomy(uint16)'),
  );
  refused(
    t,
    await announce(2, second.slice(1)),
    'KeyOfAnotherOperator(address,uint16)',
    'a key is not taken',
  );
  t.same(
    await priced([
      [ONE, 11],
      [TWO, 12],
    ]),
    true,
  );
  t.match(await announce(1, first.slice(1)), { ok: true });
  t.same(
    await priced([
      [ONE, 11],
      [TWO, 12],
    ]),
    selector('UnknownSigner(address)'),
  );
  t.same(
    await priced([
      [THREE, 11],
      [TWO, 12],
    ]),
    selector('FutureSigner(address,uint64)'),
  );
  contract.timeS += 40n;
  t.same(
    await priced([
      [THREE, 11],
      [TWO, 12],
    ]),
    true,
  );
});
