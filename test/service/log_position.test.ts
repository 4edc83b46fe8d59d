import { test } from 'tap';
import { backlogWarnings, logPosition } from '../../src/service/log_position.js';
import { SAMPLE_FIGURES } from './metrics/sample_state.js';

test('the position of the log is shown, and a backlog of its followers is a warning', async (t) => {
  t.same(logPosition(SAMPLE_FIGURES), { segment: 48, segments_waiting: 49 });
  t.same(backlogWarnings({ segmentsWaiting: 2 }), []);
  t.match(backlogWarnings({ segmentsWaiting: 3 }), [/^3 segments of the log are not in the past/]);
});
