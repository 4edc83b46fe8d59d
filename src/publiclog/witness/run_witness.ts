import type { Logger } from 'pino';
import { clientAddressReader, peerAddressReader } from '../../model/client_address.js';
import { LogWitness } from './witness.js';
import type { WitnessConfig } from './witness_config.js';
import { WitnessFolder } from './witness_folder.js';
import { listenAsWitness, type WitnessListener } from './witness_listener.js';
import { witnessMetricsText } from './witness_metrics.js';

/** The claimed folder of a witness. Only one process may use a folder, because two processes could cosign two different trees. */
export interface HeldWitnessFolder {
  release(isClean: boolean): Promise<void>;
}

/** Listens for the operator: metrics, and whether the witness works. */
export type OperatorListening = (
  host: string,
  port: number,
  text: () => string,
  fault: () => string | undefined,
) => Promise<OperatorListener>;

export interface OperatorListener {
  readonly port: number;
  close(): void;
}

export interface WitnessParts {
  readonly config: WitnessConfig;
  readonly logger: Logger;
  readonly nowMs: () => number;
  readonly steadyMs: () => number;
  readonly listenForOperator: OperatorListening;
}

/** A running witness. */
export class RunningWitness {
  readonly #listener: WitnessListener;
  readonly #operator: OperatorListener;
  readonly #lock: HeldWitnessFolder;

  private constructor(listener: WitnessListener, operator: OperatorListener, lock: HeldWitnessFolder) {
    this.#listener = listener;
    this.#operator = operator;
    this.#lock = lock;
  }

  /**
   * Reads the folder, and listens.
   * @param lock the claim of the folder, which the witness releases when it closes
   * @throws Error for a damaged folder, and for an address that cannot be used
   */
  static async open(
    { config, logger, nowMs, steadyMs, listenForOperator }: WitnessParts,
    lock: HeldWitnessFolder,
  ): Promise<RunningWitness> {
    const { name, key, logs, listen, admin, limits } = config;
    const folder = new WitnessFolder(config.folder);
    const kept = await folder.read(key.witnessKey(name));
    if (kept.size === 0)
      logger.warn(
        'the folder is empty: if this key has cosigned before, make a new key and a new name for it',
      );
    const witness = new LogWitness(
      {
        name,
        key,
        logs,
        folder,
        nowMs,
        steadyMs,
        onRefused: ({ status, reason, origin }) => {
          const level = status === 422 || status === 500 ? 'error' : 'info';
          // Anybody can send any number of requests with an unknown origin, so the witness only counts these requests.
          if (origin !== undefined)
            logger[level]({ status, origin, reason }, 'the checkpoint was not cosigned');
        },
      },
      kept,
    );
    const listener = await listenAsWitness(witness, {
      host: listen.host,
      port: listen.port,
      submissionPrefix: listen.submission_prefix,
      monitoringPrefix: listen.monitoring_prefix,
      clientOf: clientAddressReader(listen.trusted_proxies),
      requestsPerSecond: limits.requests_per_second,
      connectionsMax: limits.connections,
      peerOf: peerAddressReader(listen.trusted_proxies),
      connectionsPerAddressMax: limits.connections_per_address,
      steadyMs,
    });
    const metrics = () => {
      const { user, system } = process.cpuUsage();
      return witnessMetricsText({
        witness,
        refusals: listener.refusals,
        nowMs: nowMs(),
        cpuSeconds: (user + system) / 1e6,
        residentBytes: process.memoryUsage.rss(),
      });
    };
    try {
      const operator = await listenForOperator(admin.host, admin.port, metrics, () => witness.fault);
      return new RunningWitness(listener, operator, lock);
    } catch (error) {
      await listener.close();
      throw error;
    }
  }

  get port(): number {
    return this.#listener.port;
  }

  get adminPort(): number {
    return this.#operator.port;
  }

  /** Closes the listeners and releases the folder. */
  async close(): Promise<void> {
    await this.#listener.close();
    this.#operator.close();
    await this.#lock.release(true);
  }
}
