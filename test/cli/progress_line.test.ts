import { test } from 'tap';
import { Progress } from '../../src/cli/progress_line.js';

function recorder(isTTY: boolean) {
  const written: string[] = [];
  return { isTTY, written, write: (text: string) => written.push(text) };
}

test('a terminal shows a line that is written anew, not too often, and removed at the end', async (t) => {
  const stream = recorder(true);
  let nowMs = 0;
  const progress = new Progress(stream, () => nowMs);
  progress.update('copying', 1, 10);
  t.same(stream.written, [], 'short work shows nothing');
  progress.clear();
  t.same(stream.written, [], 'there is nothing to remove');
  nowMs = 500;
  progress.update('copying', 5, 10);
  progress.update('copying', 6, 10);
  nowMs = 600;
  progress.update('copying', 12, 10);
  nowMs = 700;
  progress.update('messages answered', 12_345);
  progress.update('messages answered', 12_346);
  progress.show('now');
  progress.clear();
  progress.clear();
  t.same(
    stream.written,
    ['copying: 50 %', 'copying: 100 %', 'messages answered: 12,345', 'now', ''].map(
      (text) => `\r\x1b[K${text}`,
    ),
  );
});

test('a pipe shows nothing', async (t) => {
  const stream = recorder(false);
  let nowMs = 0;
  const progress = new Progress(stream, () => nowMs);
  nowMs = 1_000;
  progress.update('copying', 5, 10);
  progress.show('now');
  progress.clear();
  t.same(stream.written, []);
});
