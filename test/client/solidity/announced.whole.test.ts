import { type Test, test } from 'tap';
import { type AnnouncedSigner, NO_ROOT } from '../../../src/wire/announcement.js';
import { addressOf, type ListToSign, signChain } from '../../model/signed_chain.js';
import { build } from './build.js';
import { Chain, type Hex, type Result } from './chain.js';
import { NATIVE_ECRECOVER } from './native_ecrecover.js';
import { bodyOf, E18, hexOf, NS_PER_S, sign } from './payloads.js';

// Tests of contracts that follow the announcements of a root key.

const NOW_S = 1_800_000_000;
const DAY_S = 86_400;
const TAXONOMY_ID = 7;
const STRANGER = `0x${'22'.repeat(20)}`;
const key = (byte: number) => Buffer.alloc(32, byte);
const [ROOT, NEXT_ROOT, ONE, TWO, THREE, THIEF] = [key(1), key(2), key(3), key(4), key(5), key(6)];

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

async function chainAt(timeS: number): Promise<Chain> {
  const chain = await Chain.create([NATIVE_ECRECOVER]);
  chain.timeS = BigInt(timeS);
  return chain;
}

/** Deploys a verifier that follows the root. */
async function followRoot(signers: readonly string[] = []) {
  const chain = await chainAt(NOW_S);
  const contract = await chain.deploy(build('TicksealVerifier.sol'), [TAXONOMY_ID, 60n, 30n, signers]);
  await contract.call('setRoot', [addressOf(ROOT)]);
  return {
    chain,
    contract,
    announce: (texts: readonly string[]) => contract.call('announce', [texts], STRANGER),
    /** Returns whether the contract accepts payloads that the keys sign now. */
    async accepts(...secrets: Buffer[]): Promise<boolean[]> {
      const accepted = [];
      for (const secret of secrets)
        accepted.push((await contract.call('verify', [payloadOf(secret, chain.timeS)])).ok);
      return accepted;
    },
  };
}

function payloadOf(secret: Buffer, timeS: bigint, taxonomyId = TAXONOMY_ID): Hex {
  const assets = [{ id: 1, value: 100n * E18 }];
  const body = bodyOf({ taxonomyId, timestampNs: timeS * NS_PER_S, assets });
  return hexOf(sign(body, { secret, address: '0x' }));
}

function refused(t: Test, result: Result, error: string, what: string): void {
  t.match(result, { ok: false, error }, what);
}

test('anybody passes on an announcement, and its keys count within their times', async (t) => {
  const followed = await followRoot([addressOf(THREE)]);
  const { chain: evm } = followed;
  const changeS = NOW_S + 7 * DAY_S;
  const chain = signChain([
    list([streamKey(ONE), { ...streamKey(TWO), kind: 'evm aggregate' }]),
    list([streamKey(ONE, { untilS: changeS }), streamKey(TWO, { fromS: changeS })]),
    list([streamKey(TWO, { isRevoked: true })]),
  ]);
  t.same(await followed.accepts(ONE, TWO, THREE), [false, false, true]);
  t.match(await followed.announce(chain.slice(0, 1)), { ok: true });
  t.same(await followed.accepts(ONE, TWO, THREE), [true, false, true], 'keys of aggregates sign no payloads');
  t.match(await followed.announce(chain.slice(1, 2)), { ok: true });
  t.same(await followed.accepts(ONE, TWO), [true, false]);
  for (const [afterS, accepted] of [
    [-61, [true, false]],
    [-60, [true, true]],
    [59, [true, true]],
    [60, [false, true]],
  ] as const) {
    evm.timeS = BigInt(changeS + afterS);
    t.same(await followed.accepts(ONE, TWO), accepted, `${afterS} s after the change`);
  }
  t.match(await followed.announce(chain.slice(2)), { ok: true });
  t.same(await followed.accepts(ONE, TWO, THREE), [false, false, true], 'a revoked key ends at once');
});

test('each wrong announcement is refused with its reason, and changes nothing', async (t) => {
  const chain = signChain([list([streamKey(ONE)]), list([streamKey(TWO)]), list([streamKey(THREE)])]);
  const others = signChain([list([streamKey(THREE)]), list([streamKey(THREE)])]);
  const one = (change: Partial<ListToSign>) => signChain([list([streamKey(THREE)], change)]);
  const followed = await followRoot();
  const cases: [string, string, readonly string[]][] = [
    ['another signer', 'WrongRoot', one({ by: THIEF })],
    ['no announcement', 'NoAnnouncement', []],
    ['version 0', 'BrokenChain', one({ version: 0 })],
    ['a first one after another', 'BrokenChain', one({ previous: `0x${'01'.repeat(32)}` })],
    ['no next root', 'MissingNextRoot', one({ root: NO_ROOT })],
    ['an expired list', 'WrongAnnouncementTime', one({ expiresS: NOW_S })],
    ['issued in the future', 'WrongAnnouncementTime', one({ issuedS: NOW_S + 3_601 })],
    ['cut', 'WrongAnnouncementLength', [chain[0]!.slice(0, -2)]],
    ['longer', 'WrongAnnouncementLength', [chain[0]! + '00'.repeat(49)]],
    ['v of 27', 'InvalidSignature', [hexOf(Buffer.from(bytesOf(chain[0]!)).fill(27, 64, 65))]],
    ['a good one and then a wrong one', 'WrongRoot', [chain[0]!, ...one({ by: THIEF, version: 2 })]],
  ];
  for (const [what, error, texts] of cases) refused(t, await followed.announce(texts), error, what);
  t.match(await followed.announce(chain.slice(0, 2)), { ok: true }, 'two in one call');
  t.same(await followed.accepts(ONE, TWO, THREE), [false, true, false]);
  for (const texts of [chain.slice(1, 2), chain.slice(0, 1), others.slice(1)])
    refused(t, await followed.announce(texts), 'BrokenChain', 'a replay, a rollback, another list');
  t.same(await followed.accepts(ONE, TWO, THREE), [false, true, false]);
  t.match(await followed.announce(chain.slice(2)), { ok: true });
});

test('no flipped byte of an announcement is accepted', async (t) => {
  const followed = await followRoot();
  const bytes = bytesOf(signChain([list([streamKey(ONE), streamKey(TWO)])])[0]!);
  let accepted = 0;
  for (let at = 0; at < bytes.length; at++) {
    const flipped = Buffer.from(bytes);
    flipped[at]! ^= at % 2 === 0 ? 0x01 : 0x80;
    if ((await followed.announce([hexOf(flipped)])).ok) accepted++;
  }
  t.equal(accepted, 0, `flipped bytes of ${bytes.length}`);
  t.match(await followed.announce([hexOf(bytes)]), { ok: true });
});

test('a root names the next root, and only the owner names another', async (t) => {
  const followed = await followRoot();
  const { contract, chain: evm } = followed;
  const next = { by: NEXT_ROOT, root: addressOf(NEXT_ROOT) };
  const chain = signChain([
    list([streamKey(ONE)], { root: addressOf(NEXT_ROOT), expiresS: NOW_S - 10 }),
    list([streamKey(TWO)], next),
    list([streamKey(THREE)], { ...next, by: ROOT }),
  ]);
  t.match(await followed.announce(chain.slice(0, 2)), { ok: true }, 'one that has expired may be on the way');
  refused(t, await followed.announce(chain.slice(2)), 'WrongRoot', 'the former root');
  t.same(await followed.accepts(ONE, TWO, THREE), [false, true, false]);
  const setRoot = (root: string, caller?: string) => contract.call('setRoot', [root], caller);
  refused(t, await setRoot(addressOf(THIEF), STRANGER), 'NotOwner', 'a stranger names no root');
  t.match(await setRoot(NO_ROOT), { ok: true });
  t.same(await followed.accepts(TWO), [false], 'the keys of the former root end');
  refused(t, await followed.announce(chain.slice(0, 1)), 'NoRoot', 'without a root');
  t.match(await contract.call('setSignerUntil', [addressOf(ONE), NOW_S + 10]), { ok: true });
  t.same(await followed.accepts(ONE), [true]);
  evm.timeS += 10n;
  t.same(await followed.accepts(ONE), [false], 'an owner’s key ends too');
});

test('a quorum follows a root for each operator, and no operator takes the key of another', async (t) => {
  const rules = { threshold: 2, maxSpreadPpm: 10_000, maxAgeS: 60, maxFutureS: 5 };
  const evm = await chainAt(NOW_S);
  const contract = await evm.deploy(build('TicksealQuorum.sol'), [rules]);
  for (const [i, root] of [ROOT, NEXT_ROOT].entries())
    t.match(await contract.call('setRoot', [i + 1, i + 11, addressOf(root)]), { ok: true });
  const announce = (operator: number, texts: readonly string[]) =>
    contract.call('announce', [operator, texts], STRANGER);
  const by = (root: Buffer) => ({ by: root, root: addressOf(root) });
  const first = signChain([list([streamKey(ONE)]), list([streamKey(THREE, { fromS: NOW_S + 100 })])]);
  const second = signChain([list([streamKey(TWO)], by(NEXT_ROOT)), list([streamKey(ONE)], by(NEXT_ROOT))]);
  /** Returns the error for a vote of a key in taxonomy 11 or 12, beside that of the key of operator 2. */
  const priced = async (secret: Buffer, taxonomyId = 11) => {
    const votes = [[secret, taxonomyId] as const, [TWO, 12] as const];
    votes.sort(([a], [b]) => (BigInt(addressOf(a)) < BigInt(addressOf(b)) ? -1 : 1));
    const payloads = votes.map(([one, taxonomy]) => payloadOf(one, evm.timeS, taxonomy));
    const result = await contract.call('pricesOf', [payloads, [[1, 1]]]);
    return result.ok ? 'ok' : result.error;
  };
  t.match(await announce(1, first.slice(0, 1)), { ok: true });
  refused(t, await announce(2, first.slice(0, 1)), 'WrongRoot', 'the list of another operator');
  t.match(await announce(2, second.slice(0, 1)), { ok: true });
  t.equal(await priced(ONE), 'ok');
  t.equal(await priced(ONE, 12), 'WrongTaxonomy');
  refused(t, await announce(2, second.slice(1)), 'KeyOfAnotherOperator', 'a key is not taken');
  t.equal(await priced(ONE), 'ok');
  t.match(await announce(1, first.slice(1)), { ok: true });
  t.equal(await priced(ONE), 'UnknownSigner');
  t.equal(await priced(THREE), 'FutureSigner');
  evm.timeS += 40n;
  t.equal(await priced(THREE), 'ok');
});
