/** The base address of a service: scheme, host, port and path. A user, a query or a fragment would go to places that show them. */
const SERVICE_URL = /^(?:http|ws)(s?):\/\/([^/?#@\s]+(?:\/[^?#@\s]*)?)$/i;

/**
 * Reads the base address of a service.
 * @param scheme the scheme of the result
 * @returns the address without slashes at its end; `undefined` for another text
 */
export function readServiceUrl(text: string, scheme: 'http' | 'ws'): string | undefined {
  const [, secure, place] = SERVICE_URL.exec(text) ?? [];
  if (place === undefined || !canParse(`http://${place}`)) return undefined;
  return `${scheme}${secure}://${place.replace(/\/+$/, '')}`;
}

/** Returns whether the host and the port are valid. */
function canParse(text: string): boolean {
  try {
    return new URL(text).host !== '';
  } catch {
    return false;
  }
}
