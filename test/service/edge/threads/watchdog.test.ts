import { test } from 'tap';
import {
  createLivenessMemory,
  LivenessSignal,
  Watchdog,
} from '../../../../src/service/edge/threads/watchdog.js';

const TICKS = 5;

test('a thread that beats or works is not silent, and one that stops is', (t) => {
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
  for (let tick = 0; tick < 10 * TICKS; tick++) {
    liveness.worked();
    watch.tick();
  }
  t.equal(silences, 0);
  for (let tick = 0; tick < TICKS; tick++) watch.tick();
  t.equal(silences, 1, 'until it does nothing more');
  t.end();
});
