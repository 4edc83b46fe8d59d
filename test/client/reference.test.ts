import { test } from 'tap';
import { coverageOf, readReference } from '../../scripts/build_reference.js';

// Tests that the docstrings of the client's public API are complete, because the service serves them as its reference.

/**
 * The smallest share of exported names and public members with a docstring. The share of nats.js, counted in the same way, is
 * 0.41.
 */
const COVERAGE_MIN = 0.9;

const reference = readReference();

test('every exported name and every public member has a docstring', async (t) => {
  const { total, documented, missing } = coverageOf(reference);
  t.comment(`${documented} of ${total} have a docstring`);
  t.ok(total > 250, `${total} names and members`);
  t.ok(documented / total >= COVERAGE_MIN);
  t.same(missing, []);
});

test('every option says its default, but for functions that are called', async (t) => {
  const silent = reference.entries
    .filter(({ name }) => /(?:Options|Query|Expectations|PriceToSign)$/.test(name))
    .flatMap(({ name, members }) =>
      members
        .filter(({ isOptional, docstring }) => isOptional && !docstring.text.includes('Default: '))
        .filter(({ docstring }) => !docstring.text.startsWith('Called '))
        .map((member) => `${name}.${member.name}`),
    );
  t.same(silent, []);
});
