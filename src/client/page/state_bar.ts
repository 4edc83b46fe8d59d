import { type ConnectionFacts, clockRemark, connectionState, gapText } from './connection_state.js';
import { byId, element } from './elements.js';
import type { Notice } from './frame_fault.js';
import type { NodeLog } from './node_log.js';
import { type Pin, type PinnedSigners, type PinSource, pinText } from './pins.js';
import { shortHex } from './price_text.js';

const SOURCE_TEXTS: Readonly<Record<PinSource, string>> = {
  link: 'pinned by the link',
  'first use': 'pinned on first use',
  reader: 'pinned by you',
};

const SIGNER_TEXTS: Readonly<Record<PinSource, string>> = {
  link: 'The link that opened this page named the key. Prices of any other key are not shown.',
  'first use':
    'This was the first key that this browser saw here, so the service vouched for itself. Compare it with the address that the operator publishes.',
  reader:
    'You pinned this key when the service changed to it. Compare it with the address that the operator publishes.',
};

/** The states at the top of the page: the signer, the connection, and notices that the reader must see. */
export class StateBar {
  #notice: Notice | undefined;
  #remark: Notice | undefined;
  #noticeText: string | undefined;

  showPins(pins: PinnedSigners): void {
    const [stream, evm] = [pins.get('stream'), pins.get('evm')];
    const chip = byId('signer-chip');
    chip.hidden = stream === undefined;
    if (stream === undefined) return;
    chip.querySelector('span')!.textContent = `${shortHex(pinText(stream))} ${SOURCE_TEXTS[stream.source]}`;
    chip.dataset['tone'] = stream.source === 'first use' ? 'waiting' : 'good';
    byId('signer-text').textContent = SIGNER_TEXTS[stream.source];
    const isSame = stream.key === evm?.key;
    const entries: (readonly [string, Pin | undefined])[] = [
      [isSame ? 'Streams and EVM aggregates' : 'Streams', stream],
      ['EVM aggregates', isSame ? undefined : evm],
      ['Stark aggregates', pins.get('stark')],
    ];
    byId('signer-keys').replaceChildren(
      ...entries.flatMap(([name, pin]) =>
        pin === undefined
          ? []
          : [
              element('dt', {}, name),
              element(
                'dd',
                {},
                element('code', {}, pinText(pin)),
                element('small', {}, SOURCE_TEXTS[pin.source]),
              ),
            ],
      ),
    );
  }

  showNodes({ text, isLeaderless }: NodeLog): void {
    const line = byId('nodes');
    line.hidden = text === '';
    line.dataset['tone'] = isLeaderless ? 'bad' : 'good';
    // An unchanged text is not written, because a screen reader speaks a status after each change.
    if (line.textContent !== text) line.textContent = text;
  }

  showConnection(facts: ConnectionFacts, subscribed: number, nodes: NodeLog, nowMs: number): void {
    const { tone, text } = connectionState(facts, subscribed, nowMs);
    const chip = byId('connection-chip');
    chip.hidden = false;
    chip.dataset['tone'] = tone;
    const label = chip.querySelector('span')!;
    if (label.textContent !== text) label.textContent = text;
    if (!byId('connection').matches(':popover-open')) return;
    const entries = [
      ['State', text],
      ...(facts.downReason === undefined || facts.isUp ? [] : [['Reason', facts.downReason]]),
      ['Verified frames', String(facts.verified)],
      ['Failed frames', String(facts.failed)],
      ['Gaps', facts.lastGap ? `${facts.gaps}, the last one ${gapText(facts.lastGap)}` : 'none'],
      ['Assets sent', String(subscribed)],
      ["This computer's clock", facts.lastFrameMs === undefined ? '' : clockRemark(facts.aheadMs)],
      ...nodes.facts(),
    ] as const;
    byId('connection-facts').replaceChildren(
      ...entries.flatMap(([name = '', value = '']) => [element('dt', {}, name), element('dd', {}, value)]),
    );
  }

  /** Shows a notice, or removes it. A notice hides a remark. */
  showNotice(notice: Notice | undefined): void {
    this.#notice = notice;
    this.#drawNotice();
  }

  /** Shows a remark about the place in the address, or removes it. */
  showRemark(text: string | undefined): void {
    this.#remark = text === undefined ? undefined : { tone: 'info', text };
    this.#drawNotice();
  }

  #drawNotice(): void {
    const notice = this.#notice ?? this.#remark;
    if (notice?.text === this.#noticeText) return;
    this.#noticeText = notice?.text;
    const root = byId('notice');
    root.hidden = notice === undefined;
    if (notice === undefined) return;
    root.dataset['tone'] = notice.tone;
    root.querySelector('p')!.textContent = notice.text;
    const button = root.querySelector('button')!;
    button.hidden = notice.action === undefined;
    button.textContent = notice.action?.name ?? '';
    button.onclick = () => notice.action?.run();
  }
}
