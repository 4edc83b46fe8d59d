import fc from 'fast-check';
import type { Test } from 'tap';

/**
 * Asserts that a property holds for many random values: one assertion of the test, so that the runner need not read thousands.
 * Inside the property `node:assert` is for what each value must fulfil; its errors make fast-check look for a smaller value.
 */
export function holds<T>(t: Test, property: fc.IProperty<T>, parameters: fc.Parameters<T> = {}): void {
  const details = fc.check(property, parameters);
  t.equal(fc.defaultReportMessage(details), undefined, 'the property holds');
}
