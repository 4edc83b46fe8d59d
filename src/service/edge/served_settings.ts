import type { Config } from '../../config/config.js';
import { createCalendars } from '../../model/calendar/calendars.js';
import type { Catalogue } from '../../model/catalogue.js';
import type { NodeList } from '../../model/node_list.js';
import { type Clock, NS_PER_SECOND } from '../../model/time.js';
import type { EdgeSettings, Identity } from './edge_command.js';
import { MarketStatuses } from './market_statuses.js';

export interface ServedSettingsOptions {
  /** The settings at the start. */
  readonly settings: EdgeSettings;
  readonly catalogueOf: (config: Config) => Catalogue;
  readonly clock: Clock;
}

/** The parts of an edge that a reload replaces together. */
interface ServedCatalogue {
  readonly config: Config;
  readonly identity: Identity;
  readonly catalogue: Catalogue;
  readonly markets: MarketStatuses;
}

/** The current settings of an edge, with the catalogue and the calendars that result from them. Commands change the settings. */
export class ServedSettings {
  /** The nodes of the cluster. */
  nodes: NodeList;
  readonly #options: ServedSettingsOptions;
  #served: ServedCatalogue;

  constructor(options: ServedSettingsOptions) {
    const { config, identity, nodes } = options.settings;
    this.nodes = nodes;
    this.#options = options;
    this.#served = this.#derive(config, identity);
  }

  get config(): Config {
    return this.#served.config;
  }

  get identity(): Identity {
    return this.#served.identity;
  }

  get catalogue(): Catalogue {
    return this.#served.catalogue;
  }

  get markets(): MarketStatuses {
    return this.#served.markets;
  }

  reload(config: Config, identity: Identity): void {
    this.#served = this.#derive(config, identity);
  }

  #derive(config: Config, identity: Identity): ServedCatalogue {
    const { catalogueOf, clock } = this.#options;
    const catalogue = catalogueOf(config);
    const { calendars } = createCalendars(config.calendars);
    const markets = new MarketStatuses(catalogue.assets, calendars);
    // This call computes the status early, because the first use of a time zone takes milliseconds, which is too long for a tick.
    markets.statusesAt(Number(clock.nowNs() / NS_PER_SECOND));
    return { config, identity, catalogue, markets };
  }
}
