import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Test, test } from 'tap';
import { type ProxyState, TcpProxy } from '../../scripts/load/tcp_proxy.js';
import { eventually } from '../../scripts/load/wait.js';
import { ServeProcess, writeConfig } from './child.js';
import {
  checkReader,
  type Reader,
  ReaderProcess,
  SteadyFeed,
  StreamReader,
  untilLive,
} from './gap_reader.js';
import { startTestService } from './harness.js';

// Tests of the prices that a reader misses after real cuts, in suspended processes, and when services fail in turn. The cuts run at the
// same time.

const SECTIONS = { assets: [{ id: 1, symbol: 'BTCUSD', max_age: '24h', clock_period: '24h' }] };
const STORED = { past: { proofs: '7d', signatures: '90d' } };
const KINDS = ['whole', 'live', 'ticks'] as const;
const WHOLE_KINDS = ['whole', 'whole ticks'] as const;
/**
 * The cuts: the state of the proxy, its duration, and the number of gaps that a `whole` reader then reports. A short silence only
 * delays payloads.
 */
const CUTS: readonly (readonly [ProxyState, ms: number, gaps: number])[] = [
  ['closed', 100, 1],
  ['closed', 1_000, 1],
  ['closed', 10_000, 1],
  ['silent', 100, 0],
  ['silent', 1_000, 0],
  ['silent', 10_000, 1],
  ['silent', 60_000, 1],
];

function temporaryFolder(t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-cuts-'));
  t.teardown(() => rmSync(dir, { recursive: true }));
  return dir;
}

test('cuts cost a reader with backfill no aggregate, and another reader is told each', async (t) => {
  const service = await startTestService({ ...SECTIONS, storage: { dir: temporaryFolder(t), ...STORED } });
  t.teardown(() => service.stop());
  const port = Number(new URL(service.url).port);
  const startProxy = async () => {
    const proxy = await TcpProxy.start(port);
    t.teardown(() => proxy.stop());
    return proxy;
  };
  const feed = await SteadyFeed.start(service);
  const all = new ReaderProcess(t, service.url, 'whole ticks');
  const readers = new Map<string, Reader>();

  const cut = async ([state, ms, gaps]: (typeof CUTS)[number]) => {
    const proxy = await startProxy();
    const behind = KINDS.map((kind) => new StreamReader(t, `http://127.0.0.1:${proxy.port}`, kind));
    for (const reader of behind) readers.set(`${state} ${ms} ms, ${reader.kind}`, reader);
    await eventually(() => behind.every(({ ticks }) => ticks.length > 3));
    proxy.state = state;
    await wait(ms);
    proxy.state = 'open';
    await Promise.all(behind.map(untilLive));
    t.equal(behind[0]!.gaps.length, gaps, `${state} ${ms} ms`);
    await Promise.all(behind.map((reader) => reader.end()));
  };

  /** Cuts the connections of a reader one after the other. */
  const cutInTurn = async () => {
    const proxies = [await startProxy(), await startProxy()];
    const urls = proxies.map((proxy) => `http://127.0.0.1:${proxy.port}`);
    const both = WHOLE_KINDS.map((kind) => new StreamReader(t, urls, kind));
    for (const reader of both) readers.set(`in turn, ${reader.kind}`, reader);
    for (const state of ['closed', 'silent', 'closed', 'silent'] as const)
      for (const [i, proxy] of proxies.entries()) {
        await eventually(() => both.every(({ open }) => open.size === 2));
        // The second connection reads the symbols before its first payload.
        const seen = both.map(({ ticks }) => ticks.length);
        await eventually(() => both.every(({ ticks }, j) => ticks.length > seen[j]! + 10));
        proxy.state = state;
        await wait(state === 'closed' ? 500 : 1_500);
        proxy.state = 'open';
        t.same(
          both.map(({ gaps }) => gaps),
          [[], []],
          `${state}, service ${i}: no gap`,
        );
      }
    await Promise.all(both.map((reader) => reader.end()));
  };

  const suspend = async (kind: Reader['kind']) => {
    const reader = new ReaderProcess(t, service.url, kind);
    readers.set(`suspended, ${kind}`, reader);
    for (const ms of [500, 3_000, 12_000]) {
      const seen = reader.ticks.length;
      await eventually(() => reader.ticks.length > seen + 3);
      await reader.suspend(ms);
    }
    await untilLive(reader);
    await reader.end();
  };

  await Promise.all([...CUTS.map(cut), cutInTurn(), ...KINDS.map(suspend)]);
  await feed.stop(all);
  for (const [name, reader] of readers)
    await checkReader(t, name, service.url, reader, { all, mayReconnect: name.startsWith('closed') });
});

test('a suspended service is a gap only if the reader has connected again', async (t) => {
  const dir = temporaryFolder(t);
  const running = new ServeProcess([
    '--config',
    writeConfig(dir, { ...SECTIONS, storage: { dir: `${dir}/data`, ...STORED } }),
  ]);
  t.teardown(() => running.kill());
  const { url, socketUrl } = await running.ready();
  const feed = await SteadyFeed.start({ socketUrl });
  const readers = KINDS.map((kind) => new StreamReader(t, url, kind));
  for (const [ms, gaps] of [
    [2_000, 0],
    [8_000, 1],
  ] as const) {
    const seen = readers.map(({ ticks }) => ticks.length);
    const haveTicks = () => readers.every(({ ticks }, i) => ticks.length > seen[i]! + 3);
    await eventually(haveTicks);
    running.child.kill('SIGSTOP');
    await wait(ms);
    seen.splice(0, seen.length, ...readers.map(({ ticks }) => ticks.length));
    running.child.kill('SIGCONT');
    await eventually(haveTicks);
    t.equal(readers[0]!.gaps.length, gaps, `${ms} ms`);
  }
  await feed.stop(...readers);
  for (const reader of readers.slice(0, 2)) await checkReader(t, reader.kind, url, reader);
});
