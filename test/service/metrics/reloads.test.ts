import { test } from 'tap';
import { Reloads } from '../../../src/service/metrics/reloads.js';

test('the last reload and its result are kept, and the certificate that is in force', async (t) => {
  let now = 10;
  let certificateEnd: number | undefined = 100;
  const reloads = new Reloads(
    () => now,
    () => certificateEnd,
  );
  t.same(reloads.state, { reload: { atSeconds: 10, isOk: true }, certificateEndSeconds: 100 }, 'the start');
  now = 11;
  reloads.decided(false, ['not valid']);
  t.same(reloads.verdict, { number: 1, isOk: false, messages: ['not valid'] });
  t.same(reloads.state, { reload: { atSeconds: 11, isOk: false }, certificateEndSeconds: 100 });
  now = 12;
  certificateEnd = 200;
  const broken = () => {
    throw new Error('broken');
  };
  t.throws(() => reloads.run(broken), /broken/);
  t.same(reloads.state, { reload: { atSeconds: 12, isOk: false }, certificateEndSeconds: 100 });
  now = 13;
  reloads.run(() => {});
  t.same(reloads.state, { reload: { atSeconds: 13, isOk: true }, certificateEndSeconds: 200 });
  reloads.decided(true, []);
  t.same(reloads.verdict, { number: 2, isOk: true, messages: [] });
  certificateEnd = undefined;
  reloads.run(() => {});
  t.equal(reloads.state.certificateEndSeconds, 200, 'one that cannot be read changes nothing');
});
