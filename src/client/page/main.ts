import { html, render } from 'lit-html';
import { PAGE_PATHS } from '../../wire/paths.js';
import { DEFAULT_SIGNATURE_TYPE, signatureTypeOfKey } from '../../wire/signatures.js';
import { createStreamClient } from '../index.js';
import { barView, noticeView } from './bar_view.js';
import { LivePage } from './live_page.js';
import { loadAgain } from './load_again.js';
import { loginView } from './login_view.js';
import { PinnedSigners } from './pins.js';
import { hashWith } from './place.js';
import { reasonText } from './plain_reason.js';
import { originStorage, tabStorage } from './storage.js';

/** The name under which this tab keeps the token. */
const TOKEN_NAME = 'tickseal.token';
/** The name under which this tab keeps the reason for a restart of the page. */
const REASON_NAME = 'tickseal.reason';
/** The names in a link that do not stay in the address. */
const CREDENTIALS = { token: undefined, signer: undefined, stream_signer: undefined };

const pins = new PinnedSigners(originStorage);
const root = document.getElementById('page')!;
const worker = document.querySelector<HTMLLinkElement>('#worker')!.href;

if (linkOf(location.hash).has('quorum'))
  import('./quorum_page.js').then(
    ({ openQuorumPage }) => openQuorumPage({ root, worker, storage: tabStorage, ownToken: TOKEN_NAME }),
    loadAgain,
  );
else void start();

/** Opens the page of the service that serves it, with the token of the tab or the public token of the service, or asks for a token. */
async function start(): Promise<void> {
  const link = linkOf(location.hash);
  const remark = useLink(link);
  history.replaceState(null, '', hashWith(CREDENTIALS, location.hash));
  // If a link to the same page is opened in this tab, only the fragment changes.
  addEventListener('hashchange', () => {
    const next = linkOf(location.hash);
    if (['quorum', ...Object.keys(CREDENTIALS)].some((name) => next.has(name))) location.reload();
  });
  const problem = tabStorage.getItem(REASON_NAME) ?? '';
  tabStorage.removeItem(REASON_NAME);
  const own = tabStorage.getItem(TOKEN_NAME);
  if (own !== null) return openPage(own, false, remark);
  const token = problem === '' ? await publicToken() : undefined;
  if (token !== undefined) return openPage(token, true, remark);
  const onToken = (entered: string) => {
    tabStorage.setItem(TOKEN_NAME, entered);
    void openPage(entered, false, remark);
  };
  const notice = remark === '' ? undefined : ({ tone: 'info', text: remark } as const);
  render(html`${barView({})}${noticeView(notice)}${loginView(problem, onToken)}`, root);
  document.querySelector<HTMLElement>('#token')!.focus();
}

/** Reads the token that the service gives to everybody; `undefined` if it gives none. */
function publicToken(): Promise<string | undefined> {
  const service = createStreamClient({ urls: location.origin, signers: 'unchecked' });
  return service.get(PAGE_PATHS.token).catch(() => undefined);
}

/** Uses a link unless it has a wrong key. @returns the remark for the reader; empty if there is no remark */
function useLink(link: URLSearchParams): string {
  const signers = link.getAll('signer');
  const wrong = signers.find((signer) => signatureTypeOfKey(signer) === undefined);
  if (wrong !== undefined) return `The link was not used: its signer ${wrong} is no key.`;
  const ofStreams =
    link.get('stream_signer') ??
    signers.find((signer) => signatureTypeOfKey(signer) === DEFAULT_SIGNATURE_TYPE);
  if (ofStreams !== undefined && signatureTypeOfKey(ofStreams) !== DEFAULT_SIGNATURE_TYPE)
    return `The link was not used: its stream_signer ${ofStreams} is no address.`;
  const token = link.get('token');
  if (token) tabStorage.setItem(TOKEN_NAME, token);
  // The key of streams is pinned first, because the pin of the EVM key counts for streams until they have their own pin.
  const named = [
    ...(ofStreams === undefined ? [] : [['stream', ofStreams] as const]),
    ...signers.map((signer) => [signatureTypeOfKey(signer)!, signer] as const),
  ];
  const replaced = named.flatMap(([name, key]) => pins.pin(name, key, 'link') ?? []);
  const remarks = replaced.map(({ key, source }) => {
    const how = source === 'link' ? 'by another link' : source === 'reader' ? 'by you' : 'on first use';
    return `This link pins another key than before: ${key} was pinned ${how}.`;
  });
  return [...new Set(remarks)].join(' ');
}

async function openPage(token: string, isPublic: boolean, remark: string): Promise<void> {
  const onSignOut = () => signOut(isPublic ? 'This page was open with the public token of the service.' : '');
  const page = new LivePage({ root, worker, token, isPublic, pins, remark, onSignOut });
  try {
    await page.run();
  } catch (error) {
    signOut(`The service refused the token: ${reasonText(error as Error)}.`);
  }
}

/** Deletes the token, and reloads the page so that no data of the old login remains. */
function signOut(reason: string): void {
  tabStorage.removeItem(TOKEN_NAME);
  tabStorage.setItem(REASON_NAME, reason);
  location.reload();
}

function linkOf(hash: string): URLSearchParams {
  return new URLSearchParams(hash.slice(1));
}
