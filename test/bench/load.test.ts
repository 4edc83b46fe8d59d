import { test } from 'tap';
import { Delays, nowMicros } from '../../bench/load/delays.js';
import { findLimit } from '../../bench/load/find_limit.js';
import { FrameAccount, frameTimeNs } from '../../bench/load/frame_account.js';
import { brokenBounds } from '../../bench/load/load_report.js';
import type { KindFigures, LoadResult } from '../../bench/load/load_run.js';
import { parseLoadOptions } from '../../bench/load/options.js';
import { PacedEvents } from '../../bench/load/paced_events.js';

const URL_HERE = ['--url', 'ws://127.0.0.1:8080'];

test('options are read, and a wrong one is named', (t) => {
  const read = parseLoadOptions([...URL_HERE, '--readers', '5000', '--for', '90s', '--max-p99', '2500us']);
  t.match(read, { readers: 5_000, for: 90_000, channel: '100ms', type: 'signed_ecdsa', assets: 20 });
  t.equal(read.maxP99, 2.5);
  for (const [args, reason] of [
    [[], '--url is missing'],
    [['--url', 'http://localhost'], '--url begins with ws:// or wss://, not http://'],
    [['--url', 'wss://prices.example.com'], '--url names prices.example.com, which is not this machine'],
    [[...URL_HERE, '--readers', '0'], '--readers is a whole number from 1 to 100000, not 0'],
    [[...URL_HERE, '--for', '10'], '--for is a time such as 60s or 5ms, not 10'],
    [[...URL_HERE, '--publish', '5'], '--publish needs --key-file and --oracle-id'],
    [['--url', 'ws://me:secret@127.0.0.1:8080'], '--url is only a host and a port'],
    [[...URL_HERE, '--json', '/none/load.json'], '--json /none/load.json cannot be written: ENOENT'],
    [[...URL_HERE, '--token-file', '/none'], '--token-file /none cannot be read: ENOENT'],
  ] as const)
    t.throws(() => parseLoadOptions(args), { message: new RegExp(`^${reason}`) });
  const folder = t.testdir({ key: '101'.padStart(64, '0'), none: 'no key' });
  const publish = (key: string, oracleId: string, type = 'evm') => [
    ...[...URL_HERE, '--publish', '5', '--key-file', `${folder}/${key}`],
    ...['--oracle-id', oracleId, '--signature-type', type],
  ];
  t.match(parseLoadOptions(publish('key', 'tests', 'stark')), { signatureType: 'stark', oracleId: 'tests' });
  for (const [args, reason] of [
    [publish('none', 'tests'), '--key-file has no private key'],
    [publish('key', 'four'), '--publish cannot sign .*: oracleId must be 5 ASCII characters'],
  ] as const)
    t.throws(() => parseLoadOptions(args), { message: new RegExp(`^${reason}`) });
  t.ok(parseLoadOptions(['--url', 'wss://prices.example.com', '--yes-i-may-load-it']));
  t.end();
});

const SIGNED = (timeNs: bigint) =>
  Buffer.from(
    `{"type":"signed_ecdsa","p":"0x${'ab'.repeat(65)}0001${timeNs.toString(16).padStart(16, '0')}00"}`,
  );

test('the time of a frame', (t) => {
  t.equal(frameTimeNs(SIGNED(1_795_225_720_550_934_301n)), 1_795_225_720_550_934_301n);
  const unsigned = '{"type":"unsigned","tax":1,"ts":1795225720550934301,"a":[{"id":1,"v":"3150"}]}';
  t.equal(frameTimeNs(Buffer.from(unsigned)), 1_795_225_720_550_934_301n);
  t.equal(frameTimeNs(Buffer.from('{"type":"subscribe","assets":[1],"invalid":[]}')), undefined);
  t.end();
});

test('frames and gaps are counted', (t) => {
  const account = new FrameAccount(100, true, 2);
  const at = (tick: number) => SIGNED(1_795_225_720_000_000_000n + BigInt(tick) * 100_000_000n);
  for (const connection of [0, 1]) account.receive(at(0), connection);
  account.receive(Buffer.from('{"type":"pong"}'), 0);
  for (const connection of [0, 1]) account.receive(at(1), connection);
  account.receive(at(4), 0);
  account.receive(at(2), 1);
  account.receive(at(4), 1);
  const { delays, ...counts } = account.take();
  t.match(counts, { frames: 7, gaps: 3 });
  t.match(account.take(), { frames: 0, gaps: 0 });
  t.equal(Delays.decode(delays).count, 7 + 3, 'a missing tick has a delay too');
  t.equal(account.receive(Buffer.from('{"type":"error","error":"no"}'), 0), false);
  const other = new FrameAccount(100, false, 1);
  other.receive(at(1), 0);
  t.ok(Delays.decode(other.take().delays).maxMs! < 1, 'with another clock, delays count from the shortest');
  t.end();
});

const START_MICROS = 1_795_225_720_000_000;
const INTERVAL_MICROS = 100_000;
const tickAt = (tick: number) => SIGNED(BigInt(START_MICROS + tick * INTERVAL_MICROS) * 1_000n);

for (const isSameClock of [true, false])
  test(`ticks that a service leaves out have a delay, ${isSameClock ? 'the same clock' : 'another clock'}`, (t) => {
    const skew = isSameClock ? 0 : 3_600_000_000;
    let now = 0;
    const to = (tick: number) => {
      now = START_MICROS + tick * INTERVAL_MICROS + skew;
    };
    const account = new FrameAccount(100, isSameClock, 3, () => now);
    for (let tick = 0; tick <= 3; tick++) {
      to(tick);
      account.receive(tickAt(tick), 0);
    }
    account.begin();
    for (let tick = 4; tick <= 10; tick++) {
      to(tick);
      for (const connection of [0, 1]) account.receive(tickAt(tick), connection);
    }
    t.match(account.take(), { frames: 14, gaps: 0 }, 'the frames before the beginning do not count');
    // The service stands still for 2 s, and the third connection never has a frame.
    to(30);
    for (const connection of [0, 1]) account.receive(tickAt(30), connection);
    const still = account.take();
    t.match(still, { frames: 2, gaps: 38 });
    const stopped = Delays.decode(still.delays);
    t.equal(stopped.count, 40);
    t.ok(Math.abs(stopped.maxMs! - 1_900) < 20, `${stopped.maxMs} ms`);
    // The service stands still until after the end of the load.
    to(40);
    account.end();
    to(50);
    account.receive(tickAt(40), 0);
    account.receive(tickAt(50), 0);
    account.countMissing();
    const end = account.take();
    t.match(end, { frames: 1, gaps: 9 + 10 + 37 });
    const missing = Delays.decode(end.delays);
    t.equal(missing.count, 1 + 9 + 10 + 37);
    t.ok(Math.abs(missing.maxMs! - 4_600) < 50, `${missing.maxMs} ms`);
    t.end();
  });

test('events are due at a constant rate, the first at once, and count from the beginning', (t) => {
  const schedule = new PacedEvents(50);
  t.equal(schedule.next(1_000), 1_000);
  t.equal(schedule.next(20_999), undefined);
  t.same([schedule.next(62_000), schedule.next(62_000), schedule.next(62_000)], [21_000, 41_000, 61_000]);
  t.equal(schedule.next(62_000), undefined);
  t.equal(schedule.made, 4);
  t.equal(schedule.intendedOf(4), 81_000);
  schedule.count('lost', 81_000);
  schedule.countClosed();
  schedule.begin();
  schedule.count('sent', 81_000);
  t.match(schedule.take(), { sent: 0, lost: 0, closed: 1 });
  const intended = nowMicros();
  schedule.count('sent', intended);
  schedule.count('done', intended);
  schedule.count('refused', intended);
  const { delays, ...counts } = schedule.take();
  t.match(counts, { sent: 1, done: 1, refused: 1, lost: 0, closed: 0 });
  t.equal(Delays.decode(delays).count, 1, 'an update that is done has a delay');
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
  t.same(brokenBounds(result, {}), []);
  const failed = {
    ...kinds,
    publisher: { ...figures(3), refused: 1, lost: 2 },
    requests: { ...figures(3), refused: 4, lost: 3 },
  };
  const refusal = '{"type":"error"}';
  t.same(brokenBounds({ total: { atSeconds: 1, kinds: failed }, refusal } as unknown as LoadResult, {}), [
    'updates that the service refused: 1 of 1, the first with {"type":"error"}',
    'updates that no frame showed within 10 s: 2 of 1',
    'requests without an answer within 10 s: 3 of 1',
    'requests that failed: 4 of 1',
  ]);
  const nothing = { ...kinds, readers: { ...figures(7), frames: 0 } };
  t.same(brokenBounds({ total: { atSeconds: 1, kinds: nothing } } as unknown as LoadResult, {}), [
    'no reader received a frame',
  ]);
  t.same(brokenBounds(result, { maxP99: 5, maxOwnP99: 3, maxRestP99: 4, maxGaps: 1 }), [
    'p99 of frames: 7 ms, at most 5 ms',
    'p99 of REST answers: nothing was measured',
    'gaps: 2, at most 1',
  ]);
  t.end();
});
