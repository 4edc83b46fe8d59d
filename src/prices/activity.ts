/** The last activity of publishers. */
export interface Activity {
  readonly assets: readonly AssetActivity[];
  readonly publishers: readonly PublisherActivity[];
}

export interface AssetActivity {
  readonly symbol: string;
  readonly signatureType: string;
  /** The number of inputs in the asset's price. Without a price, the number of all current inputs. */
  readonly inputs: number;
  /** The keys of the publishers whose prices stand still, in hex. Their inputs do not count. */
  readonly frozen: readonly string[];
  /** The UNIX second at which the service accepted the last update; `undefined` before the first update. */
  readonly updatedAtSeconds: number | undefined;
}

export interface PublisherActivity {
  /** The public key in hex. */
  readonly key: string;
  readonly signatureType: string;
  readonly updatedAtSeconds: number | undefined;
}
