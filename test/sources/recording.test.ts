import { test } from 'tap';
import { RecordedLines } from '../../src/sources/recorded_lines.js';
import { parseCall, Replay } from '../../src/sources/recording.js';
import { after, planOf } from './plans.js';

test('a frame of any characters is a part of one line, and is read as it came', async (t) => {
  const frames = [
    '{"a": 1.50}',
    '[1]',
    '{garbage',
    '{"a":"b"}}',
    '',
    '{"a":\n1}',
    '{}\r',
    '[" \u2028\u2029"]',
  ];
  for (const frame of frames) {
    const lines = new RecordedLines(16);
    lines.add(after(1), { read: 7, frame });
    const line = Buffer.from(lines.all).toString().slice(0, -1);
    t.notMatch(line, /[\n\r\u2028\u2029]/);
    t.match(parseCall(line), { at: String(after(1)), read: 7 });
    t.equal((parseCall(line) as { frame?: string }).frame, frame);
  }
});

test('a line that is no call, or names a source that is not in the file', async (t) => {
  const text =
    'sources: { desk: { kind: command, run: [x] } }\nassets: { A: { from: [desk A], min_sources: 1 } }';
  const replay = new Replay(planOf(text), () => {});
  for (const line of [
    'null',
    '{"at":"x","tick":true}',
    '{"at":"1"}',
    '{"at":"1","begin":1,"source":"kraken","symbols":["A"]}',
    '{"at":"1","begin":1,"source":"desk","symbols":[]}',
  ])
    t.equal(replay.take(line), undefined, line);
});
