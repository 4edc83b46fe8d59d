import { test } from 'tap';
import type { TimeNs } from '../../src/model/time.js';
import { MarketRoom } from '../../src/sources/market_room.js';
import { RecordedLines } from '../../src/sources/recorded_lines.js';
import { parseCall, type RecordedCall, Replay } from '../../src/sources/recording.js';
import { after, planOf } from './plans.js';

const PLAN = planOf(`
sources: { binance: { kind: binance }, desk: { kind: command, run: [x] } }
assets: { BTCUSD: { from: [binance BTC/USDT, desk BTC], max_age: 1s } }
`);

const quoteOf = (bid: number) => `{"s":"BTCUSDT","b":"${bid}","a":"${bid + 1}"}`;

/** Returns the line of a call without its line feed. */
function lineOf(atNs: TimeNs, call: RecordedCall): string {
  const lines = new RecordedLines(16);
  lines.add(atNs, call);
  return Buffer.from(lines.all).toString().slice(0, -1);
}

/** Records some quotes, and returns the lines of the recording. */
function recorded(): string[] {
  const lines: string[] = [];
  const add = (atNs: TimeNs, call: RecordedCall) => lines.push(lineOf(atNs, call));
  const room = new MarketRoom(PLAN, (line, { atNs }) => add(atNs, { wrote: line }));
  const read = (ms: number, connection: number, frame: string) => {
    add(after(ms), { read: connection, frame });
    room.read(connection, frame, after(ms));
  };
  for (const [connection, source, symbol] of [
    [1, 'binance', 'BTC/USDT'],
    [2, 'desk', 'BTC'],
  ] as const) {
    const opened = { begin: connection, source, symbols: [symbol] };
    add(after(0), opened);
    room.open(opened);
  }
  for (let i = 0; i < 50; i++) {
    read(i * 100, 1, i % 7 === 3 ? '{garbage' : quoteOf(10_000 + i * 20));
    if (i < 20) read(i * 100 + 50, 2, `{"symbol":"BTC","price":${10_000 + i * 20}}`);
    if (i % 5 === 0) {
      add(after(i * 100 + 60), { tick: true });
      room.tick(after(i * 100 + 60));
    }
  }
  add(after(6_000), { end: 1 });
  room.close(1);
  return lines;
}

test('a replay makes the same decisions, byte for byte', async (t) => {
  const lines = recorded();
  const written: string[] = [];
  const replay = new Replay(PLAN, (line) => written.push(line));
  for (const line of lines) t.ok(replay.take(line));
  const wrote = lines.flatMap((line) => {
    const call = parseCall(line)!;
    return 'wrote' in call ? [call.wrote] : [];
  });
  t.same(written, wrote);
  t.ok(wrote.length > 20, `${wrote.length} decisions`);
  t.ok(wrote.some((line) => line.includes('"withheld"')));
  t.same([replay.same, replay.different, replay.additional], [wrote.length, 0, 0]);
});

test('a frame of any characters is a part of one line, and is read as it came', async (t) => {
  for (const frame of [
    '{"a": 1.50}',
    '[1]',
    '{garbage',
    '{"a":"b"}}',
    'text',
    '',
    '{"a":\n1}',
    '{}\r',
    '[" \u2028\u2029"]',
  ]) {
    const line = lineOf(after(1), { read: 7, frame });
    t.notMatch(line, /[\n\r\u2028\u2029]/);
    t.match(parseCall(line), { at: String(after(1)), read: 7 });
    t.equal((parseCall(line) as { frame?: string }).frame, frame);
  }
  t.equal(lineOf(after(1), { read: 7, frame: '{"a":1}' }), `{"at":"${after(1)}","read":7,"frame":{"a":1}}`);
});

test('a changed frame or a missing decision is counted', async (t) => {
  const lines = recorded();
  const changed = lines.map((line) => line.replace('10200', '10201'));
  const replay = new Replay(PLAN, () => {});
  for (const line of changed) replay.take(line);
  t.ok(replay.different > 0);
  const shorter = new Replay(PLAN, () => {});
  for (const line of lines) if (!line.includes('"wrote"')) shorter.take(line);
  t.ok(shorter.additional > 0);
});

test('a line that is no call, or names a source that is not in the file', async (t) => {
  const replay = new Replay(PLAN, () => {});
  for (const line of [
    '',
    'null',
    '{}',
    '{"at":"x","tick":true}',
    '{"at":"1"}',
    '{"at":"1","begin":1,"source":"kraken","symbols":["A"]}',
    '{"at":"1","begin":1,"source":"desk","symbols":[]}',
  ])
    t.equal(replay.take(line), undefined, line);
});
