import { mock } from 'node:test';
import { type Test, test } from 'tap';
import { RefusedError, UnreachableError } from '../../../src/client/connect/errors.js';
import type { RestService } from '../../../src/client/connect/rest_service.js';
import { CurrentTaxonomy } from '../../../src/client/page/current_taxonomy.js';
import { taxonomyAnswer } from '../taxonomy_answer.js';

const URL = 'http://service';
const REFRESH_MS = 60_000;
const busy = () => new RefusedError(URL, 429, 'too many requests');

function openTaxonomy(t: Test) {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: REFRESH_MS });
  t.teardown(() => mock.timers.reset());
  const service = {
    ids: { BTC: 1, ETH: 2 } as Record<string, number>,
    error: undefined as Error | undefined,
    reads: 0,
    inUse: ['BTC', 'ETH'] as readonly string[],
  };
  const problems: string[] = [];
  const api = {
    url: URL,
    getData: async () => {
      service.reads += 1;
      if (service.error !== undefined) throw service.error;
      return {
        ...taxonomyAnswer(service.ids),
        signers: [{ address: '0x12', signature_type: 'evm', role: 'stream' }],
      };
    },
  } as unknown as RestService;
  const taxonomy: CurrentTaxonomy = new CurrentTaxonomy({
    api,
    inUse: () => taxonomy.value.assets.filter(({ symbol }) => service.inUse.includes(symbol)),
    onRead: () => {},
    onProblem: (reason) => problems.push(reason),
  });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    taxonomy,
    service,
    problems,
    settle,
    symbols: () => Object.fromEntries(taxonomy.value.assets.map(({ symbol, id }) => [symbol, id])),
    pass: async (ms: number) => {
      mock.timers.tick(ms);
      await settle();
    },
  };
}

test('at the rate limit it waits longer and longer, and the token is not refused', async (t) => {
  const { taxonomy, service, problems, pass, settle } = openTaxonomy(t);
  service.error = busy();
  let isStarted = false;
  const started = taxonomy.start().then(() => {
    isStarted = true;
  });
  await settle();
  await pass(3_000);
  await pass(3_000);
  t.equal(service.reads, 2);
  await pass(3_000);
  t.equal(service.reads, 3);
  t.match(problems, [/too many requests/, /too many requests/, /too many requests/]);
  t.notOk(isStarted);
  service.error = undefined;
  await pass(12_000);
  await started;
});

test('a token that is refused ends the start', async (t) => {
  const { taxonomy, service } = openTaxonomy(t);
  service.error = new RefusedError(URL, 401, 'unknown token');
  await t.rejects(taxonomy.start(), /unknown token/);
});

test('until streaming IDs that have moved are read, none is current', async (t) => {
  const { taxonomy, service, symbols, pass, settle } = openTaxonomy(t);
  await taxonomy.start();
  t.ok(taxonomy.isCurrent);
  service.ids = { BTC: 2, ETH: 1 };
  for (const error of [busy(), new UnreachableError(URL, 'no answer')]) {
    service.error = error;
    taxonomy.renew();
    await settle();
    t.notOk(taxonomy.isCurrent, error.message);
    service.error = undefined;
    await pass(3_000);
    t.ok(taxonomy.isCurrent, error.message);
  }
  t.same(symbols(), service.ids);
  service.error = new RefusedError(URL, 403, 'no rights');
  taxonomy.renew();
  await settle();
  t.notOk(taxonomy.isCurrent, 'without an answer the IDs are unknown');
});

test('an ID in use moves when the connection says so, or after a while', async (t) => {
  const { taxonomy, service, symbols, pass, settle } = openTaxonomy(t);
  await taxonomy.start();
  const before = symbols();
  service.ids = { BTC: 2, ETH: 1 };
  await pass(REFRESH_MS);
  t.same(symbols(), before, 'frames of the IDs before may still come');
  taxonomy.renew();
  await settle();
  t.same(symbols(), { BTC: 2, ETH: 1 });
  service.ids = { BTC: 1, ETH: 2 };
  await pass(REFRESH_MS);
  t.same(symbols(), { BTC: 2, ETH: 1 });
  await pass(REFRESH_MS);
  t.same(symbols(), { BTC: 1, ETH: 2 }, 'nothing was said of it');
  service.inUse = ['BTC'];
  service.ids = { BTC: 1, ETH: 3 };
  await pass(REFRESH_MS);
  t.same(symbols(), { BTC: 1, ETH: 3 }, 'one that is not in use moves at once');
});
