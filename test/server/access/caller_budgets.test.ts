import { test } from 'tap';
import { BudgetDirectory, type BudgetLimits } from '../../../src/server/access/caller_budgets.js';
import { CallerCounts, createSharedAccess } from '../../../src/server/access/shared_access.js';
import { TokenDirectory } from '../../../src/server/access/tokens.js';
import { signedFrameCost } from '../../../src/stream/frame_budgets.js';
import { START_NS } from '../../model/sample.js';
import { sampleToken } from './sample_tokens.js';

const LIMITS: BudgetLimits = {
  signedFramesPerSecond: 100,
  rangeRowsPerSecond: 50_000,
  subscriptionChangesPerSecond: 10,
  controlMessagesPerSecond: 10,
  publishConnectionsPerToken: 4,
  connectionsPerToken: 2,
  publishBytesPerSecond: 1_000,
  badMessagesPerSecond: 2,
  publishMessageBytes: 5_000,
  subscriptionsPerConnection: 3,
};

function openDirectory(limits = LIMITS) {
  const refusals: string[] = [];
  const directory = new BudgetDirectory(
    limits,
    new CallerCounts(createSharedAccess(1).callers, 0),
    (key, name) => refusals.push(`${key} ${name}`),
  );
  const tokens = new TokenDirectory([sampleToken('alice'), sampleToken('bob')]);
  const [alice, bob] = ['alice', 'bob'].map((name) => tokens.find(sampleToken(name).sha256.toString('hex'))!);
  return { directory, refusals, alice: alice!, bob: bob! };
}

test('each caller has budgets of its own, which all of its connections share', async (t) => {
  const { directory, refusals, alice, bob } = openDirectory();
  t.ok(directory.of(alice).subscriptionChanges.take(10, START_NS));
  t.notOk(directory.of(alice).subscriptionChanges.take(1, START_NS));
  t.ok(directory.of(bob).subscriptionChanges.take(10, START_NS));
  t.ok(directory.of(alice).badMessages.take(2, START_NS), 'another budget of the same caller');
  directory.of(alice).subscriptionChanges.countRefusal();
  directory.of(bob).publishBytes.countRefusal();
  t.same(refusals, ['subscription_changes_per_second alice', 'publish_bytes_per_second bob']);
});

test('signed frames come in bursts of a tenth of a second', async (t) => {
  const { directory, alice } = openDirectory();
  const { signedFrames } = directory.of(alice);
  for (let frame = 1; frame <= 10; frame++) t.ok(signedFrames.take(signedFrameCost(1), START_NS));
  t.notOk(signedFrames.take(signedFrameCost(1), START_NS));
  t.ok(signedFrames.take(signedFrameCost(1), START_NS + 10_000_000n), '100 a second');
});

test('the largest message and the largest frame are always possible', async (t) => {
  const { directory, alice } = openDirectory({
    ...LIMITS,
    signedFramesPerSecond: 1,
    subscriptionsPerConnection: 1_000,
  });
  const { signedFrames, publishBytes } = directory.of(alice);
  t.ok(signedFrames.take(signedFrameCost(1_000), START_NS));
  t.ok(publishBytes.take(5_000, START_NS));
  t.notOk(publishBytes.take(1, START_NS));
});
