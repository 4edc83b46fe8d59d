import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import { IDS_FILE } from '../../src/log/store/streaming_ids.js';
import { Feed, units } from './feed.js';
import { type Sections, startTestService } from './harness.js';
import { latestWhen } from './publishing.js';
import { readStatement, taxonomyOf } from './read_statement.js';

// Tests that a streaming ID never gets another meaning.

const A = { id: 1, symbol: 'A' };
const B = { id: 2, symbol: 'B' };
const SWAPPED = [
  { ...A, id: 2 },
  { ...B, id: 1 },
];
const REFUSAL =
  /assets\[0\]\.id: 2 means A \(evm\) here, and has meant B \(evm\) under taxonomy_id 1: raise service\.taxonomy_id/;

const namesOf = async (service: { readonly url: string }) => {
  const answer = await taxonomyOf(service);
  if (!readStatement(answer).fits) throw new Error('the statement is about other assets');
  return answer.assets.map(({ asset_id, name }) => `${asset_id} ${name}`).join();
};

test('a reload that swaps IDs is refused, and everything goes on', async (t) => {
  const service = await startTestService({ assets: [A, B] });
  t.teardown(() => service.stop());
  const feed = await Feed.open(service);
  t.throws(() => service.reconfigure({ assets: SWAPPED }), REFUSAL);
  t.throws(
    () => service.reconfigure({ assets: SWAPPED, service: { taxonomy_id: 2 } }),
    REFUSAL,
    'before a start',
  );
  t.equal(await namesOf(service), '1 A,2 B');
  await feed.accept({ symbol: 'A', price: units(5) });
  await latestWhen(service, 'A', ({ price }) => price === String(units(5)));

  service.reconfigure({ assets: [B] });
  t.throws(
    () => service.reconfigure({ assets: [B, { id: 1, symbol: 'C' }] }),
    /1 means C \(evm\) here, and has meant A/,
  );
  service.reconfigure({ assets: [B, { id: 3, symbol: 'C' }, { ...A, id: 4 }] });
  t.equal(await namesOf(service), '2 B,3 C,4 A', 'new IDs join');
  t.throws(
    () => service.reconfigure({ assets: [{ ...B, id: 4 }] }),
    /4 means B \(evm\) here, and has meant A/,
  );
});

test('a start that swaps IDs is refused until the taxonomy ID is raised', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-test-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const run = async (sections: Sections) => {
    const service = await startTestService(sections, { dir });
    try {
      return await namesOf(service);
    } finally {
      await service.stop();
    }
  };
  t.equal(await run({ assets: [A, B] }), '1 A,2 B');
  await t.rejects(run({ assets: SWAPPED }), REFUSAL);
  const raised = { service: { taxonomy_id: 2 } };
  t.equal(await run({ assets: SWAPPED, ...raised }), '2 A,1 B');
  await t.rejects(run({ assets: [A, B], ...raised }), /under taxonomy_id 2/);
  await t.rejects(run({ assets: SWAPPED }), REFUSAL, 'the former meanings stay');
  writeFileSync(join(dir, 'store', IDS_FILE), 'damaged');
  await t.rejects(run({ assets: [A, B] }), /streaming_ids\.txt is damaged .*: restore it from a backup/);
});
