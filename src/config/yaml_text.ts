import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  type YAMLError,
} from 'yaml';

/** The place of a value in the file: the keys of mappings and the indexes of sequences, from the top to the value. */
export type Path = readonly (string | number)[];

/** An error in the file, and its place. */
export interface Problem {
  readonly path: Path;
  readonly message: string;
  /** The offset in the text, in characters. Present when it differs from the place of `path`. */
  readonly offset?: number;
}

/** The data of a text in YAML. */
export interface YamlData {
  /** The data; `undefined` when the text is not YAML. `problems` then contains the reason. */
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** Finds the place of the key or item at `path`. If the text has no such place, the function finds the nearest parent. */
  locate(path: Path): Place;
}

export interface Place {
  readonly found: boolean;
  /** The offset in the text, in characters. */
  readonly offset: number;
}

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
  const anchors: Anchors = { named: new Map(), targets: new Map() };
  const problems = syntax.length > 0 ? syntax : [...inspectNode(document.contents, [], anchors)];
  const isReadable = syntax.length === 0 && !problems.some(({ message }) => message === UNRESOLVED_ALIAS);
  const value = isReadable ? dataOf(document) : undefined;
  if (value === TOO_MANY_ALIASES) problems.push({ path: [], message: TOO_MANY_ALIASES });
  return {
    value: value === TOO_MANY_ALIASES ? undefined : value,
    problems,
    locate: (path) => locatePath(document.contents, anchors, path),
  };
}

/** The largest number of places of an anchor's value, counted through all aliases: enough for one alias in each of 1,000 assets. */
export const ALIASES_MAX = 10_000;
const TOO_MANY_ALIASES = `aliases repeat a value more than ${ALIASES_MAX} times`;

/** Returns the data, or the error of a small file whose aliases of aliases stand for very many values. */
function dataOf(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: ALIASES_MAX });
  } catch (error) {
    if (error instanceof ReferenceError) return TOO_MANY_ALIASES;
    throw error;
  }
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

/** The anchors of a document. The library searches the whole document for each alias. */
interface Anchors {
  /** The last node with each anchor so far. */
  readonly named: Map<string, Node>;
  /** The node for which each alias stands. */
  readonly targets: Map<unknown, Node>;
}

/** Finds valid YAML that is not allowed in a configuration file, and notes the anchors and aliases. */
function* inspectNode(node: unknown, path: Path, anchors: Anchors): Generator<Problem> {
  if (isNode(node) && 'anchor' in node && node.anchor !== undefined) anchors.named.set(node.anchor, node);
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
      yield* inspectNode(pair.key, keyPath, anchors);
      yield* inspectNode(pair.value, keyPath, anchors);
    }
  } else if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) yield* inspectNode(item, [...path, index], anchors);
  } else if (isAlias(node)) {
    const target = anchors.named.get(node.source);
    if (target === undefined) yield { path, message: UNRESOLVED_ALIAS };
    else anchors.targets.set(node, target);
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
function locatePath(contents: unknown, { targets }: Anchors, path: Path): Place {
  let node = contents;
  let offset = offsetOf(node);
  for (const step of path) {
    node = targets.get(node) ?? node;
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
