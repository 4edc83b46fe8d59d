import { announcedList } from '../../config/announced_chain.js';
import type { Config } from '../../config/config.js';
import type { SignatureType } from '../../model/asset.js';
import type { NodeList } from '../../model/node_list.js';
import { typeOfKind } from '../../wire/announcement.js';

/** Returns the current configuration and nodes. */
export type SignerState = () => {
  readonly config: Pick<Config, 'announcements'>;
  readonly nodes: NodeList;
};

/**
 * The keys with which the service signs or signed aggregates: the keys of the cluster's nodes, and the keys in the configuration's
 * announcements. Revoked keys are excluded.
 */
export class KnownSigners {
  readonly #current: SignerState;
  #keys: { readonly config: object; readonly nodes: object; readonly known: ReadonlySet<string> } | undefined;

  constructor(current: SignerState) {
    this.#current = current;
  }

  /** @param key the key in lower-case hex */
  has(type: SignatureType, key: string): boolean {
    const { config, nodes } = this.#current();
    if (this.#keys?.config !== config || this.#keys.nodes !== nodes)
      this.#keys = { config, nodes, known: keysOf(config, nodes) };
    return this.#keys.known.has(`${type} ${key}`);
  }
}

function keysOf(config: Pick<Config, 'announcements'>, { signers }: NodeList): Set<string> {
  const known = new Set<string>();
  for (const { role, signatureType, address } of signers)
    if (role === 'aggregate') known.add(`${signatureType} ${address.toLowerCase()}`);
  const announced = (announcedList(config)?.signers ?? []).filter(({ kind }) => kind !== 'stream');
  for (const { kind, key, isRevoked } of announced) {
    const name = `${typeOfKind(kind)} ${key}`;
    if (isRevoked) known.delete(name);
    else known.add(name);
  }
  return known;
}
