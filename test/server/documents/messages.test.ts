import fc from 'fast-check';
import { stringify } from 'lossless-json';
import { test } from 'tap';
import { bodyOf, routesOf } from '../../../scripts/site/described_routes.js';
import type { ListedPublisher, SignatureType } from '../../../src/model/asset.js';
import { Gate } from '../../../src/prices/gate.js';
import { readPublishMessage } from '../../../src/prices/message.js';
import type { AsyncApiDocument } from '../../../src/server/documents/asyncapi.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { sampleAsset } from '../../model/sample.js';
import { valuesOf } from './schema_values.js';

// Tests that the service accepts the form of all client messages that the served AsyncAPI document allows.

const document = JSON.parse(bodyOf(routesOf('service'), '/asyncapi.json')) as AsyncApiDocument;

function messages(name: string): fc.Arbitrary<string> {
  return valuesOf(document.components.messages[name]!.payload, document).map((value) => stringify(value)!);
}

/**
 * @param fault returns the fault of a message, if any. The fault is not used as the name of an assertion, because it may contain
 * any text.
 */
function expectNoFault(name: string, fault: (text: string) => string | undefined): void {
  fc.assert(
    fc.property(messages(name), (text) => {
      const said = fault(text);
      if (said !== undefined) throw new Error(`${said}: ${JSON.stringify(text)}`);
    }),
    { numRuns: 1_000 },
  );
}

const ANY_TIME = { maxPastNs: 2n ** 64n, maxFutureNs: 2n ** 64n, maxBackwardNs: 2n ** 64n };
const ANYTHING = { identity: 'anybody', maySee: () => true, mayPublishAs: () => true };

/** Opens a gate that accepts all keys and symbols, so that the later checks also run. */
function openGate(signatureType: SignatureType): Gate {
  const asset = sampleAsset({ signatureType });
  const publisher = { index: 0, signatureType, assets: new Set(['*']) } as unknown as ListedPublisher;
  const everybody = { findAsset: () => asset, publisherByKey: () => publisher };
  return new Gate(everybody, new FakeClock(), ANY_TIME);
}

for (const [name, type] of [
  ['evmSignedPrices', 'evm'],
  ['starkSignedPrices', 'stark'],
] as const) {
  test(`any ${name} message that the document allows has the right form`, async (t) => {
    let judged = 0;
    expectNoFault(name, (text) => {
      const read = readPublishMessage(text, 1_000);
      if (!read.ok) return read.error;
      if (read.malformed.size > 0) return [...read.malformed].join();
      for (const update of read.updates) {
        // JSON Schema cannot express two rules that require equal names, so this code makes the names equal.
        const { symbol } = update;
        const externalAssetId = type === 'evm' ? symbol : update.externalAssetId;
        const admitted = openGate(type).admit(
          { ...update, assetId: symbol, externalAssetId },
          type,
          ANYTHING,
        );
        if (typeof admitted === 'string') return admitted;
        judged++;
      }
      return undefined;
    });
    t.ok(judged > 500, `${judged} updates`);
  });
}
