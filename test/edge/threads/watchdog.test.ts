import { test } from 'tap';
import { createLivenessMemory, LivenessSignal, Watchdog } from '../../../src/edge/threads/watchdog.js';

const TICKS = 10;

test('a thread that beats now and then is never silent, and one that stops is', (t) => {
  const memory = createLivenessMemory();
  const liveness = new LivenessSignal(memory);
  let silences = 0;
  const watch = new Watchdog(memory, () => {
    silences++;
  });
  for (let round = 0; round < 5; round++) {
    liveness.beat();
    for (let tick = 0; tick < TICKS; tick++) watch.tick();
  }
  t.equal(silences, 0);
  watch.tick();
  t.equal(silences, 1);
  t.end();
});
