import { test } from 'tap';
import { Delays } from '../../bench/load/delays.js';
import { findLimit } from '../../bench/load/find_limit.js';
import { FrameAccount } from '../../bench/load/frame_account.js';
import { frameTimeNs } from '../../bench/load/frame_time.js';
import type { KindFigures, LoadResult } from '../../bench/load/load_run.js';
import { parseLoadOptions } from '../../bench/load/options.js';
import { brokenBounds } from '../../bench/load/verdict.js';

const URL_HERE = ['--url', 'ws://127.0.0.1:8080'];

test('options are read, and a wrong one is named', (t) => {
  const read = parseLoadOptions([...URL_HERE, '--readers', '5000', '--for', '90s', '--max-p99', '2500us']);
  t.match(read, { readers: 5_000, forMs: 90_000, channel: '100ms', type: 'signed_ecdsa', assets: 20 });
  t.equal(read.bounds.p99Ms, 2.5);
  for (const [args, reason] of [
    [[], '--url is missing'],
    [['--url', 'http://localhost'], '--url begins with ws:// or wss://, not http://'],
    [['--url', 'wss://prices.example.com'], '--url names prices.example.com, which is not this machine'],
    [[...URL_HERE, '--readers', '0'], '--readers is a whole number from 1 to 100000, not 0'],
    [[...URL_HERE, '--channel', '7ms'], '--channel is one of 10ms'],
    [[...URL_HERE, '--for', '10'], '--for is a time such as 60s or 5ms, not 10'],
    [[...URL_HERE, '--publish', '5'], '--publish needs --key-file and --oracle-id'],
    [[...URL_HERE, '--find-limit', 'readers'], '--find-limit needs a bound'],
    [
      [...URL_HERE, '--find-limit', 'rest', '--max-p99', '1s'],
      '--find-limit is readers or publish, not rest',
    ],
    [[...URL_HERE, '--token-file', '/none'], '--token-file /none cannot be read: ENOENT'],
  ] as const)
    t.throws(() => parseLoadOptions(args), { message: new RegExp(`^${reason}`) });
  t.ok(parseLoadOptions(['--url', 'wss://prices.example.com', '--yes-i-may-load-it']));
  t.end();
});

const SIGNED = (timeNs: bigint, rest = '00') =>
  Buffer.from(
    `{"type":"signed_ecdsa","p":"0x${'ab'.repeat(65)}0001${timeNs.toString(16).padStart(16, '0')}${rest}"}`,
  );

test('the time of a frame', (t) => {
  t.equal(frameTimeNs(SIGNED(1_795_225_720_550_934_301n)), 1_795_225_720_550_934_301n);
  const unsigned = '{"type":"unsigned","tax":1,"ts":1795225720550934301,"a":[{"id":1,"v":"3150"}]}';
  t.equal(frameTimeNs(Buffer.from(unsigned)), 1_795_225_720_550_934_301n);
  t.equal(frameTimeNs(Buffer.from('{"type":"subscribe","assets":[1],"invalid":[]}')), undefined);
  t.end();
});

test('frames, gaps and differences are counted', (t) => {
  const account = new FrameAccount(100, true, 2);
  const at = (tick: number, rest?: string) =>
    SIGNED(1_795_225_720_000_000_000n + BigInt(tick) * 100_000_000n, rest);
  for (const connection of [0, 1]) account.receive(at(0), connection);
  account.receive(Buffer.from('{"type":"pong"}'), 0);
  for (const connection of [0, 1]) account.receive(at(1), connection);
  account.receive(at(4), 0);
  account.receive(at(2), 1);
  account.receive(at(4, '01'), 1);
  t.match(account.take(), { frames: 7, gaps: 3, different: 1 });
  t.match(account.take(), { frames: 0, gaps: 0, different: 0 });
  t.equal(Delays.decode(account.delays.take()).count, 7);
  // The second connection goes silent, and the third never receives a frame.
  const silent = new FrameAccount(100, true, 3);
  for (const connection of [0, 1]) silent.receive(at(5), connection);
  silent.take();
  for (let tick = 6; tick <= 30; tick++) silent.receive(at(tick), 0);
  t.match(silent.take(), { frames: 25, gaps: 50 });
  silent.receive(at(31), 1);
  t.match(silent.take(), { frames: 1, gaps: 0 });
  t.equal(account.delays.count, 0);
  const other = new FrameAccount(100, false, 1);
  other.receive(at(1), 0);
  t.ok(other.delays.maxMs! < 1, 'with another clock, delays count from the shortest');
  t.end();
});

test('the knee is found between the last amount that holds and the first that does not', async (t) => {
  const tried: number[] = [];
  const upTo = (limit: number) => async (amount: number) => {
    tried.push(amount);
    return amount <= limit;
  };
  const { holds, breaks } = await findLimit(100, upTo(1_234));
  t.ok(holds! <= 1_234 && breaks! > 1_234 && breaks! - holds! <= 124, `${holds} ${breaks}`);
  t.ok(tried.length < 10);
  t.same(await findLimit(100, upTo(99)), { holds: undefined, breaks: 100 });
  t.same(await findLimit(1, upTo(10_000)), { holds: 256, breaks: undefined });
});

test('each broken bound is a sentence', (t) => {
  const figures = (p99Ms: number | undefined): KindFigures => ({
    frames: 1,
    bytes: 1,
    gaps: 2,
    different: 0,
    closed: 0,
    sent: 1,
    done: 1,
    refused: 0,
    lost: 0,
    cpuSeconds: 1,
    seconds: 1,
    p50Ms: 1,
    p99Ms,
    maxMs: 9,
  });
  const kinds = { readers: figures(7), publisher: figures(3), requests: figures(undefined) };
  const result = { total: { atSeconds: 1, kinds } } as unknown as LoadResult;
  const none = { p99Ms: undefined, ownP99Ms: undefined, restP99Ms: undefined, gaps: undefined };
  t.same(brokenBounds(result, none), []);
  const failed = {
    ...kinds,
    publisher: { ...figures(3), refused: 1, lost: 2 },
    requests: { ...figures(3), refused: 4 },
  };
  t.same(brokenBounds({ total: { atSeconds: 1, kinds: failed } } as unknown as LoadResult, none), [
    'updates that the service refused: 1 of 1',
    'updates that no frame showed within 10 s: 2 of 1',
    'requests that failed: 4 of 1',
  ]);
  const nothing = { ...kinds, readers: { ...figures(7), frames: 0 } };
  t.same(brokenBounds({ total: { atSeconds: 1, kinds: nothing } } as unknown as LoadResult, none), [
    'no reader received a frame',
  ]);
  t.same(brokenBounds(result, { p99Ms: 5, ownP99Ms: 3, restP99Ms: 4, gaps: 1 }), [
    'p99 of frames: 7 ms, at most 5 ms',
    'p99 of REST answers: nothing was measured',
    'gaps: 2, at most 1',
  ]);
  t.end();
});
