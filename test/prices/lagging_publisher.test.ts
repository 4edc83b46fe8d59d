import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import type { SignatureType } from '../../src/model/asset.js';
import { NS_PER_MS, NS_PER_SECOND } from '../../src/model/time.js';
import type { PublisherSession } from '../../src/prices/publisher_session.js';
import { sampleAsset } from '../model/sample.js';
import { AggregatorHarness, atOnce, messageOf, newSession, receive, testPublisher } from './harness.js';

// The publisher signs its current price twice a second with the current time, and every move with the time of its source.

const RESIGN_MS = 500;
const MOVE_MS = 103;
const DURATION_MS = 8_000;
/** The time at which the service is stopped and started on the same folder. */
const RESTART_MS = 4_000;
const KEPT_MESSAGES = 15;

/** A publisher, and a stranger with another token who sends all messages of the publisher again. */
class Run {
  published = 0;
  replays = 0;
  /** The refusals of the publisher's updates. */
  readonly refusals: string[] = [];
  readonly replaysAccepted: string[] = [];
  readonly #sent: string[] = [];
  readonly #asset;
  readonly #publisher;
  readonly #own;
  readonly #foreign;

  private constructor(
    private readonly t: Test,
    type: SignatureType,
    private readonly dir: string,
    private harness: AggregatorHarness,
  ) {
    this.#asset = assetOf(type);
    this.#publisher = testPublisher(0, type);
    this.#own = newSession(type, 'publisher');
    this.#foreign = newSession(type, 'stranger');
  }

  static async start(t: Test, type: SignatureType): Promise<Run> {
    const dir = mkdtempSync(join(tmpdir(), 'tickseal-test-'));
    t.teardown(() => rmSync(dir, { recursive: true, force: true }));
    return new Run(t, type, dir, await startOn(t, type, dir));
  }

  get nowNs(): bigint {
    return this.harness.clock.timeNs;
  }

  advanceMs(): void {
    this.harness.clock.advance(NS_PER_MS);
  }

  publish(price: bigint, timestampNs: bigint): void {
    const { symbol, index } = this.#asset;
    const text = messageOf(this.#publisher, { [symbol]: price }, timestampNs);
    this.published++;
    const { rejected } = atOnce(receive(this.harness.aggregator, this.#own, text));
    if (rejected.size > 0) this.refusals.push(`${price}: ${rejected.get(symbol)}`);
    if (this.harness.table.price(index) !== price) this.refusals.push(`${price} is not the price`);
    this.#sent.push(text);
    if (this.#sent.length > KEPT_MESSAGES) this.#sent.shift();
    this.#replayAll();
  }

  async restart(): Promise<void> {
    const { clock } = this.harness;
    await this.harness.stop();
    this.harness = await startOn(this.t, this.#asset.signatureType, this.dir);
    this.harness.clock.timeNs = clock.timeNs;
    this.harness.restore();
    this.#replayAll();
  }

  /**
   * Replays all messages unchanged, from the publisher and from the stranger. The stranger also replays them with the last
   * nanosecond for which the signature is valid.
   */
  #replayAll(): void {
    const price = this.harness.table.price(this.#asset.index);
    for (const text of this.#sent) {
      const lastOfSecond = text.replace(/"timestamp":(\d+)/, (_, digits) => {
        const second = BigInt(digits) / NS_PER_SECOND;
        return `"timestamp":${(second + 1n) * NS_PER_SECOND - 1n}`;
      });
      this.#expectRefused(text, this.#own);
      this.#expectRefused(text, this.#foreign);
      this.#expectRefused(lastOfSecond, this.#foreign);
    }
    this.t.equal(this.harness.table.price(this.#asset.index), price);
  }

  #expectRefused(text: string, session: PublisherSession): void {
    this.replays++;
    const { accepted } = atOnce(receive(this.harness.aggregator, session, text));
    if (accepted.length > 0) this.replaysAccepted.push(text);
  }
}

for (const type of ['evm', 'stark'] as const)
  for (const lagMs of [0, 50, 200, 1_000])
    test(`all moves of a source ${lagMs} ms behind count, and no replay does, ${type}`, async (t) => {
      const run = await Run.start(t, type);
      let price = 1_000n;
      for (let ms = 0; ms < DURATION_MS; ms++) {
        if (ms === RESTART_MS) await run.restart();
        if (ms % RESIGN_MS === 0) run.publish(price, run.nowNs);
        if (ms % MOVE_MS === 0) run.publish(++price, run.nowNs - BigInt(lagMs) * NS_PER_MS);
        run.advanceMs();
      }
      t.equal(run.published, Math.ceil(DURATION_MS / MOVE_MS) + DURATION_MS / RESIGN_MS);
      t.same(run.refusals, []);
      t.same(run.replaysAccepted, []);
      t.ok(run.replays > 1_000, `${run.replays} replays`);
    });

function assetOf(type: SignatureType) {
  return sampleAsset({ signatureType: type, clockPeriodNs: 3_600n * NS_PER_SECOND, delta: 10n ** 18n });
}

function startOn(t: Test, type: SignatureType, dir: string): Promise<AggregatorHarness> {
  return AggregatorHarness.start(t, { assets: [assetOf(type)], publishers: [testPublisher(0, type)], dir });
}
