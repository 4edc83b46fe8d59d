import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { Ed25519Key } from '../../src/tlog/ed25519_key.js';
import { parsePolicy } from '../../src/tlog/log_policy.js';
import { formatVerifierKey } from '../../src/tlog/verifier_key.js';
import { distinctNowNs } from './feed.js';
import { SERVICE_KEYS, startTestService } from './harness.js';
import { placeOf, policyOf, priceOf } from './logged_prices.js';

const ORIGIN = 'prices.example.com/tlog';
const SEEDS = [Buffer.alloc(32, 0x33), Buffer.alloc(32, 0x34)] as const;
const [FORMER, NEXT] = SEEDS.map((seed) => `log ${formatVerifierKey(new Ed25519Key(seed).logKey(ORIGIN))}\n`);
const NOT_SIGNED = /has not signed the checkpoint/;
const QUORUM = 'quorum none\n';

test('a public log goes on under another key after a reload, for readers whose policy has both keys', async (t) => {
  const dir = t.testdir();
  const file = join(dir, 'log.policy');
  writeFileSync(file, `${FORMER}${NEXT}${QUORUM}`);
  const unused = { file: 'unused' };
  const sections = {
    keys: { evm: unused, stark: unused, log: unused },
    log: { origin: ORIGIN, batch: '100ms', checkpoint: '200ms', policy: { file } },
  };
  const keysOf = (log: Buffer) => ({ ...SERVICE_KEYS, log });
  let service = await startTestService(t, sections, { dir, keys: keysOf(SEEDS[0]) });
  const both = await policyOf(service);
  t.equal(both.logs.length, 2, 'readers learn the next key before it signs');
  const [before, after] = [FORMER, NEXT].map((line) => parsePolicy(`${line}${QUORUM}`)) as [
    typeof both,
    typeof both,
  ];
  const first = await priceOf(service, 'BTCUSD', 'evm', 100n, distinctNowNs());
  const place = await placeOf(service, first, both);
  await t.resolves(placeOf(service, first, before), 'the former key signs');
  service.reconfigure(sections, keysOf(SEEDS[1]));
  const second = await priceOf(service, 'BTCUSD', 'evm', 110n, distinctNowNs());
  const { size } = await placeOf(service, second, both);
  t.ok(size > place.size, 'the same log goes on after a reload');
  const third = await priceOf(service, 'BTCUSD', 'evm', 120n, distinctNowNs());
  await t.resolves(placeOf(service, third, after), 'the next key signs');
  await t.rejects(placeOf(service, third, before), NOT_SIGNED, 'and the former one no more');
  writeFileSync(file, `${NEXT}${QUORUM}`);
  t.throws(() => service.reconfigure(sections, keysOf(SEEDS[0])), /has no line "log /);
  service.reconfigure(sections, keysOf(SEEDS[1]));
  t.same((await policyOf(service)).logs.length, 1, 'a reload shows the changed policy');
  await service.stop();

  service = await startTestService(t, sections, { dir, keys: keysOf(SEEDS[1]) });
  const fourth = await priceOf(service, 'BTCUSD', 'evm', 130n, distinctNowNs());
  t.ok((await placeOf(service, fourth, after)).size > size, 'the same log goes on after a restart');
  t.equal((await placeOf(service, first, after)).batch.batch, place.batch.batch, 'with all earlier batches');
});
