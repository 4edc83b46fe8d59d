import { test } from 'tap';
import { CHAIN_CRYPTO } from '../../src/client/verify/chain_crypto.js';
import {
  ANNOUNCEMENT_WAIT_S,
  type ChainTrust,
  followChain,
  keysAt,
} from '../../src/model/announcement_chain.js';
import {
  type AnnouncedList,
  type AnnouncedSigner,
  NO_ROOT,
  readAnnouncement,
} from '../../src/wire/announcement.js';
import { addressOf, signChain } from './signed_chain.js';

const key = (byte: number) => new Uint8Array(32).fill(byte);
const [ROOT, ONE, TWO, THIEF] = [key(1), key(2), key(3), key(4)];
const NOW_S = 1_800_000_000;
const DAY_S = 86_400;

function signerOf(secret: Uint8Array, change: Partial<AnnouncedSigner> = {}): AnnouncedSigner {
  const always = { fromS: 0, untilS: undefined, isRevoked: false };
  return { kind: 'evm aggregate', key: addressOf(secret), ...always, ...change };
}

/** Creates a chain of lists with default values. */
function chainOf(...lists: (Partial<AnnouncedList> & { readonly by: Uint8Array })[]): string[] {
  return signChain(
    lists.map((list, i) => ({
      issuedS: NOW_S - 30 * DAY_S + i,
      expiresS: NOW_S + DAY_S,
      root: NO_ROOT,
      signers: [signerOf(ONE)],
      ...list,
    })),
  );
}

const rooted = (change: Partial<AnnouncedList> = {}) => ({ by: ROOT, root: addressOf(ROOT), ...change });
const TRUST: ChainTrust = { root: addressOf(ROOT), nowS: NOW_S };
const follow = (texts: readonly string[], trust: ChainTrust = TRUST) =>
  followChain(texts, trust, CHAIN_CRYPTO);

test('a list of a root key has the keys with their times', async (t) => {
  const signers = [
    signerOf(ONE, { untilS: NOW_S }),
    signerOf(TWO, { fromS: NOW_S, kind: 'stream' }),
    signerOf(THIEF, { isRevoked: true }),
    { ...signerOf(ONE), kind: 'stark aggregate' as const, key: `0x${'0a'.repeat(32)}` },
  ];
  const chain = follow(chainOf(rooted(), rooted({ signers })));
  t.match(chain, {
    ok: true,
    list: { version: 2, signers, signedBy: addressOf(ROOT) },
    waitingUntilS: undefined,
  });
  if (!chain.ok) return;
  const at = (second: number) => keysAt(chain.list, ['evm aggregate', 'stream'], second);
  t.same(at(NOW_S - 61), [addressOf(ONE)]);
  t.same(at(NOW_S), [addressOf(ONE), addressOf(TWO)], 'a minute for clocks that differ');
  t.same(at(NOW_S + 60), [addressOf(TWO)]);
});

test('a chain that is broken, replayed, rolled back or expired is refused at its announcement', async (t) => {
  const good = chainOf(rooted(), rooted(), rooted({ signers: [signerOf(TWO)] }));
  t.match(follow(good), { ok: true, list: { version: 3 } });
  t.match(follow(good.slice(1)), { ok: true }, 'an operator may leave out the oldest ones');
  const third = follow(good);
  const known = third.ok ? third.newest : undefined;
  const other = chainOf(rooted(), rooted(), rooted({ signers: [signerOf(THIEF)] }));
  const theft = chainOf(rooted(), rooted(), { ...rooted(), by: THIEF });
  const foreign = chainOf(rooted(), rooted({ expiresS: NOW_S + 9 }), rooted());
  const trusting = (more: Partial<ChainTrust>): ChainTrust => ({ ...TRUST, ...more });
  const cases: [texts: readonly string[], trust: ChainTrust, reason: RegExp][] = [
    [[], TRUST, /announces no keys/],
    [[good[0]!, good[2]!], TRUST, /^announcement 3: the chain breaks, announcement 2 is missing/],
    [[good[0]!, good[1]!, foreign[2]!], TRUST, /^announcement 3: .* does not follow announcement 2/],
    [[...good, good[2]!], TRUST, /^announcement 3: replayed/],
    [[...good, good[0]!], TRUST, /^announcement 1: replayed/],
    [good.slice(0, 2), trusting({ known }), /^announcement 2: rolled back, version 3 was accepted/],
    [other, trusting({ known }), /^announcement 3: it is not the one that was accepted before/],
    [[...good.slice(0, 2), theft[2]!], TRUST, /^announcement 3: signed by 0x/],
    [good, trusting({ root: addressOf(THIEF) }), /^announcement 1: signed by 0x/],
    [good, trusting({ nowS: NOW_S + DAY_S }), /^announcement 3: it expired at 2027-01-16T/],
    [good, trusting({ nowS: NOW_S - 40 * DAY_S }), /^announcement 1: issued in the future/],
    [chainOf(rooted({ root: NO_ROOT })), TRUST, /^announcement 1: it names no root/],
    [chainOf(rooted(), rooted({ issuedS: 5 })), TRUST, /^announcement 2: issued before/],
  ];
  for (const [texts, trust, reason] of cases) t.match(follow(texts, trust), { ok: false, reason });
});

test('every flipped byte is refused', async (t) => {
  const [first] = chainOf(rooted());
  const digits = first!.slice(2);
  let accepted = 0;
  for (let at = 0; at < digits.length; at += 2) {
    const byte = Number.parseInt(digits.slice(at, at + 2), 16) ^ 0x01;
    const flipped = `0x${digits.slice(0, at)}${byte.toString(16).padStart(2, '0')}${digits.slice(at + 2)}`;
    if (follow([flipped]).ok) accepted++;
  }
  t.equal(accepted, 0);
  t.type(readAnnouncement(`${first}00`), 'string', 'a byte too many');
  t.type(readAnnouncement(first!.slice(0, -2)), 'string', 'a byte too few');
});

test('a root may name the next root', async (t) => {
  const chain = chainOf(rooted({ root: addressOf(TWO) }), { by: TWO, root: addressOf(TWO) });
  t.match(follow(chain), { ok: true, list: { version: 2, signedBy: addressOf(TWO) } });
  const late = chainOf(rooted({ root: addressOf(TWO) }), rooted());
  t.match(follow(late), { ok: false, reason: /^announcement 2: signed by/ }, 'the former root ends');
});

test('a former key announces with a waiting time, and takes away at once', async (t) => {
  const trust = { keys: [addressOf(ONE)], nowS: NOW_S };
  const first = { by: ONE };
  const adds = { by: ONE, signers: [signerOf(ONE), signerOf(TWO)] };
  t.match(follow(chainOf(first, adds), trust), { ok: true, list: { version: 2 }, waitingUntilS: undefined });
  const young = chainOf(first, { ...adds, issuedS: NOW_S - 5 });
  const until = NOW_S - 5 + ANNOUNCEMENT_WAIT_S;
  const waiting = { ok: true, list: { version: 1 }, newest: { version: 2 }, waitingUntilS: until };
  t.match(follow(young, trust), waiting);
  const backdated = follow(chainOf(first, adds), { ...trust, firstSeenS: () => NOW_S - 1 });
  t.match(backdated, { ok: true, list: { version: 1 } }, 'a running reader counts from when it saw the list');
  const withoutTwo = [signerOf(ONE), signerOf(TWO, { isRevoked: true })];
  const revoked = chainOf(adds, { by: ONE, issuedS: NOW_S - 5, signers: withoutTwo });
  t.match(follow(revoked, trust), { ok: true, list: { version: 2 } }, 'a revocation counts at once');
  const thief = chainOf(first, { by: THIEF });
  t.match(follow(thief, trust), { ok: false, reason: /^announcement 2: signed by .* may not announce/ });
  const ended = chainOf({ by: ONE, signers: [signerOf(ONE, { untilS: 5 })] }, adds);
  t.match(follow(ended, trust), { ok: false, reason: /^announcement 2: .* was not in force then/ });
  const pinned = follow(chainOf({ by: ONE, issuedS: NOW_S - 5, signers: [signerOf(TWO)] }), trust);
  t.match(pinned, { ok: true, waitingUntilS: until });
  t.same(pinned.ok && keysAt(pinned.list, ['stream'], NOW_S), [addressOf(ONE)], 'the pinned key until then');
});
