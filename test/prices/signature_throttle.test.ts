import { test } from 'tap';
import { SignatureThrottle } from '../../src/prices/signature_throttle.js';

test('past the bound a caller has its allowance a second, updates at the verifiers included', async (t) => {
  const throttle = new SignatureThrottle(100);
  throttle.begin(130);
  throttle.end(130, 100, 7n);
  t.equal(throttle.allowance(7n), 0);
  t.equal(throttle.allowance(8n), 100, 'the next second starts anew');
  throttle.begin(60);
  t.equal(throttle.allowance(8n), 40);
  throttle.end(60, 60, 8n);
  t.equal(throttle.allowance(8n), 40);
  throttle.begin(1_000);
  throttle.end(1_000, 1_000, 8n);
  t.equal(throttle.allowance(8n), 0, 'never below 0');
  t.equal(throttle.allowance(17n), 100);
  t.equal(throttle.allowance(18n), Number.POSITIVE_INFINITY, 'ten seconds below it are forgiven');
});

test('it says from when on there is an allowance again, once bad signatures have used it up', async (t) => {
  const throttle = new SignatureThrottle(100);
  throttle.begin(99);
  throttle.end(99, 99, 7n);
  t.equal(throttle.allowedFrom(7n), undefined);
  throttle.begin(1);
  throttle.end(1, 1, 7n);
  t.equal(throttle.allowedFrom(7n), 8n);
  t.equal(throttle.allowedFrom(8n), undefined);
  throttle.begin(100);
  t.equal(throttle.allowedFrom(8n), undefined, 'those at the verifiers may be good');
});

test('a caller is not suspect for as long as the clock was stepped back', async (t) => {
  const throttle = new SignatureThrottle(100);
  throttle.begin(100);
  throttle.end(100, 100, 3_600n);
  t.equal(throttle.allowance(3_601n), 100);
  t.equal(throttle.allowance(1n), Number.POSITIVE_INFINITY);
  t.equal(throttle.allowedFrom(1n), undefined);
  t.ok(throttle.isAtRest(1n));
});
