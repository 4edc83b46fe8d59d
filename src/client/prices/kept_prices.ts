import { ALGORITHMS } from '../../wire/algorithms.js';
import { qualityOf } from '../../wire/price_quality.js';
import type { SignedLine } from '../connect/platform.js';
import type { RestService } from '../connect/rest_service.js';
import { aggregatePrice } from '../verify/aggregate_price.js';
import { parseHexInteger } from '../verify/bytes.js';
import { type Check, type Signers, signersOf } from '../verify/checks.js';
import { parseExactJson } from '../verify/exact_json.js';
import type { ClientContext } from './client_context.js';
import { AggregatePrice, keptPriceOf } from './market_data.js';

/**
 * The largest number of forms in memory; see {@link formOf}. A service usually has one form for each pair of a key and a number of
 * inputs.
 */
const FORMS_MAX = 1_000;
/** The number of lines that are verified together, and the time for which lines wait for further lines. */
const LINES_TOGETHER = 256;
const JOIN_MS_MAX = 20;

/** The results of the checks of a form's first aggregate. These results apply to all valid aggregates of the form. */
interface PassedForm {
  readonly checks: readonly Check[];
  readonly signer: string;
  readonly verdict: AggregatePrice['verdict'];
}

/**
 * Checks the aggregates of a range. If the platform verifies lines together, the client checks the first aggregate of each form alone.
 * Further aggregates follow the same rules, without a report on each check. If a line fails, the client checks this line again by
 * itself, so that the error names the failed check.
 */
export class KeptPrices {
  readonly #context: ClientContext;
  readonly #symbol: string;
  readonly #forms = new Map<string, PassedForm>();

  constructor(context: ClientContext, symbol: string) {
    this.#context = context;
    this.#symbol = symbol;
  }

  /**
   * Reads the aggregates in lines.
   * @throws UnverifiedError when a check fails, and the errors of `parts`
   */
  async *read(
    service: RestService,
    parts: AsyncIterable<readonly string[]>,
  ): AsyncGenerator<AggregatePrice, void, undefined> {
    const { steadyMs, verifyLines } = this.#context.platform;
    for await (const lines of joinedParts(parts, steadyMs)) {
      const signed = verifyLines?.(lines);
      for (const [i, line] of lines.entries()) {
        const one = signed?.[i];
        yield (one && this.#priceOfKnownForm(service, line, one)) ?? this.#verifiedAlone(service, line, one);
      }
    }
  }

  /** Returns a price whose form has passed before, if all other checks pass. */
  #priceOfKnownForm(service: RestService, line: string, one: SignedLine): AggregatePrice | undefined {
    const signers = signersOf(this.#context.trust.signers, one.signedAtNs);
    const form = this.#forms.get(formOf(one, signers));
    if (form === undefined || !isSigner(signers, one) || !isConsistent(this.#symbol, one)) return undefined;
    const { price, signedAtNs: timestampNs, inputs } = one;
    const { signer, verdict, checks } = form;
    return new AggregatePrice(
      { symbol: this.#symbol, price, timestampNs, signer, verdict, attributes: {}, url: service.url },
      service.nowMs,
      line,
      checks,
      qualityOf(inputs ?? [], timestampNs),
    );
  }

  #verifiedAlone(service: RestService, line: string, one: SignedLine | undefined): AggregatePrice {
    const price = keptPriceOf(service, this.#symbol, parseExactJson(line), this.#context.trust);
    if (one !== undefined && this.#forms.size < FORMS_MAX) {
      const { checks, signer, verdict } = price;
      const signers = signersOf(this.#context.trust.signers, one.signedAtNs);
      this.#forms.set(formOf(one, signers), { checks, signer, verdict });
    }
    return price;
  }
}

/**
 * Joins short parts, because joined parts cost less. An error of `parts` comes after the lines before it.
 * @param steadyMs the clock that limits the time for which lines wait
 */
async function* joinedParts(
  parts: AsyncIterable<readonly string[]>,
  steadyMs: () => number,
): AsyncGenerator<readonly string[], void, undefined> {
  let lines: string[] = [];
  let firstMs = 0;
  let fault: { readonly error: unknown } | undefined;
  try {
    for await (const part of parts) {
      if (lines.length === 0) firstMs = steadyMs();
      lines.push(...part);
      if (lines.length < LINES_TOGETHER && steadyMs() - firstMs < JOIN_MS_MAX) continue;
      yield lines;
      lines = [];
    }
  } catch (error) {
    fault = { error };
  }
  if (lines.length > 0) yield lines;
  if (fault !== undefined) throw fault.error;
}

function isSigner(signers: Signers, { texts }: SignedLine): boolean {
  if (signers === 'unchecked') return true;
  const key = BigInt(texts.publicKey);
  return signers.some((signer) => parseHexInteger(signer) === key);
}

/**
 * Returns the form of a line: the texts on which the list of checks depends. All aggregates with the same texts have the same checks.
 */
function formOf({ texts, inputs }: SignedLine, signers: Signers): string {
  const { field, publicKey, encodedAssetId, algorithm, version, checksum } = texts;
  const form = [signers === 'unchecked', field, publicKey, algorithm, version, checksum, inputs?.length];
  return [...form, encodedAssetId].join(' ');
}

/** Returns whether the statements of an aggregate about its inputs agree with the inputs. */
function isConsistent(symbol: string, { texts, price, timestampNs, inputs }: SignedLine): boolean {
  if (texts.symbol !== symbol) return false;
  if (inputs === undefined) return true;
  let newestNs = 0n;
  for (let i = 0; i < inputs.length; i++) {
    const { key, timestampNs: inputNs, externalAssetId } = inputs[i]!;
    if (externalAssetId !== symbol) return false;
    if (inputNs > newestNs) newestNs = inputNs;
    for (let other = 0; other < i; other++) if (inputs[other]!.key === key) return false;
  }
  // Only the service knows the weights of publishers.
  const isComputed = !ALGORITHMS[texts.algorithm].isWeighted;
  return newestNs === timestampNs && (!isComputed || aggregatePrice(texts.algorithm, inputs, {}) === price);
}
