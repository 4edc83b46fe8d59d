import { ADMIN_PATHS } from '../../src/wire/paths.js';

/** The resources of the service in a period. */
export interface ServerUsage {
  /** The CPU time divided by the real time, in cores. */
  readonly cores: number;
  /** The resident memory at the end. */
  readonly residentBytes: number;
}

/** The longest wait for an answer during the load. */
const MS_MAX = 2_000;

/** The state of the service's process at a time. */
export class ServerState {
  readonly #atMs = performance.now();

  constructor(
    readonly cpuSeconds: number,
    readonly residentBytes: number,
  ) {}

  /** Returns the usage since an earlier state; `undefined` without one, and when another process has taken over. */
  since(earlier: ServerState | undefined): ServerUsage | undefined {
    if (earlier === undefined || this.cpuSeconds < earlier.cpuSeconds) return undefined;
    const seconds = (this.#atMs - earlier.#atMs) / 1_000;
    return { cores: (this.cpuSeconds - earlier.cpuSeconds) / seconds, residentBytes: this.residentBytes };
  }
}

/** Reads the metrics of the admin listener; `undefined` without an address, or when the listener does not answer. */
export async function readServerUsage(
  admin: URL | undefined,
  msMax = MS_MAX,
): Promise<ServerState | undefined> {
  if (admin === undefined) return undefined;
  try {
    const response = await fetch(new URL(ADMIN_PATHS.metrics, admin), {
      signal: AbortSignal.timeout(msMax),
    });
    const text = await response.text();
    const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
    const state = new ServerState(value('process_cpu_seconds_total'), value('process_resident_memory_bytes'));
    return Number.isFinite(state.cpuSeconds + state.residentBytes) ? state : undefined;
  } catch {
    return undefined;
  }
}
