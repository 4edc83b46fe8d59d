import assert from 'node:assert/strict';
import { z } from 'zod';

/** The part of JSON Schema 2020-12 that our schemas need. OpenAPI 3.1 uses this dialect. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly propertyNames?: JsonSchema;
  readonly oneOf?: readonly JsonSchema[];
  readonly discriminator?: {
    readonly propertyName: string;
    readonly mapping: Readonly<Record<string, string>>;
  };
}

export interface DocumentSchemas {
  /** The component of every schema with an ID. The key is the ID. */
  readonly components: Readonly<Record<string, JsonSchema>>;
  /** Returns a reference to the component of a schema, or the schema itself if the schema has no ID. */
  of(schema: z.ZodType): JsonSchema;
}

const COMPONENTS = '#/components/schemas/';

/**
 * Makes the JSON Schemas of a document from the zod schemas that the code uses. A document describes the text on the wire. So a parameter
 * has the schema of its text, not the schema of the parsed value.
 */
export function documentSchemas(schemas: Iterable<z.ZodType>): DocumentSchemas {
  const places = new Map([...new Set(schemas)].map((schema, i) => [schema, String(i)]));
  const whole = z.strictObject(Object.fromEntries([...places].map(([schema, place]) => [place, schema])));
  const converted = z.toJSONSchema(whole, { io: 'input', unrepresentable: 'any', override: writeForClients });
  // The converter puts schemas with an ID under `$defs`, but documents keep them in another place.
  const { properties = {}, $defs = {} } = JSON.parse(
    JSON.stringify(converted).replaceAll('"#/$defs/', `"${COMPONENTS}`),
  ) as { properties?: Record<string, JsonSchema>; $defs?: Record<string, JsonSchema & { id?: string }> };
  const components = Object.entries($defs).map(([name, { id: _id, ...schema }]) => [name, schema] as const);
  return {
    components: Object.fromEntries(components.sort(([a], [b]) => (a < b ? -1 : 1))),
    of(schema) {
      const place = places.get(schema);
      assert(place !== undefined, 'every schema has its place in the document');
      return properties[place]!;
    },
  };
}

/** Returns the name of the component that a schema refers to. */
export function componentName({ $ref }: JsonSchema): string | undefined {
  return $ref?.startsWith(COMPONENTS) ? $ref.slice(COMPONENTS.length) : undefined;
}

interface Converted {
  readonly zodSchema: z.core.$ZodTypes;
  readonly jsonSchema: z.core.JSONSchema.BaseSchema;
}

function writeForClients(context: Converted): void {
  if (context.jsonSchema.$ref !== undefined) return;
  writeChoice(context);
  writeIntegers(context);
}

/** Writes a choice as `oneOf`, because a value fits exactly one of our choices, and names the field that decides, for generators of clients. */
function writeChoice({ zodSchema, jsonSchema }: Converted): void {
  const { anyOf } = jsonSchema;
  if (anyOf !== undefined) {
    delete jsonSchema.anyOf;
    jsonSchema.oneOf = anyOf;
  }
  const { def } = zodSchema._zod;
  if (def.type !== 'union' || !('discriminator' in def)) return;
  const propertyName = def['discriminator'] as string;
  const mapping = def.options.flatMap((option) => {
    const place = `#/$defs/${z.globalRegistry.get(option)?.id}`;
    return [...(option._zod.propValues?.[propertyName] ?? [])].map((value) => [String(value), place]);
  });
  jsonSchema['discriminator'] = { propertyName, mapping: Object.fromEntries(mapping) };
}

function writeIntegers({ zodSchema, jsonSchema }: Converted): void {
  // Timestamps are the only bigints on the wire.
  if (zodSchema._zod.def.type === 'bigint') Object.assign(jsonSchema, { type: 'integer', format: 'int64' });
  if (jsonSchema.type !== 'integer') return;
  // The text of a parameter has a pattern. The parsed number has no pattern.
  delete jsonSchema.pattern;
  // The converter adds the bounds of exact doubles to every integer without bounds.
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}
