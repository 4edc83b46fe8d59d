import { NS_PER_MS } from '../../model/time.js';
import { REST_PATHS } from '../../wire/paths.js';
import { RefusedError } from '../connect/errors.js';
import type { StreamClient } from '../prices/stream_client.js';
import type { TaxonomyAsset } from '../prices/taxonomy.js';
import { readAlgorithms } from './answers.js';
import { ageMs } from './board.js';
import { copyButton } from './copy_button.js';
import { contractCall, verifyCommand } from './copy_texts.js';
import { element, facts } from './elements.js';
import { oneAtATime } from './one_at_a_time.js';
import { reasonText } from './plain_reason.js';
import { ageText, clockText, exactPrice, momentText, timeText } from './price_text.js';
import type { Proof, ProofContent } from './proof.js';
import { sortChecks } from './proof_checks.js';
import { algorithmDetails, checkList, hexText, publisherTable, verdictLine } from './proof_parts.js';
import type { ProofVerifier } from './proof_verifier.js';
import type { ProvenAggregate } from './seal_card.js';

/** The interval at which the proof is read again. */
const REFRESH_MS = 5_000;
/** The age above which a signed aggregate looks stale. */
const OLD_MS = 300_000;
/** The statuses with which the service answers that it has no price at an instant. */
const GONE: readonly number[] = [404, 410];

export interface ProofPanelOptions {
  readonly root: HTMLElement;
  readonly client: StreamClient;
  readonly verifier: ProofVerifier;
  /** Returns the pinned key of the asset's type. */
  readonly signerOf: (asset: TaxonomyAsset) => string | undefined;
  readonly oracleId: () => string | undefined;
  /** Returns the service's time in UNIX ms. */
  readonly nowMs: () => number;
  /** Returns the newest verified payload that holds the asset, as hex. */
  readonly payloadOf: (asset: TaxonomyAsset) => string | undefined;
  /** Called when {@link ProofPanel.proven} or {@link ProofPanel.problem} has changed. */
  readonly onRead: () => void;
}

/** The newest signed aggregate of the chosen asset, with the results of all its checks. */
export class ProofPanel {
  readonly #options: ProofPanelOptions;
  readonly #read = oneAtATime(() => this.#readOnce());
  #asset: TaxonomyAsset | undefined;
  #atNs: bigint | undefined;
  #problem: string | undefined;
  #isGone = false;
  #timer = 0;
  #algorithms: ReadonlyMap<string, string> | undefined;
  #proven: ProvenAggregate | undefined;
  #age: { readonly element: HTMLElement; readonly signedAtNs: bigint } | undefined;

  constructor(options: ProofPanelOptions) {
    this.#options = options;
  }

  /** Returns the newest aggregate that was read, with its proof. */
  get proven(): ProvenAggregate | undefined {
    return this.#proven;
  }

  /** Returns the reason why there is no proof. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Shows the proof of an asset, or nothing. @param atNs the instant that is shown; `undefined` for the current time */
  show(asset: TaxonomyAsset | undefined, atNs?: bigint): void {
    this.#asset = asset;
    this.#atNs = atNs;
    this.#proven = undefined;
    this.#problem = undefined;
    this.#isGone = false;
    this.#age = undefined;
    delete this.#options.root.dataset['isKept'];
    this.#options.root.replaceChildren(element('p', { class: 'soft' }, 'The proof is being read…'));
    void this.#read();
  }

  /**
   * True while text is selected or a control has the focus. The panel is not drawn then, because drawing would remove the
   * selection and the focus.
   */
  get #isInUse(): boolean {
    const { root } = this.#options;
    const selection = getSelection();
    return (
      root.contains(document.activeElement) ||
      (selection?.isCollapsed === false && root.contains(selection.anchorNode))
    );
  }

  async #readOnce(): Promise<void> {
    clearTimeout(this.#timer);
    const [asset, atNs] = [this.#asset, this.#atNs];
    if (asset === undefined) return;
    this.#drawAge();
    if (!document.hidden && !this.#isInUse) {
      try {
        await this.#readNow(asset, atNs);
      } catch (error) {
        if (this.#isShown(asset, atNs))
          this.#isGone = error instanceof RefusedError && GONE.includes(error.status);
        if (this.#isShown(asset, atNs) && !this.#isInUse)
          this.#keepOrFail(problemText(error as Error, asset, atNs));
      }
    }
    // The past does not change, and deleted prices do not return.
    const isDone = atNs !== undefined && (this.#proven !== undefined || this.#isGone);
    if (this.#isShown(asset, atNs) && !isDone) this.#timer = setTimeout(() => void this.#read(), REFRESH_MS);
  }

  #isShown(asset: TaxonomyAsset, atNs: bigint | undefined): boolean {
    return this.#asset === asset && this.#atNs === atNs;
  }

  async #readNow(asset: TaxonomyAsset, atNs: bigint | undefined): Promise<void> {
    const { client, verifier, signerOf, oracleId } = this.#options;
    const { symbol, signatureType } = asset;
    const query = new URLSearchParams({ assets: symbol, signature_type: signatureType });
    if (atNs !== undefined) query.set('timestamp', String(atNs));
    const path = atNs === undefined ? REST_PATHS.latest : REST_PATHS.at;
    const answer = await client.get(`${path}?${query}`);
    if (!this.#isShown(asset, atNs)) return;
    this.#algorithms ??= readAlgorithms(await client.get(REST_PATHS.algorithms));
    const signer = signerOf(asset);
    if (signer === undefined) {
      this.#fail('No key is pinned for this type of signature.');
      return;
    }
    const request = {
      answer,
      symbol,
      signers: [signer],
      oracleId: oracleId(),
      algorithms: this.#algorithms,
      atNs,
    };
    const proof = await verifier.verify(request);
    if (!this.#isShown(asset, atNs)) return;
    this.#proven = proof && { request, proof };
    this.#problem = undefined;
    this.#options.onRead();
    if (this.#isInUse) return;
    if (proof?.content === undefined) {
      this.#fail(proof?.report.checks[0]?.reason ?? 'There is no live price to prove.');
      return;
    }
    const copy = this.#copyButtons(asset, verifyCommand({ answer, asset, signer, oracleId: oracleId() }));
    this.#draw(proof.content, proof.report, copy);
  }

  #fail(reason: string): void {
    this.#problem = reason;
    this.#age = undefined;
    this.#options.onRead();
    delete this.#options.root.dataset['isKept'];
    this.#options.root.replaceChildren(element('p', { class: 'problem' }, reason));
  }

  /** Shows the reason for the missing proof above the last proof. Without a last proof, shows only the reason. */
  #keepOrFail(reason: string): void {
    const { root } = this.#options;
    if (this.#age === undefined || this.#proven === undefined) {
      this.#fail(reason);
      return;
    }
    root.dataset['isKept'] = '';
    const text = `${reason} This is the last proof, as of ${clockText(Number(this.#age.signedAtNs / NS_PER_MS))}.`;
    const line = root.querySelector('.problem') ?? element('p', { class: 'problem', role: 'status' });
    // Skips an unchanged text, because a screen reader announces each write.
    if (line.textContent !== text) line.textContent = text;
    if (!line.isConnected) root.prepend(line);
  }

  /** Marks an old proof as old, even if no newer proof arrives. */
  #drawAge(): void {
    if (this.#age === undefined) return;
    const { element, signedAtNs } = this.#age;
    const oldMs = ageMs(signedAtNs, this.#options.nowMs());
    element.textContent = `${ageText(oldMs)} ago`;
    element.dataset['tone'] = this.#atNs === undefined && oldMs > OLD_MS ? 'stale' : '';
  }

  #draw(content: ProofContent, report: Proof['report'], copy: HTMLElement): void {
    const { root } = this.#options;
    const { byPublisher, others } = sortChecks(report.checks);
    const isVerified = report.verdict === 'verified';
    const opened = [...root.querySelectorAll<HTMLDetailsElement>('details')].map(({ open }) => open);
    const failed = report.checks.filter(({ status }) => status === 'failed');
    const verdict = isVerified
      ? `Verified here: ${report.checks.filter(({ status }) => status === 'ok').length} checks`
      : `Failed: ${failed.map(({ name }) => name).join(', ')}`;
    const age = element('small', {});
    this.#age = { element: age, signedAtNs: content.signedAtNs };
    delete root.dataset['isKept'];
    this.#drawAge();
    root.replaceChildren(
      element(
        'div',
        { class: 'proof-head' },
        element('h2', {}, 'Proof'),
        verdictLine(isVerified, verdict),
        copy,
      ),
      facts([
        ['Signed aggregate', isVerified ? element('b', { class: 'number' }, exactPrice(content.price)) : '—'],
        ['Signed at', element('span', {}, `${timeText(content.signedAtNs)} UTC, `, age)],
        ['Signer', hexText(content.signer)],
        ['Merkle root', hexText(content.merkleRoot)],
        ['Algorithm', algorithmDetails(content)],
      ]),
      ...publishersOf(content, byPublisher),
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
      // The service does not sign payloads for contracts with past prices.
      ...(this.#atNs === undefined
        ? [copyButton('Copy for a contract', contract, 'No verified payload yet')]
        : []),
    );
  }
}

function publishersOf(content: ProofContent, checks: Parameters<typeof publisherTable>[1]): HTMLElement[] {
  if (content.publishers.length === 0)
    return [
      element('h3', {}, 'Publishers'),
      element(
        'p',
        { class: 'soft' },
        'inputs: absent. Their prices are no longer kept. The Merkle root, which the service signed, covers them.',
      ),
    ];
  return [element('h3', {}, `Publishers (${content.publishers.length})`), publisherTable(content, checks)];
}

/** Returns the reason why a proof is missing, in plain words. */
function problemText(error: Error, { symbol }: TaxonomyAsset, atNs: bigint | undefined): string {
  if (atNs === undefined || !(error instanceof RefusedError))
    return `The proof cannot be read: ${reasonText(error)}.`;
  const at = momentText(atNs);
  if (error.status === 404) return `${symbol} had no price at ${at}.`;
  if (error.status === 400 && atNs > BigInt(Date.now()) * NS_PER_MS) return `${at} lies in the future.`;
  if (error.status !== 410) return `The proof cannot be read: ${reasonText(error)}.`;
  const from = error.keptFromNs === undefined ? '' : `: they begin at ${momentText(error.keptFromNs)}`;
  return `${at} is before the signed prices that the service keeps${from}.`;
}
