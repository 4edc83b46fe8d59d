import type { Options } from 'minisearch';

/** A section of a page, as the search finds it. */
export interface SearchEntry {
  /** The address of the section. */
  readonly id: string;
  readonly title: string;
  /** The title of the page. */
  readonly page: string;
  readonly text: string;
  readonly excerpt: string;
}

/** Words that are in most sections. */
const FREQUENT = new Set(
  'a an and are as at by for from has in is it its no not of on one or so that the this to when which with'.split(
    ' ',
  ),
);

/** Hashes, keys and long numbers. */
const NUMBER = /^0x|\d{6}|^[0-9a-f]{12,}$/;

/** The options of the index. The build and the page must use the same options. */
export const SEARCH_OPTIONS: Options<SearchEntry> = {
  fields: ['title', 'page', 'text'],
  storeFields: ['title', 'page', 'excerpt'],
  processTerm: (term) => {
    const word = term.toLowerCase();
    return FREQUENT.has(word) || NUMBER.test(word) ? null : word;
  },
  searchOptions: { boost: { title: 4, page: 2 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
};
