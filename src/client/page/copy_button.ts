import { element } from './elements.js';

const SHOWN_MS = 1_500;

/** Makes a button that copies a text and confirms this. If there is no text, the button shows `missing`. */
export function copyButton(name: string, textOf: () => string | undefined, missing = ''): HTMLButtonElement {
  const button = element('button', { type: 'button' }, name);
  const show = (text: string) => {
    button.textContent = text;
    setTimeout(() => {
      button.textContent = name;
    }, SHOWN_MS);
  };
  button.addEventListener('click', () => {
    const text = textOf();
    if (text === undefined) show(missing);
    else
      copy(text).then(
        () => show('Copied'),
        () => show('The browser refused'),
      );
  });
  return button;
}

/**
 * Copies a text. Browsers have no clipboard for a page that comes over plain HTTP from another machine, so this function uses the
 * older method there.
 */
async function copy(text: string): Promise<void> {
  if (isSecureContext) return navigator.clipboard.writeText(text);
  const field = element('textarea', { class: 'unseen' });
  field.value = text;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  if (!isCopied) throw new Error('not copied');
}
