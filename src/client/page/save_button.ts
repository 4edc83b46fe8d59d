import { copyButton } from './copy_button.js';
import { element } from './elements.js';
import type { SavedFiles } from './saved_files.js';

const KEPT_MS = 60_000;

/** Makes a button for each file, a button that copies the command, and the words about the policy. */
export function saveParts({ files, command }: SavedFiles): HTMLElement[] {
  const buttons = files.map(({ button, name, text }) => saveButton(button, name, text));
  return [
    element(
      'div',
      { class: 'copies' },
      ...buttons,
      copyButton('Copy the command', () => command),
    ),
    element(
      'p',
      { class: 'soft' },
      'The command checks the saved files without this service. tickseal.policy has the log and the witnesses that you trust.',
    ),
  ];
}

/** Makes a button that saves a text as a file. */
function saveButton(button: string, name: string, text: string): HTMLButtonElement {
  const made = element('button', { type: 'button' }, button);
  made.addEventListener('click', () => saveFile(name, text));
  return made;
}

/** Saves a text as a file. */
export function saveFile(name: string, text: string): void {
  const href = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }));
  element('a', { href, download: name }).click();
  // A browser may read the text after the click.
  setTimeout(() => URL.revokeObjectURL(href), KEPT_MS);
}
