import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Pair,
  parseDocument,
  type YAMLError,
} from 'yaml';
import type { Path, Place, Problem, YamlData } from './yaml_data.js';

/** Reads YAML 1.2 (core schema, one document) with the places of its values. */
export function readYaml(text: string): YamlData {
  const document: Document = parseDocument(text, {
    version: '1.2',
    schema: 'core',
    resolveKnownTags: false,
    stringKeys: true,
    // Duplicate keys are reported later, when their path is known.
    uniqueKeys: false,
    prettyErrors: false,
  });
  const syntax = [...document.errors, ...document.warnings].map(
    (error): Problem => ({ path: [], message: syntaxMessage(error), offset: error.pos[0] }),
  );
  const problems = syntax.length > 0 ? syntax : [...inspect(document, document.contents, [])];
  const readable = syntax.length === 0 && !problems.some(({ message }) => message === UNRESOLVED_ALIAS);
  return {
    value: readable ? document.toJS({ maxAliasCount: -1 }) : undefined,
    problems,
    locate: (path) => locate(document, path),
  };
}

/** Returns the parser's message without the quoted text of the file, because that text may be a secret. */
function syntaxMessage({ code, message }: YAMLError): string {
  if (code === 'TAG_RESOLVE_FAILED') return 'the tag is not known';
  if (code === 'MULTIPLE_DOCS') return 'expected one document, found another one';
  if (code === 'NON_STRING_KEY') return 'expected text as a key';
  if (/call stack/.test(message)) return 'values are nested too deeply';
  return code === 'BAD_DIRECTIVE' ? 'the directive is not known' : message.replace(/(?<=\w): .*$/s, '');
}

const UNRESOLVED_ALIAS = 'the alias names no anchor before it';
const INEXACT_NUMBER =
  'not a plain decimal number that is kept exactly; put it in quotes if it is meant as text';

/** Finds valid YAML that is not allowed in a configuration file. */
function* inspect(document: Document, node: unknown, path: Path): Generator<Problem> {
  if (isMap(node)) {
    const seen = new Set<string>();
    for (const pair of node.items) {
      const key = keyOf(pair);
      const keyPath = [...path, key];
      const offset = offsetOf(pair.key);
      if (seen.has(key)) yield { path: keyPath, message: 'duplicate key', offset };
      // The schema's records silently drop a key with this name.
      if (key === '__proto__') yield { path: keyPath, message: 'unknown key', offset };
      seen.add(key);
      yield* inspect(document, pair.value, keyPath);
    }
  } else if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) yield* inspect(document, item, [...path, index]);
  } else if (isAlias(node)) {
    if (node.resolve(document) === undefined) yield { path, message: UNRESOLVED_ALIAS };
  } else if (isScalar(node) && typeof node.value === 'number') {
    if (!isKeptExactly(node.source ?? '')) yield { path, message: INEXACT_NUMBER };
  }
}

/**
 * Returns whether a number of the text is a decimal number without an exponent that a double keeps. Without quotes, YAML reads an address or a
 * hash as a number, but a double keeps only about 16 digits.
 */
export function isKeptExactly(source: string): boolean {
  const digits = source.includes('.') ? source.replace(/\.?0+$/, '') : source;
  return digits === String(Number(source));
}

/** Finds the place of the key or item at `path`. If the file has no such place, the function finds the nearest parent. */
function locate(document: Document, path: Path): Place {
  let node: unknown = document.contents;
  let offset = offsetOf(node);
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair: Pair | undefined = node.items.findLast((item) => keyOf(item) === step);
      if (pair === undefined) return { found: false, offset };
      offset = offsetOf(pair.key);
      node = pair.value;
    } else if (isSeq(node) && typeof step === 'number' && step < node.items.length) {
      node = node.items[step];
      offset = offsetOf(node);
    } else {
      return { found: false, offset };
    }
  }
  return { found: true, offset };
}

function keyOf(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : '';
}

function offsetOf(node: unknown): number {
  const { range } = (node ?? {}) as { range?: readonly [number, ...number[]] | null };
  return range?.[0] ?? 0;
}
