import type { SampleParameter, SampleValue } from '../sample_parameter.js';
import { element } from './elements.js';
import { indentJson } from './indented_json.js';

/** The characters of an answer that the page shows. The rest is not read. */
const SHOWN_MAX = 100_000;

/** The data of a sample, from which the build wrote its samples. */
interface RequestData {
  readonly path: string;
  readonly access: 'open' | 'token';
  readonly parameters: readonly SampleParameter[];
}

/** The fields of all requests for the token. The token is in these fields only: a reload or another page forgets it. */
const tokenFields: HTMLInputElement[] = [];

/** Adds a form to each sample. The form sends its request to the service that served the page, and shows the answer. */
export function addRequestForms(): void {
  for (const sample of document.querySelectorAll<HTMLElement>('[data-request]'))
    sample.after(requestForm(sample, JSON.parse(sample.dataset['request']!) as RequestData));
}

function requestForm(sample: HTMLElement, { path, access, parameters }: RequestData): HTMLElement {
  const form = element('form', { class: 'run', autocomplete: 'off' });
  const fields = parameters.map(({ name, required, value }) => {
    const field = element('input', { name, value: presentValue(value), spellcheck: 'false' });
    form.append(labelled(required ? name : `${name} (optional)`, field));
    return field;
  });
  const target = () => {
    const query = fields.filter(({ value }) => value !== '').map(queryPart);
    return query.length === 0 ? path : `${path}?${query.join('&')}`;
  };
  const showTarget = () => {
    for (const place of sample.querySelectorAll('.target')) place.textContent = target();
  };
  form.addEventListener('input', showTarget);
  showTarget();
  const token = access === 'token' ? addTokenField(form) : undefined;
  const run = element('button', { type: 'submit' }, token === undefined ? 'Run' : 'Run with my token');
  const result = element('div', { class: 'result', 'aria-live': 'polite' });
  form.append(run, result);
  let sent: AbortController | undefined;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (sent !== undefined) return sent.abort();
    if (token?.value === '') return token.focus();
    sent = new AbortController();
    const name = run.textContent;
    run.textContent = 'Stop';
    await showAnswer(result, target(), token?.value, sent.signal);
    run.textContent = name;
    sent = undefined;
  });
  return form;
}

function addTokenField(form: HTMLElement): HTMLInputElement {
  const field = element('input', {
    type: 'password',
    spellcheck: 'false',
    placeholder: 'kept in this page only',
  });
  field.addEventListener('input', () => {
    for (const other of tokenFields) other.value = field.value;
  });
  tokenFields.push(field);
  form.append(labelled('Access token', field));
  return field;
}

function labelled(text: string, field: HTMLElement): HTMLElement {
  const label = element('label', {}, text);
  label.append(field);
  return label;
}

/** Returns the text of a value. A time is counted from now, in digits, because a double does not hold nanoseconds. */
function presentValue(value: SampleValue): string {
  if (typeof value === 'string') return value;
  return `${Math.floor(Date.now() / 1_000) - value.agoS}${value.digits}`;
}

function queryPart({ name, value }: HTMLInputElement): string {
  return `${name}=${encodeURIComponent(value).replaceAll('%2C', ',')}`;
}

async function showAnswer(
  result: HTMLElement,
  target: string,
  token: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const status = element('p', {}, 'Waiting for the answer');
  const body = element('pre', { tabindex: '0' });
  result.replaceChildren(status, body);
  try {
    const headers = token === undefined ? {} : { Authorization: `Basic ${token}` };
    const answer = await fetch(target, { headers, signal, cache: 'no-store', redirect: 'error' });
    status.textContent = `${answer.status} ${answer.statusText}`;
    const isJson = answer.headers.get('Content-Type')?.startsWith('application/json') === true;
    let text = '';
    for await (const part of textParts(answer)) {
      text += part;
      body.textContent = text.slice(0, SHOWN_MAX);
      if (text.length <= SHOWN_MAX) continue;
      status.textContent += `, the first ${SHOWN_MAX} characters`;
      return;
    }
    if (isJson) body.textContent = indentJson(text);
  } catch (error) {
    status.textContent += signal.aborted ? ', stopped' : `: ${(error as Error).message}`;
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
