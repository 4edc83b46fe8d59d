import fc from 'fast-check';
import type { Test } from 'tap';

/**
 * Asserts that a property holds for many random values. The test counts this as a single assertion, so that the runner need
 * not read thousands. Inside the property, use `node:assert` for the condition on each value, because its errors make
 * fast-check search for a smaller value.
 */
export function holds<T>(t: Test, property: fc.IProperty<T>, parameters: fc.Parameters<T> = {}): void {
  const details = fc.check(property, parameters);
  t.equal(fc.defaultReportMessage(details), undefined, 'the property holds');
}
