import { z } from 'zod';

/** The text that means every origin. */
export const ANY_ORIGIN = '*';

/** The origin of web pages, in the form that browsers send in the header `Origin`. */
export const allowedOrigin = z
  .string()
  .refine(
    (text) => text === ANY_ORIGIN || isOrigin(text) || isSharedOrigin(text),
    'expected "*", or the origin of web pages as browsers send it, such as https://app.example.com or https://*.example.com',
  );

/**
 * The pattern of an origin without the characters that separate the directives of a content security policy. Hosts of URLs may
 * contain these characters.
 */
const PLAIN_ORIGIN = /^https?:\/\/(?:[\w.-]+|\[[\da-f:]+\])(?::\d+)?$/;

/** The origin of another operator's service. A web page may connect to this origin. */
export const operatorOrigin = z
  .string()
  .refine(
    (text) => isOrigin(text) && PLAIN_ORIGIN.test(text),
    "expected the origin of an operator's service, such as https://prices.example.com",
  );

/**
 * Recognises an origin. Browsers send the host in lower case, and no slash after the host. Browsers send the port only if the port is not
 * the scheme's default port.
 */
function isOrigin(text: string): boolean {
  if (!/^https?:\/\/[^*]+$/.test(text) || !URL.canParse(text)) return false;
  return new URL(text).origin === text;
}

/** The origin of pages in sandboxed frames and in files. */
export const NO_ORIGIN = 'null';
/** The origins of pages in apps. All apps of a framework have the same origin. */
const APP_ORIGINS: readonly string[] = ['capacitor://localhost', 'ionic://localhost', 'tauri://localhost'];
const SUBDOMAINS = /^(https?:\/\/)\*(\.[^.*]+(?:\.[^.*]+)+)$/;

/** Recognises an origin that pages of different authors may have. */
function isSharedOrigin(text: string): boolean {
  const [, scheme, rest] = SUBDOMAINS.exec(text) ?? [];
  return (
    text === NO_ORIGIN || APP_ORIGINS.includes(text) || (rest !== undefined && isOrigin(`${scheme}a${rest}`))
  );
}

/** Returns the scheme and the end of the origins that a pattern such as `https://*.example.com` covers. */
export function subdomainsOf(text: string): { readonly scheme: string; readonly end: string } | undefined {
  const [, scheme, end] = SUBDOMAINS.exec(text) ?? [];
  return scheme === undefined || end === undefined ? undefined : { scheme, end };
}

/** Returns whose pages besides the operator's own may have an allowed origin; `undefined` for an ordinary one. */
export function strangersOf(text: string): string | undefined {
  if (text === ANY_ORIGIN) return undefined;
  if (text === NO_ORIGIN)
    return 'each page in a sandboxed frame, which any web page can open, and each page in a file';
  if (APP_ORIGINS.includes(text)) return 'the pages of each app with this framework on the device';
  if (subdomainsOf(text) === undefined) return undefined;
  return 'the pages of each subdomain, also of one that somebody else may register or take over';
}
