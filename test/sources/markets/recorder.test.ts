import { existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import type { TimeNs } from '../../../src/model/time.js';
import { MarketRoom } from '../../../src/sources/market_room.js';
import { Recorder } from '../../../src/sources/markets/recorder.js';
import { type RecordedCall, Replay } from '../../../src/sources/recording.js';
import { after, planOf } from '../plans.js';

const PLAN = planOf(`
sources: { kraken: { kind: kraken }, binance: { kind: binance }, desk: { kind: command, run: [x] } }
assets:
  USDTUSD: { from: [kraken USDT/USD, desk USDT], publish: false, max_age: 2s }
  BTCUSD: { from: [kraken BTC/USD, "binance BTC/USDT * USDTUSD"], max_age: 1s, bounds: [1, 12000] }
publish: { delta_percent: 0.05 }
`);

const STATUS = (system: string) => `{"channel":"status","data":[{"system":"${system}"}]}`;
const ticker = (pair: string, bid: number) =>
  `{"channel":"ticker","data":[{"symbol":"${pair}","bid":${bid},"ask":${bid * 1.0001}}]}`;

/** Records quotes with halts, silences and conversions. @returns the decisions */
function record(recorder: Recorder): string[] {
  const decisions: string[] = [];
  const add = (atNs: TimeNs, call: RecordedCall) => recorder.add(atNs, call, () => room.state());
  const room = new MarketRoom(PLAN, (line, { atNs }) => {
    decisions.push(line);
    add(atNs, { wrote: line });
  });
  const open = (begin: number, source: string, symbols: string[], rest?: true) => {
    add(after(0), { begin, source, symbols, rest });
    room.open({ begin, source, symbols, rest });
  };
  const read = (ms: number, connection: number, frame: string) => {
    add(after(ms), { read: connection, frame });
    room.read(connection, frame, after(ms));
  };
  open(1, 'kraken', ['BTC/USD', 'USDT/USD']);
  open(2, 'binance', ['BTC/USDT']);
  open(3, 'desk', ['USDT']);
  open(4, 'kraken', ['BTC/USD'], true);
  for (let i = 0; i < 400; i++) {
    const ms = i * 100;
    if (i % 120 === 100) read(ms, 1, STATUS('maintenance'));
    if (i % 120 === 110) read(ms, 1, STATUS('online'));
    read(ms, 1, i % 7 === 3 ? '{garbage' : ticker('BTC/USD', 10_000 + i * (i % 50 === 49 ? 500 : 10)));
    if (i % 90 < 60) read(ms + 10, 1, ticker('USDT/USD', 1));
    if (i % 90 < 70) read(ms + 20, 3, '{"symbol":"USDT","price":1.0001}');
    if (i % 60 < 50) read(ms + 30, 2, `{"s":"BTCUSDT","b":"${10_000 + i * 10}","a":"${10_001 + i * 10}"}`);
    if (i % 40 === 39) read(ms + 40, 4, `{"result":{"X":{"b":["${10_000 + i}"],"a":["${10_001 + i}"]}}}`);
    if (i % 5 === 0) {
      add(after(ms + 60), { tick: true });
      room.tick(after(ms + 60));
    }
  }
  recorder.close();
  return decisions;
}

/** @param change changes a line before it is replayed */
function replayOf(file: string, change = (line: string) => line) {
  const written: string[] = [];
  const replay = new Replay(PLAN, (line) => written.push(line));
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  const unread = lines.filter((line) => replay.take(change(line)) === undefined).length;
  const { different, additional } = replay;
  return { written, result: { different, additional, unread } };
}

test('each file of a recording that rotates is replayed alone, byte for byte', async (t) => {
  const dir = t.testdir();
  for (const bytesMax of [2_000, 31_000, 10e6]) {
    const file = join(dir, `${bytesMax}.jsonl`);
    const decisions = record(new Recorder(file, { bytesMax }));
    for (const text of ['"unsaid"', 'bounds']) t.ok(decisions.some((line) => line.includes(text)));
    const files = existsSync(`${file}.1`) ? [`${file}.1`, file] : [file];
    t.equal(files.length, bytesMax < 1e6 ? 2 : 1);
    const replayed = files.map((one) => replayOf(one));
    for (const { result } of replayed)
      t.same(result, { different: 0, additional: 0, unread: 0 }, `${bytesMax}`);
    const all = replayed.flatMap(({ written }) => written);
    t.same(all, decisions.slice(-all.length));
    // A line may exceed the limit, and so may the resulting decisions.
    for (const one of files) t.ok(statSync(one).size < bytesMax + 20_000);
    t.equal(statSync(file).mode & 0o777, 0o600);
  }
  const changed = replayOf(join(dir, `${10e6}.jsonl`), (line) => line.replace('"bid":1', '"bid":2'));
  t.ok(changed.result.different > 0, 'a changed frame is counted');
});

const skip = !existsSync('/dev/full') && 'there is no /dev/full';

test('a disk that is full ends the recording and nothing else', { skip }, async (t) => {
  const file = join(t.testdir(), 'r.jsonl');
  symlinkSync('/dev/full', file);
  const failures: string[] = [];
  const recorder = new Recorder(file, { onFailure: (reason) => failures.push(reason) });
  const decisions = record(recorder);
  t.ok(decisions.length > 100, `${decisions.length} decisions`);
  t.same(failures, ['ENOSPC'], 'said once');
  t.ok(recorder.isFailed);
});
