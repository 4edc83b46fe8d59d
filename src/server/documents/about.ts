/** What both documents say of the service, written for their `description` fields in CommonMark. */

/** The version of the interface description. */
export const API_VERSION = '1.0';

export const EXACT_NUMBERS = `Prices are exact: the real price times 10^18, as a decimal string. Timestamps are integers \
of nanoseconds, which a double does not hold: read them with a parser that keeps every digit.`;

/** The scheme in the `Authorization` header. */
export const TOKEN_SCHEME = {
  in: 'header',
  name: 'Authorization',
  description: 'The value is `Basic <TOKEN>`, with the access token as it was issued.',
} as const;
