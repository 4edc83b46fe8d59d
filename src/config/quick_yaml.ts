import {
  boolCoreTag,
  defineMappingTag,
  defineScalarTag,
  load,
  NOT_RESOLVED,
  nullCoreTag,
  Schema,
  seqTag,
  strTag,
} from 'js-yaml';
import type { YamlData } from './yaml_data.js';
import { isKeptExactly, readYaml } from './yaml_text.js';

/**
 * Reads YAML without the places of its values. The library that knows the places takes 4 times as long, which was a fifth of a start with 1,000
 * assets.
 * @returns `undefined` for a text with errors, and for a text that the two libraries could read differently: see {@link readYaml}
 */
export function readQuickly(text: string): YamlData | undefined {
  if (!isOrdinary(text)) return undefined;
  let value: unknown;
  try {
    value = load(text, { schema: SCHEMA, maxAliases: 0 });
  } catch {
    return undefined;
  }
  let full: YamlData | undefined;
  return {
    value,
    problems: [],
    locate(path) {
      full ??= readYaml(text);
      return full.locate(path);
    },
  };
}

/** Returns whether the text has neither tabs nor carriage returns nor control characters, and no directives, marks of documents, anchors or tags. */
function isOrdinary(text: string): boolean {
  return !/[^\n\x20-\x7e\xa0-\u2027\u2030-\ud7ff\ue000-\ufdef\ufdf0-\ufefe\uff00-\uffef]|^%|^ *---|(?<![\w"'])[&!]/m.test(
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
