import type { CryptoJobs } from '../crypto/pool/jobs.js';
import type { ListedPublisher, SignatureType } from '../model/asset.js';
import type { AssetName } from '../model/asset_map.js';
import type { Catalogue } from '../model/catalogue.js';
import { parseHex } from '../model/hex.js';
import { msgHashOf, type PublisherPrice } from '../model/signed_price.js';
import { PUBLISHER_NOT_LISTED } from '../wire/publish_message.js';
import { SIGNATURE_TYPES, SIGNATURES } from '../wire/signatures.js';
import { parseSignature } from './signature_texts.js';
import { type ClaimedPrice, verifyHere } from './update_verifier.js';

/** An input of an asset, from a record of another node. */
export interface ForeignInput extends AssetName {
  readonly input: PublisherPrice;
}

/**
 * Verifies the signatures of inputs that another node accepted. An input is part of many aggregates, so the verifier remembers
 * the newest verified input of each publisher and asset.
 */
export class InputVerifier {
  readonly #here: CryptoJobs;
  readonly #catalogue: () => Catalogue;
  /** The signed texts of the newest verified input, by asset and publisher. */
  readonly #verified = new Map<string, string>();

  /** @param catalogue returns the current catalogue; removed publishers still count until the process ends */
  constructor(here: CryptoJobs, catalogue: () => Catalogue) {
    this.#here = here;
    this.#catalogue = catalogue;
  }

  /** @returns the reason why an input lacks a valid signature of its publisher; `undefined` when all signatures are valid */
  faultOf(inputs: readonly ForeignInput[]): string | undefined {
    for (const type of SIGNATURE_TYPES) {
      const unknown: ForeignInput[] = [];
      const updates: ClaimedPrice[] = [];
      for (const one of inputs) {
        if (one.signatureType !== type || this.#verified.get(placeOf(one)) === signedTextsOf(one)) continue;
        const fields = this.#fieldsOf(one);
        if (typeof fields === 'string') return describeFault(one, fields);
        unknown.push(one);
        updates.push(fields);
      }
      if (updates.length === 0) continue;
      const refusals = verifyHere(updates, type, this.#here);
      const at = refusals.findIndex((refusal) => refusal !== undefined);
      if (at !== -1) return describeFault(unknown[at]!, refusals[at]!);
      for (const one of unknown) this.#verified.set(placeOf(one), signedTextsOf(one));
    }
    return undefined;
  }

  #fieldsOf({ symbol, signatureType, input }: ForeignInput): ClaimedPrice | string {
    const { price, timestampNs, wire } = input;
    const key = parseHex(wire.publisherKey, SIGNATURES[signatureType].keyBytes);
    const publisher = key && this.#publisherOf(signatureType, key);
    if (publisher === undefined) return PUBLISHER_NOT_LISTED;
    if (!publisher.assets.has('*') && !publisher.assets.has(symbol))
      return 'publisher_key is not allowed for this asset';
    if (!SIGNATURES[signatureType].coversOracleId && wire.externalAssetId !== symbol)
      return 'external_asset_id names another asset';
    const signature = parseSignature(wire, signatureType);
    if (typeof signature === 'string') return signature;
    return {
      raw: wire,
      asset: { symbol },
      publisher,
      price,
      timestampNs,
      msgHash: msgHashOf(input),
      signature: signature.rs,
      recovery: signature.recovery,
      verified: false,
    };
  }

  #publisherOf(type: SignatureType, key: Buffer): ListedPublisher | undefined {
    const catalogue = this.#catalogue();
    return (
      catalogue.publisherByKey(type, key) ??
      catalogue.publishers.find((one) => one.signatureType === type && one.key.equals(key))
    );
  }
}

function placeOf({ symbol, signatureType, input }: ForeignInput): string {
  return `${signatureType} ${symbol} ${input.wire.publisherKey}`;
}

function signedTextsOf({ input: { price, timestampNs, wire } }: ForeignInput): string {
  const { externalAssetId, r, s, v, msgHash } = wire;
  return [price, wire.price, timestampNs, externalAssetId, r, s, v, msgHash].join(' ');
}

function describeFault({ symbol, input }: ForeignInput, reason: string): string {
  return `has an input of ${symbol} by ${input.wire.publisherKey} that is not authentic: ${reason}`;
}
