import { REST_PATHS } from '../../wire/paths.js';
import type { Check } from '../checks.js';
import type { TaxonomyAsset } from '../taxonomy.js';
import type { AggregateReport } from '../verify_signed_price.js';
import { readAlgorithms } from './answers.js';
import { copyButton } from './copy_button.js';
import { contractCall, verifyCommand } from './copy_texts.js';
import { element, facts } from './elements.js';
import type { PacedRest } from './paced_rest.js';
import { exactPrice, shortHex, timeText } from './price_text.js';
import { type ProofContent, readProof, sortChecks } from './proof.js';
import type { Verifier } from './verifier.js';

/** How often the proof is read anew. */
const REFRESH_MS = 5_000;

export interface ProofPanelOptions {
  readonly root: HTMLElement;
  readonly api: PacedRest;
  readonly verifier: Verifier;
  /** The pinned key of the asset's type. */
  readonly signerOf: (asset: TaxonomyAsset) => string | undefined;
  readonly oracleId: () => string | undefined;
  /** The newest verified payload that holds the asset, as hex. */
  readonly payloadOf: (asset: TaxonomyAsset) => string | undefined;
}

/** The newest signed aggregate of the chosen asset, with everything that can be checked of it. */
export class ProofPanel {
  readonly #options: ProofPanelOptions;
  #asset: TaxonomyAsset | undefined;
  #timer = 0;
  #algorithms: Promise<ReadonlyMap<string, string>> | undefined;

  constructor(options: ProofPanelOptions) {
    this.#options = options;
  }

  show(asset: TaxonomyAsset): void {
    this.#asset = asset;
    this.#options.root.replaceChildren(element('p', { class: 'soft' }, 'The proof is being read…'));
    void this.#read();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#asset = undefined;
  }

  async #read(): Promise<void> {
    clearTimeout(this.#timer);
    const asset = this.#asset;
    if (asset === undefined) return;
    // What the reader is marking would be lost.
    const isMarking = !getSelection()?.isCollapsed && this.#options.root.contains(getSelection()!.anchorNode);
    if (!document.hidden && !isMarking) {
      try {
        await this.#readNow(asset);
      } catch (error) {
        if (this.#asset === asset) this.#fail((error as Error).message);
      }
    }
    if (this.#asset === asset) this.#timer = setTimeout(() => void this.#read(), REFRESH_MS);
  }

  async #readNow(asset: TaxonomyAsset): Promise<void> {
    const { api, verifier, signerOf, oracleId } = this.#options;
    const answer = await api.query(REST_PATHS.latest, {
      assets: asset.symbol,
      signature_type: asset.signatureType,
    });
    this.#algorithms ??= api.get(REST_PATHS.algorithms).then(readAlgorithms);
    const algorithms = await this.#algorithms;
    if (this.#asset !== asset) return;
    const content = readProof(answer, asset.symbol);
    if (content === undefined) {
      this.#fail('There is no live price to prove.');
      return;
    }
    const signer = signerOf(asset);
    if (signer === undefined) {
      this.#fail('No key is pinned for this type of signature.');
      return;
    }
    const algorithmText = algorithms.get(content.algorithm);
    const request = {
      kind: 'aggregate',
      text: answer,
      signers: [signer],
      oracleId: oracleId(),
      algorithmText,
    } as const;
    const report = await verifier.verify<'aggregate'>(request);
    if (this.#asset !== asset) return;
    const copy = this.#copyButtons(asset, verifyCommand({ answer, asset, signer, oracleId: oracleId() }));
    this.#draw(content, report, algorithmText, copy);
  }

  #fail(reason: string): void {
    this.#options.root.replaceChildren(element('p', { class: 'problem' }, reason));
  }

  #draw(
    content: ProofContent,
    report: AggregateReport<readonly string[]>,
    algorithmText: string | undefined,
    copy: HTMLElement,
  ): void {
    const { root } = this.#options;
    const { byPublisher, others } = sortChecks(report.checks);
    const isVerified = report.verdict === 'verified';
    const opened = [...root.querySelectorAll<HTMLDetailsElement>('details')].map(({ open }) => open);
    const failed = report.checks.filter(({ status }) => status === 'failed');
    const verdict = isVerified
      ? `Verified here: ${report.checks.filter(({ status }) => status === 'ok').length} checks`
      : `Failed: ${failed.map(({ name }) => name).join(', ')}`;
    root.replaceChildren(
      element(
        'div',
        { class: 'proof-head' },
        element('h2', {}, 'Proof'),
        verdictLine(isVerified, verdict),
        copy,
      ),
      facts([
        ['Signed price', isVerified ? element('b', { class: 'number' }, exactPrice(content.price)) : '—'],
        ['Signed at', `${timeText(content.signedAtNs)} UTC`],
        ['Signer', hexText(content.signer)],
        ['Merkle root', hexText(content.merkleRoot)],
        ['Algorithm', algorithmDetails(content.algorithm, algorithmText)],
      ]),
      element('h3', {}, `Publishers (${content.publishers.length})`),
      publisherTable(content, byPublisher),
      element('h3', {}, 'Checks of the aggregate'),
      checkList(others),
    );
    root.querySelectorAll('details').forEach((details, i) => {
      details.open = opened[i] ?? false;
    });
  }

  #copyButtons(asset: TaxonomyAsset, command: string): HTMLElement {
    const contract = () => {
      const payload = this.#options.payloadOf(asset);
      return payload && contractCall(payload, asset.id);
    };
    return element(
      'div',
      { class: 'copies' },
      copyButton('Copy for tickseal verify', () => command),
      copyButton('Copy for a contract', contract, 'No verified payload yet'),
    );
  }
}

function verdictLine(isVerified: boolean, text: string): HTMLElement {
  return element('p', { class: 'verdict', 'data-status': isVerified ? 'ok' : 'failed' }, text);
}

function algorithmDetails(algorithm: string, text: string | undefined): HTMLElement | string {
  if (text === undefined) return algorithm;
  return element('details', {}, element('summary', {}, algorithm), element('pre', {}, text));
}

function publisherTable(
  { publishers }: ProofContent,
  checks: ReadonlyMap<number, readonly Check[]>,
): HTMLElement {
  const rows = publishers.map(({ key, price, timestampNs }, i) => {
    const own = checks.get(i) ?? [];
    const bad = own.filter(({ status }) => status !== 'ok');
    const text = bad.length === 0 ? 'ok' : bad.map(({ name, reason }) => `${name}: ${reason}`).join('; ');
    return element(
      'tr',
      {},
      element('td', {}, hexText(key)),
      element('td', { class: 'number' }, bad.length === 0 ? exactPrice(price) : '—'),
      timeCell(timestampNs),
      element(
        'td',
        {
          class: 'verdict',
          'data-status': bad.length === 0 ? 'ok' : 'failed',
          title: own.map(({ name }) => name).join('\n'),
        },
        text,
      ),
    );
  });
  const heads = [
    element('th', {}, 'Key'),
    ...['Price', 'Signed (UTC)'].map((name) => element('th', { class: 'number' }, name)),
    element('th', {}, 'Check'),
  ];
  return element(
    'div',
    { class: 'wide' },
    element('table', {}, element('thead', {}, element('tr', {}, ...heads)), element('tbody', {}, ...rows)),
  );
}

/** The time of the day; a narrow screen leaves out what is below milliseconds. */
function timeCell(timestampNs: bigint): HTMLElement {
  const text = timeText(timestampNs).slice('YYYY-MM-DD '.length);
  const fine = element('span', { class: 'fine' }, text.slice('HH:MM:SS.mmm'.length));
  return element('td', { class: 'number' }, text.slice(0, 'HH:MM:SS.mmm'.length), fine);
}

function checkList(checks: readonly Check[]): HTMLElement {
  return element(
    'ul',
    { class: 'checks' },
    ...checks.map(({ name, status, reason }) =>
      element(
        'li',
        { class: 'verdict', 'data-status': status },
        reason === undefined ? name : `${name}: ${reason}`,
      ),
    ),
  );
}

function hexText(text: string): HTMLElement {
  return element(
    'code',
    { title: text },
    element('span', { class: 'whole' }, text),
    element('span', { class: 'short' }, shortHex(text)),
  );
}
