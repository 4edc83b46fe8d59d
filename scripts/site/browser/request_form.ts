import { html, render, type TemplateResult } from 'lit-html';
import { parse, stringify } from 'lossless-json';
import type { SampleParameter, SampleValue } from '../sample_parameter.js';

/** The characters of an answer that the page shows. The rest is not read. */
const SHOWN_MAX = 100_000;
const TOKEN_FIELD = '.run [type=password]';

/** The data of a sample, from which the build wrote its samples. */
interface RequestData {
  readonly path: string;
  readonly access: 'open' | 'token';
  readonly parameters: readonly SampleParameter[];
}

/** Adds a form to each sample. The form sends its request to the service that served the page, and shows the answer. */
export function addRequestForms(): void {
  for (const sample of document.querySelectorAll<HTMLElement>('[data-request]')) {
    const place = document.createElement('div');
    sample.after(place);
    render(formOf(sample, JSON.parse(sample.dataset['request']!) as RequestData), place);
    place.querySelector('form')!.dispatchEvent(new Event('input'));
  }
}

function formOf(sample: HTMLElement, { path, access, parameters }: RequestData): TemplateResult {
  const showTarget = ({ currentTarget: form }: Event) => {
    const target = targetOf(path, form as HTMLFormElement);
    for (const shown of sample.querySelectorAll('.target')) shown.textContent = target;
  };
  let sent: AbortController | undefined;
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (sent !== undefined) return sent.abort();
    const form = event.currentTarget as HTMLFormElement;
    const token = form.querySelector<HTMLInputElement>(TOKEN_FIELD);
    if (token?.value === '') return token.focus();
    sent = new AbortController();
    const button = form.querySelector('button')!;
    const name = button.textContent;
    button.textContent = 'Stop';
    await showAnswer(form.querySelector('.result')!, targetOf(path, form), token?.value, sent.signal);
    button.textContent = name;
    sent = undefined;
  };
  const fields = parameters.map(
    ({ name, required, value }) =>
      html`<label>${required ? name : `${name} (optional)`}<input name=${name} value=${presentValue(value)} spellcheck="false"></label>`,
  );
  // The token is in these fields only: a reload or another page forgets it.
  const tokenField = html`<label>Access token<input type="password" spellcheck="false" placeholder="kept in this page only" @input=${copyToken}></label>`;
  return html`<form class="run" autocomplete="off" @input=${showTarget} @submit=${submit}>
${fields}${access === 'token' ? tokenField : undefined}
<button type="submit">${access === 'token' ? 'Run with my token' : 'Run'}</button>
<div class="result" aria-live="polite"></div>
</form>`;
}

/** Copies the token into the forms of all other requests. */
function copyToken({ currentTarget }: Event): void {
  const { value } = currentTarget as HTMLInputElement;
  for (const other of document.querySelectorAll<HTMLInputElement>(TOKEN_FIELD)) other.value = value;
}

/** Returns the text of a value. A time is counted from now, in digits, because a double does not hold nanoseconds. */
function presentValue(value: SampleValue): string {
  if (typeof value === 'string') return value;
  return `${Math.floor(Date.now() / 1_000) - value.agoS}${value.digits}`;
}

/** Returns the path and the query of a request. The field of the token has no name, so it is not in the query. */
function targetOf(path: string, form: HTMLFormElement): string {
  const query = [...new FormData(form)]
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value)).replaceAll('%2C', ',')}`);
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
}

async function showAnswer(
  result: HTMLElement,
  target: string,
  token: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const show = (status: string, text = '') =>
    render(html`<p>${status}</p><pre tabindex="0">${text}</pre>`, result);
  show('Waiting for the answer');
  let status = '';
  let text = '';
  try {
    const headers = token === undefined ? {} : { Authorization: `Basic ${token}` };
    const answer = await fetch(target, { headers, signal, cache: 'no-store', redirect: 'error' });
    status = `${answer.status} ${answer.statusText}`;
    for await (const part of textParts(answer)) {
      text += part;
      show(status, text.slice(0, SHOWN_MAX));
      if (text.length > SHOWN_MAX)
        return void show(`${status}, the first ${SHOWN_MAX} characters`, text.slice(0, SHOWN_MAX));
    }
    const isJson = answer.headers.get('Content-Type')?.startsWith('application/json') === true;
    // Each number keeps its digits.
    show(status, isJson ? stringify(parse(text), undefined, 2) : text);
  } catch (error) {
    show(`${status}${signal.aborted ? ', stopped' : `: ${(error as Error).message}`}`, text);
  }
}

/** Reads the text of an answer in parts. The connection closes when the caller stops. */
async function* textParts({ body }: Response): AsyncGenerator<string> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) yield read.value;
  } finally {
    await reader?.cancel();
  }
}
