import { html, render } from 'lit-html';
import { PAGE_PATHS } from '../../wire/paths.js';
import { createStreamClient } from '../index.js';
import { barView, noticeView } from './bar_view.js';
import { type LinkFragment, readFragment, readPlace, writePlace } from './fragment.js';
import { LivePage } from './live_page.js';
import { loadAgain } from './load_again.js';
import { loginView } from './login_view.js';
import { keyTypeOf, PinnedSigners } from './pins.js';
import { reasonText } from './plain_reason.js';
import { isQuorumLink } from './quorum_link.js';
import { originStorage, tabStorage } from './storage.js';

/** The name under which this tab keeps the token. */
const TOKEN_NAME = 'tickseal.token';
/** The name under which this tab keeps the reason for a restart of the page. */
const REASON_NAME = 'tickseal.reason';
/** The name under which this tab keeps the remark about an opened link until the page has restarted. */
const REMARK_NAME = 'tickseal.remark';

const pins = new PinnedSigners(originStorage);
const root = document.getElementById('page')!;
const worker = document.querySelector<HTMLLinkElement>('#worker')!.href;
/** The shown remark, and the reason why the reader has to enter a token. */
let remark = '';
let problem = '';

if (isQuorumLink(location.hash))
  import('./quorum_page.js').then(
    ({ openQuorumPage }) => openQuorumPage({ root, worker, storage: tabStorage, ownToken: TOKEN_NAME }),
    loadAgain,
  );
else start();

/** Opens the page of the service that serves it. */
function start(): void {
  takeFragment();
  // If a link to the same page is opened in this tab, only the fragment changes.
  addEventListener('hashchange', () => {
    if (isQuorumLink(location.hash) || takeFragment()) location.reload();
  });
  remark = takeKeptText(REMARK_NAME);
  problem = takeKeptText(REASON_NAME);
  void openWithToken();
}

/** Opens the page with the token of the tab or the public token of the service, or asks for a token. */
async function openWithToken(): Promise<void> {
  const own = tabStorage.getItem(TOKEN_NAME);
  if (own !== null) return openPage(own);
  const token = problem === '' ? await publicToken() : undefined;
  if (token !== undefined) return openPage(token, true);
  showLogin();
  document.querySelector<HTMLElement>('#token')!.focus();
}

/** Reads the token that the service gives to everybody; `undefined` if it gives none. */
function publicToken(): Promise<string | undefined> {
  const service = createStreamClient({ urls: location.origin, signers: 'unchecked' });
  return service.get(PAGE_PATHS.token).catch(() => undefined);
}

/**
 * Moves the token and the signers out of the address. The place stays in the address. The tab keeps the remark about the link for
 * the restarted page.
 * @returns true if the address had a token or a signer
 */
function takeFragment(): boolean {
  const link = readFragment(location.hash);
  if (link.token === undefined && link.signers.length === 0 && link.streamSigner === undefined) return false;
  const place = writePlace(readPlace(location.hash), { signers: [], streamSigner: undefined });
  history.replaceState(null, '', location.pathname + place);
  tabStorage.setItem(REMARK_NAME, useLink(link));
  return true;
}

/** Uses a link unless it has a wrong key. @returns the remark for the reader; empty if there is no remark */
function useLink({ token, signers, streamSigner }: LinkFragment): string {
  const wrong = signers.find((signer) => keyTypeOf(signer) === undefined);
  if (wrong !== undefined) return `The link was not used: its signer ${wrong} is no key.`;
  const ofStreams = streamSigner ?? signers.find((signer) => keyTypeOf(signer) === 'evm');
  if (ofStreams !== undefined && keyTypeOf(ofStreams) !== 'evm')
    return `The link was not used: its stream_signer ${ofStreams} is no address.`;
  if (token !== undefined) tabStorage.setItem(TOKEN_NAME, token);
  // The key of streams is pinned first, because the pin of the EVM key counts for streams until they have their own pin.
  const named = [
    ...(ofStreams === undefined ? [] : [['stream', ofStreams] as const]),
    ...signers.map((signer) => [keyTypeOf(signer)!, signer] as const),
  ];
  const replaced = named.flatMap(([name, key]) => pins.pin(name, key, 'link') ?? []);
  const remarks = replaced.map(({ key, source }) => {
    const how = source === 'link' ? 'by another link' : source === 'reader' ? 'by you' : 'on first use';
    return `This link pins another key than before: ${key} was pinned ${how}.`;
  });
  return [...new Set(remarks)].join(' ');
}

async function openPage(token: string, isPublic = false): Promise<void> {
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

/** Shows the form for the token. */
function showLogin(): void {
  const onToken = (token: string) => {
    tabStorage.setItem(TOKEN_NAME, token);
    void openPage(token);
  };
  const notice = remark === '' ? undefined : ({ tone: 'info', text: remark } as const);
  render(html`${barView({})}${noticeView(notice)}${loginView(problem, onToken)}`, root);
}

/** Reads and removes a text that the page kept before its restart. */
function takeKeptText(name: string): string {
  const text = tabStorage.getItem(name) ?? '';
  tabStorage.removeItem(name);
  return text;
}
