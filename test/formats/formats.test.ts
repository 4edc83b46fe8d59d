import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { registerStore } from '../../src/cli/store_command.js';
import { decodeLogBatch } from '../../src/cluster/log/log_batch.js';
import { decodeNodeReport } from '../../src/cluster/node_report.js';
import { decodeTickBatch } from '../../src/cluster/ticks/tick_batch.js';
import { parseConfig } from '../../src/config/load.js';
import { runCommand } from '../cli/run_command.js';
import { FakeClock } from '../clock/fake_clock.js';
import { get } from '../service/harness.js';
import { ARCHIVE, MESSAGES, RELEASE, startRelease, TIMES_S } from './release.js';

// Tests that this program reads what a release has written. If one fails, the format has changed: give it another number, and write the
// files of the next release (write_release.ts).

const json = <T>(file: string): T => JSON.parse(readFileSync(join(RELEASE, file), 'utf8'));

test('a data folder of the release is whole, and a service on it gives the same answers', async (t) => {
  const dir = t.testdir();
  execFileSync('tar', ['-C', dir, '-xzpf', ARCHIVE]);
  const parts = readdirSync(dir);
  for (const part of ['format', 'log', 'past', 'candles', 'state.snapshot', 'streaming_ids.txt', 'tlog'])
    t.ok(parts.includes(part), part);
  const { stdout, exitCode } = await runCommand(registerStore, ['store', dir, '--json']);
  t.equal(exitCode, 0);
  t.match(JSON.parse(stdout[0]!), {
    damage: [],
    isClean: true,
    newestSecond: TIMES_S[2],
    assets: { length: 2 },
  });
  const clock = new FakeClock(BigInt(TIMES_S[2] + 600) * 1_000_000_000n);
  const service = await startRelease(t, dir, clock);
  const answer = async (path: string) => (await get(`${service.url}${path}`)).text();
  const { '/tlog/checkpoint': checkpoint = '', ...answers } = json<Record<string, string>>('answers.json');
  for (const [path, text] of Object.entries(answers)) t.equal(await answer(path), text, path);
  const sizeOf = (text: string) => Number(text.split('\n')[1]);
  t.ok(sizeOf(await answer('/tlog/checkpoint')) >= sizeOf(checkpoint), 'the public log goes on');
});

test('messages between nodes of the release are read', async (t) => {
  const messages = json<Record<keyof typeof MESSAGES, string>>('messages.json');
  const bytesOf = (name: keyof typeof MESSAGES) => new Uint8Array(Buffer.from(messages[name], 'hex'));
  t.same(decodeLogBatch(bytesOf('batch')), MESSAGES.batch);
  t.same(decodeTickBatch(bytesOf('tick')), MESSAGES.tick);
  t.match(decodeNodeReport({ node: 2, role: 'aggregator' }, bytesOf('report')), MESSAGES.report);
});

test('a configuration with each key of the release is valid', async (t) => {
  const read = parseConfig(readFileSync(join(RELEASE, 'config.json'), 'utf8'), 'config.json');
  t.same(read.ok ? [] : read.errors, []);
});
