import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { eventually } from '../../scripts/load/wait.js';
import { encodeLogBatch } from '../../src/cluster/log/log_batch.js';
import { encodeNodeReport } from '../../src/cluster/node_report.js';
import { encodeTickBatch } from '../../src/cluster/ticks/tick_batch.js';
import type { SignatureType } from '../../src/model/asset.js';
import { FakeClock } from '../clock/fake_clock.js';
import { section } from '../pages.js';
import { Feed, units } from '../service/feed.js';
import { get } from '../service/harness.js';
import { ARCHIVE, MESSAGES, RELEASE, REQUESTS, startRelease, TIMES_S } from './release.js';

// Writes the files of a release with new formats: node dist/test/formats/write_release.js, after a change of the folder's name in
// release.ts.

mkdirSync(RELEASE, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), 'tickseal-release-'));
const clock = new FakeClock(BigInt(TIMES_S[0] - 1) * 1_000_000_000n);
const service = await startRelease({ teardown() {} }, folder, clock);
const feeds = new Map<SignatureType, Feed>();
for (const type of ['evm', 'stark'] as const)
  feeds.set(type, await Feed.open(service, { type, ack: 'durable', nowNs: () => clock.nowNs() }));
for (const [i, second] of TIMES_S.entries()) {
  clock.timeNs = BigInt(second) * 1_000_000_000n;
  await feeds.get('evm')!.accept({ symbol: 'BTCUSD', price: units(100 + i) });
  if (i === 0) await feeds.get('stark')!.accept({ symbol: 'DYDXUSD', price: units(3) });
  await eventually(async () => {
    const { data } = (await (await get(`${service.url}/v1/prices/latest?assets=BTCUSD`)).json()) as {
      data: Record<string, { price: string }>;
    };
    return data['BTCUSD']?.price === String(units(100 + i));
  });
}
await eventually(() => readdirSync(join(folder, 'past')).length > 1, { what: 'the first hour in its file' });
const checkpoint = async () => (await get(`${service.url}/tlog/checkpoint`)).text();
const before = await checkpoint();
clock.advance(60_000_000_000n);
await eventually(async () => (await checkpoint()) !== before, { what: 'a checkpoint with the last batch' });
const answers: Record<string, string> = { '/tlog/checkpoint': await checkpoint() };
for (const path of REQUESTS) answers[path] = await (await get(`${service.url}${path}`)).text();
await service.stop();
execFileSync('tar', ['-C', folder, '-czSf', ARCHIVE, '.']);
rmSync(folder, { recursive: true });
writeFileSync(join(RELEASE, 'answers.json'), `${JSON.stringify(answers, null, 2)}\n`);
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const messages = {
  batch: hex(encodeLogBatch(MESSAGES.batch)),
  tick: hex(encodeTickBatch(MESSAGES.tick)),
  report: hex(encodeNodeReport(MESSAGES.report)),
};
writeFileSync(join(RELEASE, 'messages.json'), `${JSON.stringify(messages, null, 2)}\n`);
const [, config = ''] = /```yaml\n([\s\S]*?)```/.exec(section('src/config/README.md', 'Every key'))!;
writeFileSync(join(RELEASE, 'config.json'), `${JSON.stringify(parse(config))}\n`);
