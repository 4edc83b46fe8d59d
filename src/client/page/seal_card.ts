import { attributeTexts } from '../../wire/attribute_facts.js';
import type { Check } from '../verify/checks.js';
import { type PayloadReport, verifyPayload } from '../verify/verify_payload.js';
import { element, facts } from './elements.js';
import { type ForgedPrice, type Forgery, forgeAnswer, forgeFrame } from './forgery.js';
import type { LogView } from './page_log.js';
import { type Pin, type PinSource, pinText } from './pins.js';
import { exactPrice, timeText } from './price_text.js';
import type { Proof, ProofRequest } from './proof.js';
import { sortChecks } from './proof_checks.js';
import { algorithmDetails, checkList, hexText, publisherTable } from './proof_parts.js';
import { PROOF_STEPS, type ProofStep, stepOf } from './proof_steps.js';
import { saveParts } from './save_button.js';

/** An aggregate that was verified, with the request to the verifier. */
export interface ProvenAggregate {
  readonly request: ProofRequest;
  readonly proof: Proof;
}

/** The facts that the card explains. The facts do not change while the card is open. */
export interface SealFacts {
  readonly symbol: string;
  /** The text beside the seal. */
  readonly sealText: string;
  readonly isVerified: boolean;
  /** The newest aggregate; `undefined` before it was read. */
  readonly proven: ProvenAggregate | undefined;
  /** The pinned key of aggregates. */
  readonly pin: Pin | undefined;
  /** The newest verified frame with the asset, and the pinned key of frames; `undefined` if the page shows a past time. */
  readonly frame: { readonly hex: string; readonly id: number; readonly pin: Pin } | undefined;
  /** The state of a price in the public log; `undefined` before it is known. */
  readonly log: LogView | undefined;
  /** Verifies an aggregate as the page does. */
  readonly verify: (request: ProofRequest) => Promise<Proof | undefined>;
}

/** The received text of which a copy is forged. */
type Target = 'frame' | ForgedPrice;

const TARGET_TEXTS: Readonly<Record<Target, string>> = {
  frame: 'the streamed frame',
  publisher: "a publisher's price",
  aggregate: 'the aggregated price',
};
const SOURCE_TEXTS: Readonly<Record<PinSource, string>> = {
  link: 'the key in your link',
  'first use': 'the first key that this browser saw here',
  reader: 'the key that you pinned',
};
/** The characters around a changed digit that the card shows. */
const AROUND = 14;

/** Draws the explanation of the seal into its card. */
export function drawSealCard(root: HTMLElement, about: SealFacts): void {
  const { symbol, sealText, proven, frame } = about;
  const report = frame && verifyPayload(frame.hex, { signers: [frame.pin.key] });
  const body = element('div', { class: 'steps-body' });
  root.replaceChildren(
    element('h2', {}, `${symbol}: ${sealText}`),
    statement(about, report),
    ...attributesPart(about, report),
    body,
  );
  if (proven?.proof.content === undefined) {
    body.append(element('p', { role: 'status' }, 'The proof of the aggregate is not here yet.'));
    return;
  }
  const steps = element('ol', { class: 'steps' });
  drawSteps(steps, about, proven.proof, report?.checks);
  const log = element('section', { class: 'log', 'aria-label': 'The public log' });
  body.append(steps, log, quorumPart(), forgeForm(about, steps, report?.checks));
  drawLogSteps(log, about.log);
}

/** Draws the steps by which a price was added to the public log. */
export function drawLogSteps(root: HTMLElement, log: LogView | undefined): void {
  const wasOpen = [...root.querySelectorAll('details')].map(({ open }) => open);
  const isFault = log?.kind === 'failed' || log?.kind === 'missing';
  const steps = (log?.steps ?? []).map(({ title, value, facts: entries }, i) => {
    const summary = element('summary', {}, element('b', {}, title), ' ', element('span', {}, value));
    const rows = entries.map(([name, text]) => [name, element('code', {}, text)] as const);
    const details = element('details', {}, summary, facts(rows));
    details.open = wasOpen[i] ?? false;
    return element('li', {}, details);
  });
  root.replaceChildren(
    element('h3', {}, 'Public log'),
    element('p', isFault ? { class: 'fault' } : {}, log?.statement ?? 'The log is being asked…'),
    ...(steps.length === 0 ? [] : [element('ol', { class: 'steps' }, ...steps)]),
    ...(log?.saved === undefined ? [] : saveParts(log.saved)),
  );
}

/** Explains why the seal on this page has no ring for a quorum of operators. */
function quorumPart(): HTMLElement {
  return element(
    'section',
    { class: 'rings', 'aria-label': 'The quorum' },
    element('h3', {}, 'Quorum'),
    element(
      'p',
      {},
      'The shield is the signature of one service, and its ring is the public log of the same service. The ring of a quorum does not apply here: no second operator was asked for this price. A link with #quorum= opens the page on which several operators must agree.',
    ),
  );
}

/** Explains in one sentence why the page trusts the price. */
function statement({ isVerified, proven, frame, pin }: SealFacts, report: PayloadReport | undefined) {
  const signer = report?.signer ?? proven?.proof.report.signer;
  const key = frame?.pin ?? pin;
  if (!isVerified || signer === undefined || key === undefined)
    return element(
      'p',
      {},
      'The page shows a price only after its own check. The check did not pass, or is too old.',
    );
  const advice =
    key.source === 'first use' ? ' Compare it with the address that the operator publishes.' : '';
  return element(
    'p',
    {},
    'Your browser recovered this signer from the bytes that it received: ',
    hexText(signer),
    `. It is ${SOURCE_TEXTS[key.source]}.${advice}`,
  );
}

/** Shows the attributes that the newest frame signs with the price. */
function attributesPart({ frame }: SealFacts, report: PayloadReport | undefined): HTMLElement[] {
  const asset = report?.payload?.assets.find(({ id }) => id === frame?.id);
  if (report?.verdict !== 'verified' || asset === undefined) return [];
  return [element('p', { class: 'attributes' }, attributeTexts(asset).join(' · '))];
}

/** Draws the line from the publishers to the reader. @param frameChecks the checks of the streamed frame */
function drawSteps(
  list: HTMLElement,
  about: SealFacts,
  { content, report }: Proof,
  frameChecks: readonly Check[] | undefined,
): void {
  if (content === undefined) return;
  const { byPublisher } = sortChecks(report.checks);
  const count = content.publishers.length;
  const isVerified = report.verdict === 'verified';
  const shown: Readonly<
    Record<ProofStep, readonly [title: string, value: string, ...parts: (Node | string)[]]>
  > = {
    publishers: [
      'Publishers',
      count === 0 ? 'inputs: absent' : `${count} ${count === 1 ? 'publisher' : 'publishers'} signed`,
      ...(count === 0 ? [] : [publisherTable(content, byPublisher)]),
    ],
    price: [
      content.algorithm[0]!.toUpperCase() + content.algorithm.slice(1),
      isVerified ? exactPrice(content.price) : '—',
      facts([['Algorithm', algorithmDetails(content)]]),
    ],
    root: ['Merkle root', 'covers each publisher’s hash', facts([['Root', hexText(content.merkleRoot)]])],
    signature: [
      'Signature',
      'of the service',
      facts([
        ['Signer', hexText(content.signer)],
        ['Signed at', `${timeText(content.signedAtNs)} UTC`],
      ]),
    ],
    you: ['You', passedText(report.checks, frameChecks), ...youParts(about, frameChecks)],
  };
  const wasOpen = [...list.querySelectorAll('details')].map(({ open }) => open);
  list.replaceChildren(
    ...PROOF_STEPS.map((step) => {
      const [title, value, ...parts] = shown[step];
      const own =
        step === 'you'
          ? (frameChecks ?? []).filter(({ status }) => status !== 'skipped')
          : report.checks.filter((check) => stepOf(check) === step);
      // The table has the checks of each publisher's price.
      const listed = own.filter(
        ({ name, status }) => status === 'failed' || !name.startsWith('signed_prices['),
      );
      const failed = own.filter(({ status }) => status === 'failed');
      const summary = element('summary', {}, element('b', {}, title), ' ', element('span', {}, value));
      const details = element('details', {}, summary, ...parts, checkList(listed));
      const status = failed.length > 0 ? 'failed' : 'ok';
      const faults = failed.map(({ name, reason }) => element('p', { class: 'fault' }, `${name}: ${reason}`));
      return element('li', { 'data-step': step, 'data-status': status }, details, ...faults);
    }),
  );
  list.querySelectorAll('details').forEach((details, i) => {
    details.open = wasOpen[i] ?? false;
  });
}

function passedText(checks: readonly Check[], frameChecks: readonly Check[] | undefined): string {
  const passed = (all: readonly Check[]) => all.filter(({ status }) => status === 'ok').length;
  const ofFrame = frameChecks === undefined ? '' : `, and ${passed(frameChecks)} of the frame`;
  return `${passed(checks)} checks passed here${ofFrame}`;
}

function youParts({ pin, frame }: SealFacts, frameChecks: readonly Check[] | undefined): Node[] {
  const keys = [
    ...(pin === undefined ? [] : [['Aggregates by', pin] as const]),
    ...(frame === undefined ? [] : [['Frames by', frame.pin] as const]),
  ];
  const rows = keys.map(
    ([name, { key, source }]) =>
      [name, element('span', {}, hexText(key), ` ${SOURCE_TEXTS[source]}`)] as const,
  );
  const size = frame === undefined ? [] : [['Frame', `${(frame.hex.length - 2) / 2} bytes`] as const];
  const title = frameChecks === undefined ? [] : [element('h3', {}, 'Checks of the frame')];
  return [facts([...rows, ...size]), ...title];
}

/** Makes the form that forges a copy. The forged copy goes only to the verifier. */
function forgeForm(about: SealFacts, steps: HTMLElement, frameChecks: readonly Check[] | undefined) {
  const { proven, frame } = about;
  const answer = proven?.request.answer ?? '';
  const targets = (Object.keys(TARGET_TEXTS) as Target[]).filter((target) =>
    target === 'frame' ? frame !== undefined : forgeAnswer(answer, target, 0) !== undefined,
  );
  const select = element(
    'select',
    { 'aria-label': 'The part that is forged' },
    ...targets.map((target) => element('option', { value: target }, TARGET_TEXTS[target])),
  );
  const result = element('div', { role: 'status', class: 'forged' });
  const form = element(
    'form',
    { class: 'forge' },
    element('button', { type: 'submit' }, 'Try to forge it'),
    element('label', {}, 'Change one digit of ', select),
    result,
  );
  const show = (target: Target, forgery: Forgery, checks: readonly Check[]) => {
    const failed = checks.filter(({ status }) => status === 'failed');
    result.replaceChildren(...outcome(target, forgery, failed));
    steps.querySelector('[data-status=failed]')?.scrollIntoView({ block: 'nearest' });
  };
  let turn = 0;
  const tryFrame = ({ hex, id, pin }: NonNullable<SealFacts['frame']>, ofTurn: number) => {
    const forgery = forgeFrame(hex, id, ofTurn);
    if (forgery === undefined) return;
    const { checks } = verifyPayload(forgery.text, { signers: [pinText(pin)] });
    drawSteps(steps, about, proven!.proof, checks);
    show('frame', forgery, checks);
  };
  const tryAnswer = async (price: ForgedPrice, ofTurn: number) => {
    const forgery = forgeAnswer(answer, price, ofTurn);
    if (forgery === undefined) return;
    const proof = await about.verify({ ...proven!.request, answer: forgery.text });
    // The reader may have forged another copy in the meantime.
    if (turn !== ofTurn + 1) return;
    if (proof !== undefined) drawSteps(steps, about, proof, frameChecks);
    show(price, forgery, proof?.report.checks ?? []);
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const target = select.value as Target;
    if (target === 'frame') tryFrame(frame!, turn++);
    else void tryAnswer(target, turn++);
  });
  return form;
}

function outcome(target: Target, forgery: Forgery, failed: readonly Check[]): Node[] {
  const { text, at, before } = forgery;
  const names = failed.map(({ name }) => name).join(', ');
  return [
    element('p', {}, `One digit of a copy of ${TARGET_TEXTS[target]} was changed:`),
    element(
      'pre',
      {},
      `…${text.slice(Math.max(at - AROUND, 0), at)}`,
      element('del', {}, before),
      element('ins', {}, text[at]!),
      `${text.slice(at + 1, at + 1 + AROUND)}…`,
    ),
    failed.length === 0
      ? element('p', { class: 'fault' }, 'No check has failed. Please report this to the operator.')
      : element(
          'p',
          {},
          element('b', {}, 'Refused. '),
          `What broke: ${names}. The page keeps the received bytes.`,
        ),
  ];
}
