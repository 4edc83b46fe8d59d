import { test } from 'tap';
import type { ServerDisk } from '../../../src/cluster/log/log_servers.js';
import { LogDisks } from '../../../src/cluster/node/log_disks.js';

type Answer = readonly [server: string, syncMs: number | undefined, isAway?: boolean];

function disksOf(...answers: readonly Answer[]): ServerDisk[] {
  return answers.map(([server, syncMs, isAway = false]) => ({ server, syncMs, isAway }));
}

test('a promise is made only when every server syncs each write', async (t) => {
  const disks = new LogDisks();
  t.match(disks.doubt, /have not said yet/);
  t.equal(disks.forgetfulCount, undefined);
  disks.note(disksOf(['n1', 0], ['n2', 120_000], ['n3', undefined]), 0);
  t.equal(disks.forgetfulCount, 2);
  t.equal(
    disks.doubt,
    'NATS server n2 may forget in a power cut: its sync_interval is 120 s, not always, NATS server n3 does not say whether it syncs each write',
  );
  disks.note(disksOf(['n1', 0], ['n2', 0], ['n3', Number.POSITIVE_INFINITY]), 1_000);
  t.equal(disks.doubt, 'NATS server n3 may forget in a power cut: its sync_interval is unknown, not always');
  disks.note(disksOf(['n1', 0]), 11_000);
  t.equal(disks.doubt, undefined, 'the others keep the log no more');
  t.equal(disks.forgetfulCount, 0);
});

test('a server that is away keeps its last answer, and one that is silent keeps it for a short time', async (t) => {
  const disks = new LogDisks();
  disks.note(disksOf(['n1', 0], ['n2', 0]), 0);
  t.equal(disks.doubt, undefined);
  disks.note(disksOf(['n1', 0], ['n2', undefined]), 29_000);
  t.equal(disks.doubt, undefined, 'its answer may come late');
  disks.note(disksOf(['n1', 0], ['n2', undefined, true]), 3_600_000);
  t.equal(disks.doubt, undefined, 'it acknowledges nothing');
  disks.note(disksOf(['n1', 0], ['n2', undefined]), 3_610_000);
  t.match(disks.doubt, /n2 does not say/, 'it is back, and does not answer');
});
