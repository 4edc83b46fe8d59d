import { html, render } from 'lit-html';
import MiniSearch, { type AsPlainObject } from 'minisearch';
import { SEARCH_OPTIONS, type SearchEntry } from '../search_options.js';

const RESULTS_MAX = 20;

/** Adds the search to the bar of the page. The index is loaded when the field gets the focus for the first time. */
export function addSearch(): void {
  const box = document.querySelector<HTMLElement>('#search')!;
  let index: Promise<MiniSearch<SearchEntry>> | undefined;
  const load = () => {
    index ??= loadIndex();
    return index;
  };
  const search = async ({ target }: Event) => {
    const found = await load();
    const text = (target as HTMLInputElement).value.trim();
    show(text === '' ? undefined : (found.search(text).slice(0, RESULTS_MAX) as unknown as SearchEntry[]));
  };
  const close = () => show(undefined);
  /** Shows the field and the results; without results, only the field. */
  const show = (found: readonly SearchEntry[] | undefined) =>
    render(
      html`<input type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off" @focus=${load} @input=${search}>
<ul class="results" aria-label="Results" ?hidden=${found === undefined}>
${found?.length === 0 ? html`<li class="soft">Nothing found</li>` : found?.map(resultOf)}
</ul>`,
      box,
    );
  const resultOf = ({ id, title, page, excerpt }: SearchEntry) =>
    html`<li><a href=${id} @click=${close}><b>${title}</b><i>${title === page ? '' : ` ${page}`}</i><span>${excerpt}</span></a></li>`;
  close();
  const field = box.querySelector('input')!;
  box.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return moveFocus(event, [field, ...box.querySelectorAll('a')]);
    close();
    field.focus();
  });
  document.addEventListener('click', ({ target }) => {
    if (!box.contains(target as Node)) close();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || (event.target as Element).closest('input, textarea') !== null) return;
    event.preventDefault();
    field.focus();
  });
}

/** Loads the index as a script, because a page that was opened as a file may not fetch it. */
async function loadIndex(): Promise<MiniSearch<SearchEntry>> {
  const script = Object.assign(document.createElement('script'), { src: 'search_index.js' });
  await new Promise((resolve, reject) => {
    script.addEventListener('load', resolve);
    script.addEventListener('error', () => reject(new Error('the index of the search could not be loaded')));
    document.head.append(script);
  });
  const { ticksealIndex } = globalThis as unknown as { readonly ticksealIndex: AsPlainObject };
  return MiniSearch.loadJS<SearchEntry>(ticksealIndex, SEARCH_OPTIONS);
}

/** Moves the focus between the field and the results with the arrow keys. */
function moveFocus(event: KeyboardEvent, stops: readonly HTMLElement[]): void {
  const at = stops.indexOf(document.activeElement as HTMLElement);
  if (event.key === 'Enter' && at === 0) stops[1]?.click();
  else if (event.key === 'ArrowDown') stops[Math.min(at + 1, stops.length - 1)]?.focus();
  else if (event.key === 'ArrowUp') stops[Math.max(at - 1, 0)]?.focus();
  else return;
  event.preventDefault();
}
