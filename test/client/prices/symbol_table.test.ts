import { test } from 'tap';
import type { RestService } from '../../../src/client/connect/rest_service.js';
import { SymbolTable } from '../../../src/client/prices/symbol_table.js';
import { FormReader } from '../../../src/client/verify/form_reader.js';
import { FakeSchedule } from '../fake_schedule.js';
import { taxonomyAnswer } from '../taxonomy_answer.js';

const REFRESH_MS = 10_000;

function tableOf() {
  const fake = new FakeSchedule();
  const service = { taxonomyId: 1, ids: { BTC: 1, ETH: 2 } as Record<string, number>, isChecked: true };
  const rest = {
    url: 'http://service',
    getForm: async (_path: string, read: (answer: FormReader) => unknown) =>
      read(new FormReader({ data: { ...taxonomyAnswer(service.ids), taxonomy_id: service.taxonomyId } }, '')),
  } as unknown as RestService;
  const platform = { nowMs: () => 0, schedule: fake.schedule } as never;
  const meanings = {
    accept: (_url: string, taxonomy: never) => ({ taxonomy, isChecked: service.isChecked }),
  };
  const table = new SymbolTable(rest, undefined, platform, meanings, {
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

test('symbols of a raised taxonomy ID stand beside those of the former one', async (t) => {
  const { table, service, expire, refresh } = tableOf();
  await expire();
  t.same([table.symbolOf(1), table.symbolOf(2)], ['BTC', 'ETH']);
  Object.assign(service, { taxonomyId: 2, ids: { BTC: 2, ETH: 1 } });
  await refresh();
  t.same([table.idOf('BTC'), table.idOf('ETH')], [2, 1]);
  t.same([table.symbolOf(1), table.symbolOf(1, 2), table.symbolOf(1, 1)], ['ETH', 'ETH', 'BTC']);
  for (let taxonomyId = 3; taxonomyId <= 6; taxonomyId++) {
    Object.assign(service, { taxonomyId });
    await refresh();
  }
  t.same([table.symbolOf(1, 2), table.symbolOf(1, 3)], [undefined, 'ETH'], 'four taxonomy IDs are kept');
});

test('a verified payload finds no symbol that nobody has signed', async (t) => {
  const { table, service, expire, refresh } = tableOf();
  service.isChecked = false;
  await expire();
  t.same([table.symbolOf(1, 1, false), table.symbolOf(1, 1, true)], ['BTC', undefined]);
  Object.assign(service, { isChecked: true, ids: { ETH: 2 } });
  await refresh();
  t.same([table.symbolOf(1, 1, true), table.symbolOf(2, 1, true)], [undefined, 'ETH']);
});
