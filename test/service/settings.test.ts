import { test } from 'tap';
import { switchedLogs, withSameLogs } from '../../src/service/settings.js';

test('a reload changes the keys of logs, and switches no log on or off', async (t) => {
  const [evm, log, other] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer];
  t.same(switchedLogs({ evm, log }, { evm: other, log: other }), []);
  t.same(switchedLogs({ evm, log }, { evm }), ['keys.log']);
  t.same(switchedLogs({ evm }, { evm, log, streamLog: log }), ['keys.log', 'keys.stream_log']);
  t.same(withSameLogs({ evm, log }, { evm: other, log: other }), { evm: other, log: other });
  t.same(withSameLogs({ evm, log }, { evm }), { evm, log });
  t.same(withSameLogs({ evm, streamLog: log }, { evm, log, streamLog: other }), { evm, streamLog: other });
  t.same(withSameLogs({ evm }, { evm: other, log: other }), { evm: other });
});
