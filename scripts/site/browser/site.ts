import { copyButton, element } from './elements.js';
import { addRequestForms } from './request_form.js';
import { addSearch } from './search_box.js';
import { addTabs } from './tabs.js';

// The script of the site of documents: search, tabs, copy buttons, and requests with the reader's token. Every page can be read without it.

/** True when a service serves the page, so the page may send requests to the service. */
const isServed = location.protocol.startsWith('http') && location.pathname.startsWith('/docs/');

addSearch();
addTabs();
for (const block of document.querySelectorAll('pre')) addCopyButton(block);
if (isServed) {
  addRequestForms();
  document.querySelector('.jump')?.before(element('a', { class: 'live', href: '/' }, 'Live prices'));
}
showCurrentPage(document.querySelector('nav')!, document.querySelector<HTMLElement>('nav [aria-current]'));

/** Scrolls the navigation, but not the page, to the present page. */
function showCurrentPage(navigation: HTMLElement, link: HTMLElement | null): void {
  navigation.scrollTop = (link?.offsetTop ?? 0) - navigation.clientHeight / 3;
}

function addCopyButton(block: HTMLElement): void {
  const frame = element('div', { class: 'copied' });
  block.before(frame);
  const button = copyButton('Copy', () => block.textContent ?? '');
  frame.append(block, button);
}
