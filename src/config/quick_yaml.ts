import {
  boolCoreTag,
  COLLECTION_STYLE,
  constructFromEvents,
  defineMappingTag,
  defineScalarTag,
  EVENT_ID,
  type Event,
  getScalarValue,
  NOT_RESOLVED,
  nullCoreTag,
  parseEvents,
  SCALAR_STYLE,
  Schema,
  seqTag,
  strTag,
} from 'js-yaml';
import type { Path, Place, YamlData } from './yaml_data.js';
import { isKeptExactly, readYaml } from './yaml_text.js';

/**
 * Reads YAML in a quarter of the time of the library in {@link readYaml}, which was a fifth of a start with 1,000 assets.
 * @returns `undefined` for a text with errors, and for a text that the two libraries could read differently: see {@link readYaml}
 */
export function readQuickly(text: string): YamlData | undefined {
  if (!isOrdinary(text)) return undefined;
  try {
    const events = parseEvents(text, {});
    const values = constructFromEvents(events, { source: text, schema: SCHEMA, maxAliases: 0 });
    if (values.length !== 1 || goesOnAfterItem(events, text)) return undefined;
    const places = new EventPlaces(events, text);
    return {
      value: values[0],
      problems: [],
      locate: (path) => places.locate(path) ?? readYaml(text).locate(path),
    };
  } catch {
    return undefined;
  }
}

/** The event of the document's top node. The event before it begins the document. */
const TOP = 1;

/** The places of a text's values, found in the events. */
class EventPlaces {
  /** The children of each collection that was asked for, by the event of the collection. */
  readonly #children = new Map<number, ReadonlyMap<string | number, number>>();

  constructor(
    readonly events: readonly Event[],
    readonly text: string,
  ) {}

  /** Finds the place at `path`, or its nearest parent. @returns `undefined` if a place on the way has no offset in the events */
  locate(path: Path): Place | undefined {
    let at = TOP;
    let offset = offsetOf(this.events[at]!);
    for (const step of path) {
      if (offset === undefined) return undefined;
      const child = this.#childrenOf(at).get(step);
      if (child === undefined) return { found: false, offset };
      offset = offsetOf(this.events[child]!);
      at = this.events[at]!.type === EVENT_ID.MAPPING ? child + 1 : child;
    }
    return offset === undefined ? undefined : { found: true, offset };
  }

  /** Returns the events of a mapping's keys or a sequence's items. */
  #childrenOf(collection: number): ReadonlyMap<string | number, number> {
    const known = this.#children.get(collection);
    if (known !== undefined) return known;
    const children = new Map<string | number, number>();
    const { type } = this.events[collection]!;
    const isMapping = type === EVENT_ID.MAPPING;
    if (isMapping || type === EVENT_ID.SEQUENCE) {
      for (let child = collection + 1; this.events[child]!.type !== EVENT_ID.POP; ) {
        const event = this.events[child]!;
        const key =
          isMapping && event.type === EVENT_ID.SCALAR ? getScalarValue(this.text, event) : undefined;
        children.set(key ?? children.size, child);
        child = afterNode(this.events, isMapping ? afterNode(this.events, child) : child);
      }
    }
    this.#children.set(collection, children);
    return children;
  }
}

/**
 * Returns whether a line goes on after an item in quotes or brackets of a sequence that ends there, as in `- "a" b: 1`. js-yaml takes the rest as
 * the next key of the mapping around the sequence; it is an error.
 */
function goesOnAfterItem(events: readonly Event[], text: string): boolean {
  const open: Event[] = [];
  for (const [index, event] of events.entries()) {
    if (event.type !== EVENT_ID.POP) {
      if (event.type !== EVENT_ID.SCALAR && event.type !== EVENT_ID.ALIAS) open.push(event);
      continue;
    }
    const ended = open.pop()!;
    const next = events[index + 1];
    if (ended.type !== EVENT_ID.SEQUENCE || ended.style !== COLLECTION_STYLE.BLOCK) continue;
    if (next === undefined || next.type === EVENT_ID.POP) continue;
    const offset = offsetOf(next);
    if (offset === undefined || !/^[ ?:-]*$/.test(text.slice(text.lastIndexOf('\n', offset) + 1, offset)))
      return true;
  }
  return false;
}

/** Returns the index of the event after a node and all nodes in it. */
function afterNode(events: readonly Event[], node: number): number {
  let depth = 0;
  let at = node;
  do {
    const { type } = events[at++]!;
    if (type === EVENT_ID.MAPPING || type === EVENT_ID.SEQUENCE) depth++;
    else if (type === EVENT_ID.POP) depth--;
  } while (depth > 0);
  return at;
}

/** Returns the offset of a node's first character. Only collections and texts on their line have one in their event. */
function offsetOf(event: Event): number | undefined {
  if (event.type === EVENT_ID.MAPPING || event.type === EVENT_ID.SEQUENCE) return event.start;
  if (event.type !== EVENT_ID.SCALAR || event.valueStart < 0) return undefined;
  if (event.style === SCALAR_STYLE.PLAIN) return event.valueStart;
  const isQuoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED;
  return isQuoted ? event.valueStart - 1 : undefined;
}

/** Returns whether the text has neither tabs nor carriage returns nor control characters, and no directives, marks of documents, anchors, tags or "?" after an item. */
function isOrdinary(text: string): boolean {
  return !/[^\n\x20-\x7e\xa0-\u2027\u2030-\ud7ff\ue000-\ufdef\ufdf0-\ufefe\uff00-\uffef]|^%|^ *(?:---|\.\.\.)|["'\]}] *\?\s|(?<![\w"'])[&!]/m.test(
    text,
  );
}

/** The numbers of the core schema. */
const NUMBER =
  /^(?:0o[0-7]+|0x[0-9a-fA-F]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)|[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?)$/;

const numberTag = defineScalarTag<number>('tag:yaml.org,2002:float', {
  implicit: true,
  resolve(source) {
    if (!NUMBER.test(source)) return NOT_RESOLVED;
    if (!isKeptExactly(source)) throw new Error('not kept exactly');
    return Number(source);
  },
  identify: (data) => typeof data === 'number',
});

const textKeysTag = defineMappingTag<Record<string, unknown>>('tag:yaml.org,2002:map', {
  create: () => ({}),
  addPair(record, key, value) {
    if (typeof key !== 'string' || key === '__proto__') return 'not a key';
    record[key] = value;
    return '';
  },
  has: (record, key) => Object.hasOwn(record, key as string),
  keys: Object.keys,
  get: (record, key) => record[key as string],
  identify: (data) => typeof data === 'object',
});

const SCHEMA = new Schema([strTag, nullCoreTag, boolCoreTag, numberTag, seqTag, textKeysTag]);
