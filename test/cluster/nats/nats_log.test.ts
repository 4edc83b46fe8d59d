import type { JetStreamManager } from '@nats-io/jetstream';
import { test } from 'tap';
import { LOG_START } from '../../../src/cluster/bus.js';
import type { BusConnection } from '../../../src/cluster/nats/nats_connection.js';
import { Log } from '../../../src/cluster/nats/nats_log.js';
import { Names } from '../../../src/cluster/nats/nats_options.js';

test('a write does not wait for the answer of a server that leads the log no more', async (t) => {
  const answers: ((seq: number) => void)[] = [];
  const connection = {
    request: () => new Promise((resolve) => answers.push((seq) => resolve({ json: () => ({ seq }) }))),
  } as unknown as BusConnection;
  const log = new Log(connection, {} as JetStreamManager, new Names('test'));
  const append = () => log.append(LOG_START, 'a', Buffer.from('record'));

  const lost = append();
  log.leadMoved();
  await t.rejects(lost, { message: "the log's lead was moved before the answer" });

  const next = append();
  answers[1]!(1);
  t.equal(await next, 1);
  answers[0]!(1);
  log.leadMoved();
});
