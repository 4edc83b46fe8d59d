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
    const name = decode(rawName);
    const value = decode(equals < 0 ? '' : part.slice(equals + 1));
    if (name === undefined) return 'a parameter name has a malformed % escape';
    if (value === undefined) return `${name} has a malformed % escape`;
    if (parameters.has(name)) return `${name} is given more than once`;
    parameters.set(name, value);
  }
  return parameters;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
