import { test } from 'tap';
import { listedSigners, mergeSigners } from '../../src/cli/announced_signers.js';
import { withAnnouncement } from '../../src/cli/announcement_file.js';
import { addressOf } from '../../src/cli/keygen_command.js';
import { createClient } from '../../src/client/node.js';
import { followSigners } from '../../src/client/signers_index.js';
import { CHAIN_CRYPTO } from '../../src/client/verify/chain_crypto.js';
import { systemClock } from '../../src/clock/clock.js';
import { followOwnChain } from '../../src/model/announcement_chain.js';
import { NS_PER_SECOND, type TimeNs } from '../../src/model/time.js';
import { announcementLines, NO_PREVIOUS } from '../../src/wire/announcement.js';
import { FakeClock } from '../clock/fake_clock.js';
import { THREAD_COUNTS } from '../tier.js';
import { Feed, units } from './feed.js';
import { get, SERVICE_KEYS, startTestService, TOKEN } from './harness.js';

const ROOT = Buffer.alloc(32, 0x51);
const [BEFORE, AFTER] = [Buffer.alloc(32, 0x52), Buffer.alloc(32, 0x53)];
const ASSETS = [{ id: 1, symbol: 'BTCUSD', max_age: '3600s' }];
const INGEST = { max_past: '600s', max_future: '600s' };

/** Announces the keys that a service has. */
async function announce(url: string, before: string, nowS: number, revoked?: Buffer): Promise<string> {
  const lines = announcementLines(before);
  const chain = lines.length === 0 ? undefined : followOwnChain(lines, CHAIN_CRYPTO);
  const newest = chain?.ok ? chain.list : undefined;
  const listed = listedSigners(await (await get(`${url}/v1/signers`)).text());
  const signers = mergeSigners(newest?.signers ?? [], listed, nowS).map((signer) => {
    const isRevoked = revoked !== undefined && signer.key === addressOf(revoked).toLowerCase();
    return isRevoked ? { ...signer, isRevoked } : signer;
  });
  return withAnnouncement(
    { text: before, lines, newest },
    {
      previous: newest?.digest ?? NO_PREVIOUS,
      version: (newest?.version ?? 0) + 1,
      issuedS: nowS,
      expiresS: nowS + 86_400,
      root: addressOf(ROOT).toLowerCase(),
      signers,
    },
    ROOT,
  );
}

for (const threads of THREAD_COUNTS) {
  test(`readers follow announced keys over a rotation with no frame refused, ${threads} threads`, async (t) => {
    const clock = new FakeClock(systemClock());
    const nowS = () => Number(clock.nowNs() / NS_PER_SECOND);
    const changeNs = ((clock.nowNs() / NS_PER_SECOND + 600n) * NS_PER_SECOND) as TimeNs;
    const keys = {
      ...SERVICE_KEYS,
      evm: [
        { key: BEFORE, fromNs: 0n as TimeNs, untilNs: changeNs },
        { key: AFTER, fromNs: changeNs, untilNs: undefined },
      ],
    };
    const sections = { assets: ASSETS, ingest: INGEST, listen: { threads } };
    const first = await startTestService(t, sections, { clock, keys });
    const text = await announce(first.url, '', nowS());
    t.match(text, new RegExp(`^# announcement 1: .*signed by the root ${addressOf(ROOT).toLowerCase()}`));
    await first.stop();

    const announcements = announcementLines(text);
    const service = await startTestService(t, sections, { clock, keys, announcements });
    const follow = (change: object = {}) =>
      followSigners({
        urls: service.url,
        root: addressOf(ROOT),
        nowMs: () => Number(clock.nowNs() / 1_000_000n),
        ...change,
      });
    const signers = await follow();
    t.teardown(() => signers.close());
    const errors: unknown[] = [];
    const gaps: number[] = [];
    const client = createClient({ urls: service.url, token: TOKEN, signers: signers.source, worker: false });
    client.on('error', (error) => errors.push(error));
    t.teardown(() => client.close());
    const feed = await Feed.open(service, { nowNs: () => clock.nowNs() });
    const stream = client.stream(['BTCUSD'], { channel: 'real_time', maxAgeMs: Number.POSITIVE_INFINITY });
    const ticks = stream[Symbol.asyncIterator]();
    const signedBy = new Set<string>();
    for (let price = 1; price <= 40; price++) {
      if (price === 20) clock.advanceMs(601_000);
      else clock.advanceMs(2);
      await feed.accept({ symbol: 'BTCUSD', price: units(price) });
      for (;;) {
        const { value } = await ticks.next();
        if (value === undefined) throw new Error('the stream has ended');
        if (value.price < units(price)) continue;
        if (value.price > units(price)) gaps.push(price);
        signedBy.add(value.signer);
        break;
      }
    }
    t.same([...signedBy], [addressOf(BEFORE), addressOf(AFTER)]);
    t.same([errors, gaps], [[], []], 'no frame refused, and none missing');
    t.match(await client.latest(['BTCUSD']), { BTCUSD: { verdict: 'verified', signer: addressOf(AFTER) } });

    await t.rejects(follow({ root: addressOf(BEFORE) }), /announcement 1: signed by/);
    await t.rejects(follow({ known: { version: 2, digest: '0x' } }), /announcement 1: rolled back/);

    clock.advanceMs(120_000);
    const revoked = announcementLines(await announce(service.url, text, nowS(), AFTER));
    const texts = { announcements: revoked };
    const fake = async () => ({
      status: 200,
      headers: { get: () => null },
      text: async () => JSON.stringify(texts),
    });
    const after = await follow({ fetch: fake });
    t.teardown(() => after.close());
    t.throws(() => after.source(), /names no key for this time/, 'a revoked key signs nothing that counts');
    t.notOk(after.source(clock.nowNs()).includes(addressOf(AFTER).toLowerCase()), 'nor an aggregate');
    await stream.close();
  });
}

test('a key that will sign and is not announced then is named ahead of its time', async (t) => {
  const first = await startTestService(t, { assets: ASSETS });
  const nowS = Math.floor(Date.now() / 1000);
  const announcements = announcementLines(await announce(first.url, '', nowS));
  const changeS = nowS + 3600;
  const changeNs = (BigInt(changeS) * NS_PER_SECOND) as TimeNs;
  const evm = [
    { key: SERVICE_KEYS.evm, fromNs: 0n as TimeNs, untilNs: changeNs },
    { key: AFTER, fromNs: changeNs, untilNs: undefined },
  ];
  const keys = { ...SERVICE_KEYS, evm };
  const other = await startTestService(t, { assets: ASSETS }, { keys, announcements });
  const ready = await fetch(`${other.adminUrl}/readyz`);
  t.equal(ready.status, 200);
  const warning = `the key ${addressOf(AFTER)} signs from ${new Date(changeS * 1000).toISOString().replace('.000Z', 'Z')} on, and no announcement names it then`;
  t.match(await ready.json(), { data: 'ok', warnings: [warning] });
  const metrics = await (await fetch(`${other.adminUrl}/metrics`)).text();
  t.match(metrics, `\ntickseal_next_key_not_announced_timestamp_seconds ${changeS}\n`);
  t.match(metrics, '\ntickseal_keys_not_announced 0\n');
});
