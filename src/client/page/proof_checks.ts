import type { Check } from '../verify/checks.js';

const PUBLISHER_CHECK = /^signed_prices\[(\d+)\] (.*)$/;

/**
 * Separates the checks of the publishers' prices from all other checks, and groups them by publisher in the order of the
 * publishers.
 */
export function sortChecks(checks: readonly Check[]): {
  readonly byPublisher: ReadonlyMap<number, readonly Check[]>;
  readonly others: readonly Check[];
} {
  const byPublisher = new Map<number, Check[]>();
  const others: Check[] = [];
  for (const check of checks) {
    const place = PUBLISHER_CHECK.exec(check.name)?.[1];
    if (place === undefined) others.push(check);
    else byPublisher.set(Number(place), [...(byPublisher.get(Number(place)) ?? []), check]);
  }
  return { byPublisher, others };
}
