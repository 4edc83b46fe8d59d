import { test } from 'tap';
import type { RestService } from '../../../src/client/connect/rest_service.js';
import { SymbolTable } from '../../../src/client/prices/symbol_table.js';
import { FormReader } from '../../../src/client/verify/form_reader.js';
import { FakeSchedule } from '../fake_schedule.js';
import { taxonomyAnswer } from '../taxonomy_answer.js';

const REFRESH_MS = 10_000;

function tableOf(inUse: ReadonlySet<string>) {
  const fake = new FakeSchedule();
  const service = { ids: { BTC: 1, ETH: 2 } as Record<string, number> };
  const rest = {
    url: 'http://service',
    getForm: async (_path: string, read: (answer: FormReader) => unknown) =>
      read(new FormReader({ data: taxonomyAnswer(service.ids) }, '')),
  } as unknown as RestService;
  const platform = { nowMs: () => 0, schedule: fake.schedule } as never;
  const table = new SymbolTable(rest, undefined, platform, inUse, {
    onRead: () => {},
    onError: () => {},
    onRefused: () => {},
  });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    table,
    service,
    /** Simulates a service that reports a change of IDs, or a new connection. */
    expire: async () => {
      table.expire();
      for (const { run } of fake.pending.splice(0)) run();
      await settle();
    },
    refresh: async () => {
      fake.run(REFRESH_MS);
      await settle();
    },
  };
}

test('an ID in use moves when the connection says so, not when the service does', async (t) => {
  const { table, service, expire, refresh } = tableOf(new Set(['BTC']));
  await expire();
  t.same([table.symbolOf(1), table.symbolOf(2)], ['BTC', 'ETH']);
  service.ids = { BTC: 2, ETH: 1 };
  await refresh();
  t.same([table.symbolOf(1), table.symbolOf(2)], ['BTC', 'ETH'], 'frames of the IDs before may still come');
  t.ok(table.isCurrent);
  await expire();
  t.same([table.symbolOf(1), table.symbolOf(2)], ['ETH', 'BTC']);
});

test('other IDs move at once, and one in use after a while', async (t) => {
  const { table, service, expire, refresh } = tableOf(new Set(['BTC']));
  await expire();
  service.ids = { BTC: 1, ETH: 3, SOL: 2 };
  await refresh();
  t.same([table.idOf('ETH'), table.idOf('SOL')], [3, 2]);
  service.ids = { BTC: 5, ETH: 1 };
  for (let i = 0; i < 6; i++) {
    await refresh();
    t.equal(table.idOf('BTC'), 1);
  }
  await refresh();
  t.equal(table.idOf('BTC'), 5, 'the connection was not subscribed to it');
});
