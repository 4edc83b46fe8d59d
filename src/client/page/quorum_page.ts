import { RefusedError } from '../connect/errors.js';
import { BROWSER } from '../connect/platform.js';
import { StreamClient } from '../prices/stream_client.js';
import {
  clientsOf,
  type OperatorClient,
  type QuorumClientOptions,
  rulesOf,
} from '../quorum/quorum_options.js';
import { QuorumStream } from '../quorum/quorum_stream.js';
import { byId, element } from './elements.js';
import { followFiles } from './file_choice.js';
import { pause } from './pause.js';
import type { PinStorage } from './pins.js';
import { reasonText } from './plain_reason.js';
import { QuorumBoard } from './quorum_board.js';
import { hostsOf, type LinkOperator, type LinkQuorum, readQuorumLink, tokenName } from './quorum_link.js';
import { OperatorList, QuorumTable, rulesText } from './quorum_view.js';

/** The channel with two frames a second, because people cannot read faster. */
const CHANNEL = '500ms';
/** The largest number of assets that the page shows and streams. The search finds the other assets. */
const ROWS_MAX = 40;
const DRAW_MS = 200;
const ASK_AGAIN_MS = 5_000;

/**
 * Opens the page of several operators. The tab keeps the token of each operator under the operator's address, and the page sends
 * the token to this address only.
 * @param ownToken the name under which the tab keeps the token of the service that serves the page
 */
export function openQuorumPage(storage: PinStorage, ownToken: string): void {
  addEventListener('hashchange', () => location.reload());
  const root = byId('quorum');
  root.hidden = false;
  followFiles((reason) => showProblem(root, reason));
  const link = readQuorumLink(location.hash);
  if (!link.ok) {
    showProblem(root, link.reason);
    return;
  }
  const nameOf = ({ urls }: LinkOperator) => (urls.join() === location.origin ? ownToken : tokenName(urls));
  const { operators } = link.quorum;
  try {
    // Checks the rules, and rejects operators that share a key. The clients open no connection yet.
    rulesOf({ quorum: link.quorum });
    streamClients({ quorum: link.quorum });
  } catch (error) {
    showProblem(root, `The link was not used: ${(error as Error).message}.`);
    return;
  }
  const start = () => {
    const withTokens = operators.map((operator) => {
      const token = storage.getItem(nameOf(operator)) ?? '';
      return { ...operator, ...(token !== '' && { token }) };
    });
    try {
      new QuorumPage(root, { ...link.quorum, operators: withTokens }).run();
    } catch (error) {
      showProblem(root, `The link was not used: ${(error as Error).message}.`);
    }
  };
  for (const button of document.querySelectorAll<HTMLElement>('.sign-out'))
    button.addEventListener('click', () => {
      for (const operator of operators) storage.removeItem(nameOf(operator));
      location.reload();
    });
  if (operators.some((operator) => storage.getItem(nameOf(operator)) !== null)) start();
  else
    askTokens(root, operators, (tokens) => {
      for (const [i, operator] of operators.entries())
        if (tokens[i] !== '') storage.setItem(nameOf(operator), tokens[i]!);
      start();
    });
}

/** Asks for a token of each operator. */
function askTokens(
  root: HTMLElement,
  operators: readonly LinkOperator[],
  onTokens: (tokens: readonly string[]) => void,
): void {
  const titles = operators.map(({ urls }) => hostsOf(urls).join(', '));
  const inputs = titles.map((title) =>
    element('input', {
      type: 'password',
      autocomplete: 'off',
      spellcheck: 'false',
      'aria-label': `Token of ${title}`,
    }),
  );
  const form = element(
    'form',
    { class: 'login' },
    element('h1', {}, `Prices on which ${operators.length} operators agree`),
    element(
      'p',
      {},
      'Each operator gives its own access token, and this page sends it to that operator only.',
    ),
    ...titles.flatMap((title, i) => [
      element('label', {}, title, element('div', { class: 'field' }, inputs[i]!)),
    ]),
    element('div', { class: 'field' }, element('button', { type: 'submit' }, 'Open')),
    element(
      'p',
      { class: 'soft' },
      'An operator without a token does not count. The tokens stay in this tab: closing the tab forgets them.',
    ),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    onTokens(inputs.map(({ value }) => value.trim()));
  });
  root.replaceChildren(form);
  inputs[0]?.focus();
}

function showProblem(root: HTMLElement, text: string): void {
  root.replaceChildren(
    element(
      'div',
      { class: 'login' },
      element('h1', {}, 'The operators cannot be compared'),
      element('p', { class: 'problem', role: 'alert' }, text),
    ),
  );
}

/** Makes clients that only stream: the bundle of the page then has no other part of the client. */
function streamClients(options: QuorumClientOptions): readonly OperatorClient[] {
  return clientsOf(options, (one) => new StreamClient(one, BROWSER));
}

/** The page with the prices. */
class QuorumPage {
  readonly #stream: QuorumStream;
  readonly #board: QuorumBoard;
  readonly #operators: readonly OperatorClient[];
  readonly #threshold: number;
  readonly #list: OperatorList;
  readonly #table: QuorumTable;
  readonly #note = element('p', { class: 'soft', role: 'status' });
  readonly #symbols = new Map<string, Set<string>>();
  #shown: readonly string[] = [];

  /** @throws TypeError or RangeError when the operators exclude each other */
  constructor(root: HTMLElement, quorum: LinkQuorum) {
    const options = { quorum, worker: byId<HTMLLinkElement>('worker').href };
    const rules = rulesOf(options);
    const { operators } = quorum;
    this.#threshold = rules.threshold;
    this.#operators = streamClients(options);
    this.#board = new QuorumBoard(
      operators.map(({ name }) => name),
      rules.maxAgeMs,
    );
    this.#list = new OperatorList(operators);
    this.#table = new QuorumTable(operators.length);
    const blocked = new Set<string>();
    addEventListener('securitypolicyviolation', ({ blockedURI }) => {
      for (const { name, urls } of operators) {
        for (const url of urls) if (isAt(blockedURI, url)) blocked.add(url);
        if (urls.every((url) => blocked.has(url))) this.#board.block(name);
      }
    });
    this.#stream = new QuorumStream(
      [],
      { channel: CHANNEL },
      {
        operators: this.#operators,
        rules,
        platform: BROWSER,
        onNoQuorum: (event) => this.#board.take(event),
        onClosed: () => undefined,
      },
    );
    root.replaceChildren(
      element(
        'div',
        { class: 'quorum-head' },
        element('h1', {}, `Prices of ${operators.length} operators`),
        element('p', { class: 'soft' }, rulesText(operators.length, rules)),
        this.#list.root,
      ),
      this.#table.root,
      this.#note,
    );
    for (const hidden of document.querySelectorAll<HTMLElement>('.search, .bar .sign-out'))
      hidden.hidden = false;
    byId('search').addEventListener('input', () => this.#want());
  }

  run(): void {
    void this.#read();
    for (const operator of this.#operators) void this.#ask(operator);
    setInterval(() => this.#draw(), DRAW_MS);
  }

  async #read(): Promise<void> {
    try {
      for await (const tick of this.#stream) this.#board.take(tick);
    } catch (error) {
      this.#note.textContent = `No further prices come: ${reasonText(error as Error)}.`;
    }
  }

  /** Requests an operator's symbols until the operator answers. */
  async #ask({ name, client }: OperatorClient): Promise<void> {
    for (;;) {
      try {
        for (const symbol of await client.assets()) {
          const owners = this.#symbols.get(symbol) ?? new Set();
          this.#symbols.set(symbol, owners.add(name));
        }
        this.#board.noteAnswer(name, undefined);
        return this.#want();
      } catch (error) {
        const verdict = error instanceof RefusedError ? 'refused' : 'down';
        this.#board.noteAnswer(name, { verdict, reason: reasonText(error as Error) });
        await pause(ASK_AGAIN_MS);
      }
    }
  }

  /** Streams the symbols that enough operators have and that the search finds. */
  #want(): void {
    const text = byId<HTMLInputElement>('search').value.trim().toUpperCase();
    const found = [...this.#symbols]
      .filter(([symbol, owners]) => owners.size >= this.#threshold && symbol.toUpperCase().includes(text))
      .map(([symbol]) => symbol)
      .sort();
    const wanted = found.slice(0, ROWS_MAX);
    const removed = this.#shown.filter((symbol) => !wanted.includes(symbol));
    const added = wanted.filter((symbol) => !this.#shown.includes(symbol));
    if (removed.length > 0) this.#stream.remove(removed);
    if (added.length > 0) this.#stream.add(added);
    for (const symbol of removed) this.#board.forget(symbol);
    this.#shown = wanted;
    const more = found.length - wanted.length;
    this.#note.textContent = more > 0 ? `${more} further assets: search for them.` : '';
    this.#draw();
  }

  #draw(): void {
    for (const { name, equivocation } of this.#operators)
      if (equivocation !== undefined) this.#board.accuse(name, equivocation);
    this.#list.draw(this.#board.operators());
    this.#table.draw(this.#shown.map((symbol) => this.#board.row(symbol)));
  }
}

/** Returns whether an address that the policy blocked belongs to a service. */
function isAt(blocked: string, url: string): boolean {
  const { host } = new URL(url);
  return URL.canParse(blocked) && new URL(blocked).host === host;
}
