import { cachedDataVersionTag } from 'node:v8';
import { test } from 'tap';
import { collectAlone, compileLater, makeObjectsYoung, withDefaultFlags } from '../../src/cli/v8_settings.js';

test('V8 has its first flags while code is stored, and the flags of a start again after that', (t) => {
  const first = cachedDataVersionTag();
  compileLater();
  makeObjectsYoung();
  collectAlone();
  const ofStart = cachedDataVersionTag();
  // Only the V8 of Node 20 gets flags.
  t.equal(ofStart !== first, process.versions.v8.startsWith('11.3.'));
  let whileStoring: number | undefined;
  withDefaultFlags(() => {
    whileStoring = cachedDataVersionTag();
  });
  t.equal(whileStoring, first);
  t.equal(cachedDataVersionTag(), ofStart);
  t.end();
});
