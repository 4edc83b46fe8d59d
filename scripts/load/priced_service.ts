import type { Price } from '../../src/model/price.js';
import { type LoadConfig, writeConfig } from './config.js';
import { clientFrame } from './frame_socket.js';
import { openPublisher } from './publishers.js';
import { type ServerProcess, type StartOptions, startService } from './server_process.js';
import { publishMessage, Updates } from './updates.js';

/** A service in which each asset has a price of publisher 0. */
export interface PricedService {
  readonly service: ServerProcess;
  /** The first prices, by asset. */
  readonly prices: readonly Price[];
  /** The source of the prices. Later prices from this source have later times. */
  readonly updates: Updates;
}

const UPDATES_PER_MESSAGE_MAX = 1_000;

export async function startPricedService(
  load: Pick<LoadConfig, 'assets'> & Partial<LoadConfig>,
  start: StartOptions = {},
  updates = new Updates('evm'),
): Promise<PricedService> {
  const config = writeConfig({ signatureType: 'evm', publishers: 1, ...load });
  const service = await startService(config.file, start);
  return { service, ...(await publishFirstPrices(service.port, load.assets, updates)) };
}

/** Publishes one price of publisher 0 for each asset. */
export async function publishFirstPrices(
  port: number,
  assets: number,
  updates: Updates,
): Promise<Omit<PricedService, 'service'>> {
  const publisher = await openPublisher(port, 'evm');
  const prices: Price[] = [];
  for (let first = 0; first < assets; first += UPDATES_PER_MESSAGE_MAX) {
    const entries: string[] = [];
    for (let asset = first; asset < Math.min(assets, first + UPDATES_PER_MESSAGE_MAX); asset++) {
      const { price, text } = updates.update(0, asset);
      prices.push(price);
      entries.push(text);
    }
    await publisher.settle(clientFrame(publishMessage(entries)));
  }
  publisher.close();
  return { prices, updates };
}
