import { ADMIN_PATHS } from '../../src/wire/paths.js';
import { fetchOnce } from './fetch_body.js';
import type { ServerProcess } from './server_process.js';

/**
 * Reads the counters and gauges of the service by name. For a metric with labels, the value is the sum of its series. Each series is also
 * there by its name with its labels, as in `name{label="value"}`.
 */
export async function readMetrics({ adminPort }: ServerProcess): Promise<ReadonlyMap<string, number>> {
  const response = await fetchOnce(`http://127.0.0.1:${adminPort}${ADMIN_PATHS.metrics}`);
  const metrics = new Map<string, number>();
  for (const line of (await response.text()).split('\n')) {
    const [, name, labels, value] = /^(\w+)(\{.*\})? (\S+)/.exec(line) ?? [];
    if (name === undefined) continue;
    metrics.set(name, (metrics.get(name) ?? 0) + Number(value));
    if (labels !== undefined) metrics.set(`${name}${labels}`, Number(value));
  }
  return metrics;
}
