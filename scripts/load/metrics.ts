import { ADMIN_PATHS } from '../../src/wire/paths.js';
import { fetchOnce } from './fetch_body.js';
import type { ServerProcess } from './server_process.js';

/** Reads the metrics of a service of this process. */
export function readMetrics({ adminPort }: ServerProcess): Promise<ReadonlyMap<string, number>> {
  return metricsAt(new URL(`http://127.0.0.1:${adminPort}`));
}

/**
 * Reads the counters and gauges of the service by name. For a metric with labels, the value is the sum of its series. Each series is also
 * there by its name with its labels, as in `name{label="value"}`.
 * @param admin the base address of the admin listener
 */
export async function metricsAt(admin: URL): Promise<ReadonlyMap<string, number>> {
  const response = await fetchOnce(new URL(ADMIN_PATHS.metrics, admin).href);
  const metrics = new Map<string, number>();
  for (const line of (await response.text()).split('\n')) {
    const [, name, labels, value] = /^(\w+)(\{.*\})? (\S+)/.exec(line) ?? [];
    if (name === undefined) continue;
    metrics.set(name, (metrics.get(name) ?? 0) + Number(value));
    if (labels !== undefined) metrics.set(`${name}${labels}`, Number(value));
  }
  return metrics;
}
