import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { THREAD_COUNTS } from '../tier.js';
import { sha256, startTestService, TOKEN } from './harness.js';
import { readStatement, taxonomyOf } from './read_statement.js';

// Tests of the signed statement in `/v1/taxonomy`.

const ASSETS = [
  { id: 9, symbol: '日経225' },
  { id: 2, symbol: 'DYDXUSD', signature_type: 'stark' },
  { id: 1, symbol: 'BTCUSD' },
];
const token = (text: string, assets: readonly string[]) => ({
  name: text,
  sha256: sha256(text),
  scopes: ['rest'],
  requests_per_second: 1_000,
  assets,
});

for (const threads of THREAD_COUNTS) {
  const listen = { port: 0, threads };

  test(`each token gets a statement about its own list, ${threads} threads`, async (t) => {
    const tokens = [token(TOKEN, ['*']), token('two', ['DYDXUSD', 'BTCUSD'])];
    const sections = { listen, tokens, assets: ASSETS, service: { taxonomy_id: 7 } };
    const service = await startTestService(sections);
    t.teardown(() => service.stop());
    const before = Date.now();
    for (const [text, count] of [
      [TOKEN, 3],
      ['two', 2],
    ] as const) {
      const answers = await Promise.all(Array.from({ length: 8 }, () => taxonomyOf(service, text)));
      for (const answer of answers) {
        t.equal(answer.assets.length, count);
        const read = readStatement(answer);
        t.match(read, { taxonomyId: 7, signer: service.evmAddress, fits: true });
        t.ok(Math.abs(Number(read.issuedNs / 1_000_000n) - before) < 60_000);
      }
      // Each thread signs one statement.
      t.ok(new Set(answers.map(({ statement }) => statement)).size <= threads);
    }
    service.reconfigure({ ...sections, assets: [...ASSETS, { id: 4, symbol: 'NEW' }] });
    // The other thread applies a reload a little later. Until then its list and its statement are both the earlier ones.
    await eventually(async () => {
      const answer = await taxonomyOf(service);
      t.ok(readStatement(answer).fits);
      return answer.assets.length === 4;
    });
  });
}
