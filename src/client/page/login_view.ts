import { html } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import type { View } from './parts.js';
import { importQuorum } from './quorum_link.js';

export interface LoginFacts {
  /** The reason why the reader has to enter a token again, or why a file was not used. */
  readonly problem: string;
  readonly onToken: (token: string) => void;
  readonly onFile: (file: File | undefined) => void;
}

/** Draws the form for the access token. */
export function loginView({ problem, onToken, onFile }: LoginFacts): View {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const token = (event.target as HTMLFormElement).querySelector('input')!.value.trim();
    if (token !== '') onToken(token);
  };
  const choose = ({ target }: Event) => {
    const [file] = (target as HTMLInputElement).files ?? [];
    onFile(file);
  };
  return html`<div role="main" id="login" class="login"><form @submit=${submit}>
<h1>Live prices, verified in your browser</h1>
<p>Each price on this page comes with the service's signature, and this browser checks it before it shows the price.</p>
<label for="token">Access token</label>
<div class="field"><input id="token" type="password" autocomplete="off" spellcheck="false" required><button type="submit">Open</button></div>
<p class="problem" role="alert">${problem}</p>
<p class="soft">The token stays in this tab: closing the tab forgets it. <a href="/docs/">Documentation</a></p>
<label for="quorum-file">Or compare several operators</label>
<div class="field"><input id="quorum-file" type="file" accept=".json" .value=${live('')} @change=${choose}></div>
<p class="soft">A file of operators in JSON, as for <code>tickseal subscribe --quorum</code>. It can also be dropped on this page.</p>
</form></div>`;
}

/**
 * Opens the page of several operators for a file of operators. The file becomes the part of the address after `#`, so the page can
 * be shared and opened again.
 * @returns the reason, as a sentence, when the file cannot be used
 */
export async function openFile(file: File | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const imported = importQuorum(await file.text());
  if (!imported.ok) return imported.reason;
  location.hash = imported.fragment;
  return undefined;
}

/** Opens a file that the reader drops anywhere on the page. */
export function followDrops(onFile: LoginFacts['onFile']): void {
  addEventListener('dragover', (event) => event.preventDefault());
  addEventListener('drop', (event) => {
    event.preventDefault();
    onFile(event.dataTransfer?.files[0]);
  });
}
