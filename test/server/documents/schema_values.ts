import fc from 'fast-check';
import type { JsonSchema } from '../../../src/server/documents/json_schema.js';
import { follow } from './checker.js';

/**
 * Generates values that a schema of a document allows. An integer becomes a bigint if no double can represent it.
 * @param document the document whose components the schema refers to
 */
export function valuesOf(
  schema: JsonSchema & { readonly maxLength?: number },
  document: object,
): fc.Arbitrary<unknown> {
  const { $ref, oneOf, type, pattern, minimum, maximum, maxLength } = schema;
  const inside = (one: JsonSchema) => valuesOf(one, document);
  if ($ref !== undefined) return inside(follow(document, $ref) as JsonSchema);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (oneOf !== undefined) return fc.oneof(...oneOf.map(inside));
  switch (type) {
    case 'integer':
      return integers(BigInt(minimum ?? INT64.min), BigInt(maximum ?? INT64.max));
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'string':
      return pattern === undefined
        ? fc.string({ unit: 'binary', ...(maxLength !== undefined && { maxLength, size: 'max' }) })
        : fc.stringMatching(new RegExp(pattern, 'u'));
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(inside(schema.items!));
    case 'object':
      return objects(schema, inside);
    default:
      return fc.jsonValue({ depthSize: 'small' });
  }
}

const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

function integers(min: bigint, max: bigint): fc.Arbitrary<unknown> {
  return fc
    .oneof(fc.constantFrom(min, max), fc.bigInt({ min, max }))
    .map((value) => (Number.isSafeInteger(Number(value)) ? Number(value) : value));
}

function objects(
  schema: JsonSchema,
  inside: (schema: JsonSchema) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties, propertyNames } = schema;
  const named = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, inside(one)])),
    {
      requiredKeys: [...required],
    },
  );
  if (typeof additionalProperties !== 'object') return named;
  const others = fc.dictionary(
    propertyNames === undefined ? fc.string() : (inside(propertyNames) as fc.Arbitrary<string>),
    inside(additionalProperties),
    { maxKeys: 3 },
  );
  return fc.tuple(others, named).map((parts) => Object.assign({}, ...parts) as unknown);
}
