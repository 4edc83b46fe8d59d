import { z } from 'zod';
import type { ConfigDocument, Path, Problem } from './document.js';
import { describeIssue } from './issue_text.js';
import { similarName } from './similar_name.js';

/**
 * Removes problems that follow from a known problem. Such a problem is at the place of the known problem or below. If the file has
 * no value at that place, such a problem may also be above.
 */
export function unlessKnown(
  problems: Iterable<Problem>,
  known: readonly Problem[],
  document: ConfigDocument,
): Problem[] {
  const places = new Set(known.map(({ path }) => JSON.stringify(path)));
  const above = new Set(known.flatMap(({ path }) => upTo(path)));
  return [...problems].filter(
    ({ path }) =>
      !above.has(JSON.stringify(path)) &&
      !(upTo(path).some((place) => places.has(place)) && !document.has(path)),
  );
}

/** Returns the place at a path and all places above it, as texts. */
function upTo(path: Path): string[] {
  return [...path.map((_, depth) => path.slice(0, depth)), path].map((place) => JSON.stringify(place));
}

/**
 * Returns the places where the document does not fit the schema. An unknown key that is similar to a key of its place is named with it.
 * @param isSecret returns whether the value at a path must not be shown
 */
export function schemaProblems(
  issues: readonly z.core.$ZodIssue[],
  document: ConfigDocument,
  schema: z.ZodType,
  isSecret: (path: Path) => boolean = () => false,
): Problem[] {
  let top: PlaceSchema | undefined;
  // Converting a schema takes a millisecond, and a file may have thousands of unknown keys.
  const topPlace = () => {
    top ??= z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }) as PlaceSchema;
    return top;
  };
  return issues.flatMap((issue): Problem[] => {
    const path = issue.path as Path;
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        path: [...path, key],
        message: unknownKey(key, keysAt(topPlace(), path)),
      }));
    }
    if (issue.code === 'invalid_key') {
      return issue.issues.map((inner) => ({ path, message: inner.message }));
    }
    return [{ path, message: describeIssue(issue, valueAt(document.value, path), isSecret(path)) }];
  });
}

function unknownKey(key: string, known: readonly string[]): string {
  const meant = similarName(key, known);
  return meant === undefined ? 'unknown key' : `unknown key: did you mean ${meant}?`;
}

/** The parts of a JSON schema that say which keys a place has. */
interface PlaceSchema {
  readonly properties?: Readonly<Record<string, PlaceSchema>>;
  readonly additionalProperties?: PlaceSchema | boolean;
  readonly items?: PlaceSchema;
  readonly anyOf?: readonly PlaceSchema[];
  readonly allOf?: readonly PlaceSchema[];
  readonly oneOf?: readonly PlaceSchema[];
}

/** Returns the keys that a schema allows at a path below its top. */
function keysAt(top: PlaceSchema, path: Path): string[] {
  let places = [top];
  for (const step of path)
    places = places.flatMap(choicesOf).flatMap(({ properties, additionalProperties, items }) => {
      const inside = typeof step === 'number' ? items : (properties?.[step] ?? additionalProperties);
      return typeof inside === 'object' ? [inside] : [];
    });
  return places.flatMap(choicesOf).flatMap(({ properties = {} }) => Object.keys(properties));
}

function choicesOf(place: PlaceSchema): PlaceSchema[] {
  const { anyOf = [], allOf = [], oneOf = [] } = place;
  return [place, ...[...anyOf, ...allOf, ...oneOf].flatMap(choicesOf)];
}

/** Returns the value at a path. Returns `undefined` only when the path does not exist, because a file contains no `undefined`. */
function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inside, step) => asRecord(inside)[step], value);
}

function asRecord(value: unknown): Record<string | number, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string | number, unknown>) : {};
}
