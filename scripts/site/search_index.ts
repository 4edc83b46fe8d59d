import MiniSearch from 'minisearch';
import { headingsOf, textIn } from './page_frame.js';
import { SEARCH_OPTIONS, type SearchEntry } from './search_options.js';

/** The characters of a section's text that a result shows. */
const EXCERPT_LENGTH = 90;

/** The samples of requests, which have the same words in each section. */
const SAMPLES = /<div class="samples"[\s\S]*?<\/div>\n<\/div>/g;
/** Other code, and heads of tables: their words are found, but an excerpt does not show them. */
const NO_PROSE = /<pre[\s\S]*?<\/pre>|<thead>[\s\S]*?<\/thead>/g;

/** A page of the site, whose sections are found. */
export interface IndexedPage {
  readonly name: string;
  readonly title: string;
  readonly body: string;
}

/** Makes the index of all sections, as a script that gives it to the page: a page that was opened as a file may not fetch one. */
export function writeSearchIndex(pages: readonly IndexedPage[]): string {
  const index = new MiniSearch<SearchEntry>(SEARCH_OPTIONS);
  index.addAll(pages.flatMap(entriesOf));
  return `ticksealIndex = ${JSON.stringify(index)};\n`;
}

function entriesOf({ name, title, body }: IndexedPage): SearchEntry[] {
  const headings = headingsOf(body);
  const first = { id: `${name}.html`, title, page: title, ...textOf(body.slice(0, headings[0]?.start)) };
  const others = headings.map(({ id, text, end }, i) => ({
    id: `${name}.html#${id}`,
    title: text,
    page: title,
    ...textOf(body.slice(end, headings[i + 1]?.start)),
  }));
  return [first, ...others];
}

function textOf(markup: string): Pick<SearchEntry, 'text' | 'excerpt'> {
  const shown = markup.replaceAll(SAMPLES, '');
  const prose = textIn(shown.replaceAll(NO_PROSE, ''));
  const excerpt = prose.length > EXCERPT_LENGTH ? `${prose.slice(0, EXCERPT_LENGTH)}…` : prose;
  return { text: textIn(shown), excerpt };
}
