import { html, render } from 'lit-html';
import { addRequestForms } from './request_form.js';
import { addSearch } from './search_box.js';
import { addTabs } from './tabs.js';

// The script of the site of documents: search, tabs, copy buttons, and requests with the reader's token. Every page can be read without it.

const CONFIRMED_MS = 1_500;
/** True when a service serves the page, so the page may send requests to the service. */
const isServed = location.protocol.startsWith('http') && location.pathname.startsWith('/docs/');

addSearch();
addTabs();
for (const block of document.querySelectorAll('pre')) addCopyButton(block);
if (isServed) {
  addRequestForms();
  const jump = document.querySelector('.jump')!;
  render(html`<a class="live" href="/">Live prices</a>`, jump.parentElement!, { renderBefore: jump });
}
showCurrentPage(document.querySelector('nav')!, document.querySelector<HTMLElement>('nav [aria-current]'));

/** Scrolls the navigation, but not the page, to the present page. */
function showCurrentPage(navigation: HTMLElement, link: HTMLElement | null): void {
  navigation.scrollTop = (link?.offsetTop ?? 0) - navigation.clientHeight / 3;
}

/** Adds a button that copies a block and confirms this. */
function addCopyButton(block: HTMLElement): void {
  const frame = document.createElement('div');
  frame.className = 'copied';
  block.before(frame);
  frame.append(block);
  const show = (text: string) => render(html`<button type="button" @click=${copy}>${text}</button>`, frame);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(block.textContent ?? '');
      show('Copied');
    } catch {
      // Browsers have no clipboard for a page that comes over plain HTTP from another machine.
      show('The browser refused');
    }
    setTimeout(() => show('Copy'), CONFIRMED_MS);
  };
  show('Copy');
}
