import { html, type nothing, svg, type TemplateResult } from 'lit-html';
import { shortHex } from './price_text.js';

// Parts of views that several views use. Data from the service becomes text in an element, never markup.

/** A part of a view. */
export type View = TemplateResult | typeof nothing;

const KEPT_MS = 60_000;
const SHOWN_MS = 1_500;

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

/** Draws a button that copies a text and confirms this. */
export function copyButton(name: string, textOf: () => string): View {
  const click = async ({ currentTarget }: Event) => {
    // No view writes into this part of the button. While it has a text, the style sheet hides the name.
    const status = (currentTarget as Element).querySelector('[role=status]')!;
    try {
      await navigator.clipboard.writeText(textOf());
      status.textContent = 'Copied';
    } catch {
      // Browsers have no clipboard for a page that comes over plain HTTP from another machine.
      status.textContent = 'The browser refused';
    }
    setTimeout(() => status.replaceChildren(), SHOWN_MS);
  };
  return html`<button type="button" class="copy" @click=${click}><span role="status"></span><span>${name}</span></button>`;
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
