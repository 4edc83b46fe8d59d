import { z } from 'zod';

/**
 * Reads a raw query string. The service does not use the decoder of uWebSockets.js, because that decoder makes mistakes.
 * @returns the parameters, or an error that names an invalid parameter: a parameter with bad escapes, or a repeated name
 */
export function parseQuery(raw: string): ReadonlyMap<string, string> | string {
  const parameters = new Map<string, string>();
  if (raw === '') return parameters;
  for (const part of raw.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const rawName = equals < 0 ? part : part.slice(0, equals);
    const name = decodePart(rawName);
    const value = decodePart(equals < 0 ? '' : part.slice(equals + 1));
    if (name === undefined) return 'a parameter name has a malformed % escape';
    if (value === undefined) return `${name} has a malformed % escape`;
    if (parameters.has(name)) return `${name} is given more than once`;
    parameters.set(name, value);
  }
  return parameters;
}

/** Returns the error for a missing parameter. @param known the parameters that the path has */
export function missingFault(
  name: string,
  query: ReadonlyMap<string, string>,
  known: readonly string[],
): string {
  const other = [...query.keys()].filter((given) => !known.includes(given));
  return `${name} is missing${other.length === 0 ? ': /docs describes it' : `; the request has ${other.join(', ').slice(0, OTHER_LENGTH_MAX)}`}`;
}

/** A parameter that is `true` or `false`. */
export const trueOrFalse = z
  .string()
  .refine((text) => text === 'true' || text === 'false', 'must be true or false')
  .transform((text) => text === 'true')
  .meta({ type: 'boolean' });

/** The longest list of unknown parameters in an error, in characters. */
const OTHER_LENGTH_MAX = 100;

function decodePart(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
