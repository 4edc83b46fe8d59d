import { html, nothing, svg, type TemplateResult } from 'lit-html';
import { keyed } from 'lit-html/directives/keyed.js';
import type { Quote } from './board.js';
import { copyText } from './clipboard.js';
import { keptLength, shortHex } from './price_text.js';

// Parts of views that several views use. Data from the service becomes text in an element, never markup.

/** A part of a view. */
export type View = TemplateResult | typeof nothing;

const REDUCED_MOTION = matchMedia('(prefers-reduced-motion: reduce)');
const KEPT_MS = 60_000;
const SHOWN_MS = 1_500;
/** The time for which changed digits keep their colour: shorter than the interval of frames, so that each change is visible. */
export const FLASH_MS = 300;

/** Draws a sign of the page's set. */
export function sign(name: string): View {
  return html`<svg viewBox="0 0 24 24" aria-hidden="true"><use href="#sign-${name}"></use></svg>`;
}

/** Draws a list of names with their values. */
export function facts(entries: readonly (readonly [name: string, value: unknown])[]): View {
  return html`<dl class="facts">${entries.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** Draws a key or hash. The style sheet shows all of it, or its first and last digits. */
export function hexText(text: string): View {
  return html`<code title=${text}><span class="whole">${text}</span><span class="short">${shortHex(text)}</span></code>`;
}

/** Draws a button that copies a text and confirms this. If there is no text, the button shows `missing`. */
export function copyButton(name: string, textOf: () => string | undefined, missing = ''): View {
  const click = ({ currentTarget }: Event) => {
    // No view writes into this part of the button. While it has a text, the style sheet hides the name.
    const status = (currentTarget as Element).querySelector('[role=status]')!;
    const show = (text: string) => {
      status.textContent = text;
      setTimeout(() => {
        status.textContent = '';
      }, SHOWN_MS);
    };
    const text = textOf();
    if (text === undefined) return show(missing);
    copyText(text).then(
      () => show('Copied'),
      () => show('The browser refused'),
    );
  };
  return html`<button type="button" class="copy" @click=${click}><span role="status"></span><span>${name}</span></button>`;
}

/** Draws a button that saves a text as a file. */
export function saveButton(button: string, name: string, text: string): View {
  return html`<button type="button" @click=${() => saveFile(name, text)}>${button}</button>`;
}

/** Saves a text as a file. */
export function saveFile(name: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }));
  link.download = name;
  link.click();
  // A browser may read the text after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}

/**
 * Draws a price, and colours the digits that changed for a moment. The colour does not fade, because a fading colour makes the
 * browser paint the page in each animation frame: 47 frames a second with 17 rows, and 10 without it.
 */
export function flashedPrice(text: string, before: string, quote: Quote | undefined, nowMs: number): View {
  const isFlashing = !REDUCED_MOTION.matches && quote !== undefined && nowMs - quote.changedMs < FLASH_MS;
  const kept = isFlashing ? keptLength(before, text) : text.length;
  const direction = isFlashing ? (quote.price > quote.before ? 1 : -1) : nothing;
  // New parts for a price that is divided elsewhere, because a browser counts a part that shrinks as a shift of the layout.
  return html`${keyed(kept, html`${text.slice(0, kept)}<span data-direction=${direction}>${text.slice(kept)}</span>`)}`;
}

/** Draws the ring of several operators: one part for each, with its verdict. */
export function quorumRing(verdicts: readonly string[]): View {
  const all = verdicts.length * PART;
  const part = (verdict: string, i: number) =>
    svg`<circle cx="12" cy="12" r="9" pathLength=${all} stroke-dasharray="${PART - GAP} ${all - PART + GAP}"
      stroke-dashoffset=${-i * PART} transform="rotate(-90 12 12)" data-verdict=${verdict}></circle>`;
  return html`<svg viewBox="0 0 24 24" class="quorum-ring" aria-hidden="true">${verdicts.map(part)}</svg>`;
}

/** The length of an operator's part of the ring, and the gap after it. */
const PART = 10;
const GAP = 2;

/** Returns a listener that closes an opened `details` when the focus leaves it, or on Escape. */
export function closeMenu(event: FocusEvent | KeyboardEvent): void {
  const menu = event.currentTarget as HTMLDetailsElement;
  if (event instanceof KeyboardEvent) {
    if (event.key !== 'Escape' || !menu.open) return;
    event.stopPropagation();
    menu.querySelector('summary')!.focus();
  } else if (menu.contains(event.relatedTarget as Node | null)) return;
  menu.open = false;
}
