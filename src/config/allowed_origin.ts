import { z } from 'zod';

/** The text that means every origin. */
export const ANY_ORIGIN = '*';

/** The origin of web pages, in the form that browsers send in the header `Origin`. */
export const allowedOrigin = z
  .string()
  .refine(
    (text) => text === ANY_ORIGIN || isOrigin(text),
    'expected "*", or the origin of web pages as browsers send it, such as https://app.example.com',
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
