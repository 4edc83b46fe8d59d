import { TAXONOMY_PATH } from '../../wire/stream_paths.js';
import type { StreamClient } from '../prices/stream_client.js';
import { readTaxonomy, type ServiceSigner, type TaxonomyAsset } from '../prices/taxonomy.js';
import { parseForeignJson } from '../verify/foreign_json.js';
import { FormReader } from '../verify/form_reader.js';

/** The shortest time between two reads of the keys. */
const READ_INTERVAL_MS = 5_000;

/** The keys that the service declares as its own, and its list of assets. A declaration makes nothing trusted, so it is not verified. */
export class DeclaredKeys {
  signers: readonly ServiceSigner[] = [];
  /** The list of assets as it was read with the keys. Nobody may have signed its IDs. */
  assets: readonly TaxonomyAsset[] = [];
  #readMs = Number.NEGATIVE_INFINITY;

  /** The key for streaming payloads; empty if the service declares none. */
  get ofStreams(): string {
    return this.signers.find(({ role }) => role === 'stream')?.address ?? '';
  }

  /** Reads the keys again, unless they were read just now. */
  async read(client: Pick<StreamClient, 'get'>): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - this.#readMs < READ_INTERVAL_MS) return;
    this.#readMs = nowMs;
    try {
      const text = await client.get(TAXONOMY_PATH);
      const { signers, assets } = readTaxonomy(new FormReader(parseForeignJson(text), ''));
      this.signers = signers;
      this.assets = assets;
    } catch {
      // The stream reads the taxonomy again in any case, and reports the failure.
    }
  }
}
