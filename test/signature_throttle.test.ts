import { test } from 'tap';
import { SignatureThrottle } from '../src/signature_throttle.js';

test('who sent no bad signature is not held back', async (t) => {
  const throttle = new SignatureThrottle(100);
  t.equal(throttle.allowance(7n), Number.POSITIVE_INFINITY);
  throttle.begin(5_000);
  t.equal(throttle.allowance(7n), Number.POSITIVE_INFINITY);
  throttle.end(5_000, 0, 7n);
  t.equal(throttle.allowance(7n), Number.POSITIVE_INFINITY);
});

test('who did has so many a second, those at the verifiers included', async (t) => {
  const throttle = new SignatureThrottle(100);
  throttle.begin(30);
  throttle.end(30, 10, 7n);
  t.equal(throttle.allowance(7n), 90);
  throttle.begin(60);
  t.equal(throttle.allowance(7n), 30);
  throttle.end(60, 60, 7n);
  t.equal(throttle.allowance(7n), 30);
  throttle.begin(1_000);
  throttle.end(1_000, 1_000, 7n);
  t.equal(throttle.allowance(7n), 0, 'never below 0');
  t.equal(throttle.allowance(8n), 100, 'the next second starts anew');
  t.equal(throttle.allowance(16n), 100);
  t.equal(throttle.allowance(17n), Number.POSITIVE_INFINITY, 'ten seconds without a bad one are forgiven');
});
