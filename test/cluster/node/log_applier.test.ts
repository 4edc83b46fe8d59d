import { test } from 'tap';
import { LOG_START } from '../../../src/cluster/bus.js';
import { placeToReadFrom } from '../../../src/cluster/node/log_applier.js';
import { openStore } from '../../../src/log/store/store.js';
import { storeOptions } from '../../log/store/sample.js';

test('an aggregator whose folder was an edge’s reads the log from its beginning, until it has all inputs', async (t) => {
  const options = storeOptions(t.testdir());
  const place = { sequence: 9, id: '0123456789abcdef'.repeat(4) };
  const start = async (keepsInputs: boolean, hasAll: boolean) => {
    const store = await openStore(options);
    const from = placeToReadFrom(store.log, keepsInputs);
    if (keepsInputs && hasAll) store.log.lacksInputs = false;
    store.log.position = place;
    await store.close();
    return from.sequence;
  };
  const { sequence: beginning } = LOG_START;
  t.equal(await start(true, true), beginning, 'a new folder');
  t.equal(await start(true, true), 9);
  t.equal(await start(false, false), 9);
  t.equal(await start(true, false), beginning);
  t.equal(await start(true, true), beginning, 'ended before it had all');
  t.equal(await start(true, true), 9);
});
