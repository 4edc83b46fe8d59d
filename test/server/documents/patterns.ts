import { bodyOf, routesOf } from '../../../scripts/site/described_routes.js';

/** The texts of the served documents. */
export const DOCUMENTS = Object.fromEntries(
  ['/openapi.json', '/asyncapi.json'].map((path) => [path, bodyOf(routesOf('service'), path)]),
);

/** All patterns of the served documents, each once. */
export const PATTERNS = [
  ...new Set(Object.values(DOCUMENTS).flatMap((text) => patternsOf(JSON.parse(text) as unknown))),
];

function patternsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'pattern' && typeof inner === 'string' ? [inner] : patternsOf(inner),
  );
}

/**
 * Texts for every pattern: the first and last characters of its classes, characters that dialects treat differently, and real
 * values.
 */
export const TEXTS = [
  ...['', 'BTCUSD', ' BTCUSD , ETHUSD', 'A,,B', 'EURÜ', 'A B', 'p', 'C', 'pC', '{', '\\', '"', "A'B", '.'],
  ...['0', '-0', '-1', '007', '9223372036854775807', '١٢', '0x', '0x1b', '0X1B', '0xＡ', 'ms', 'ms,ms', 'mS'],
  ...[
    '\u0000',
    '\u0007',
    '\u001c',
    '\u0085',
    '\u00a0',
    '\u00ad',
    '\u200b',
    '\u2028',
    '\ufeff',
    '\u{1f600}',
    '\u{1f600}'.repeat(40),
  ],
  ...Array.from({ length: 128 }, (_, code) => `A${String.fromCharCode(code)}B`),
  ...[
    'a'.repeat(64),
    'a'.repeat(65),
    `0x${'f'.repeat(64)}`,
    `0x${'f'.repeat(65)}`,
    '9'.repeat(38),
    '9'.repeat(40),
  ],
];
