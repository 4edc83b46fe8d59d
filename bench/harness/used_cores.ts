import type { Usage } from '../../scripts/load/usage.js';
import type { Figures, Shown } from './row.js';

/** Adds the cores that the server and the client of a load used. With a client near 1, the client is the bottleneck. */
export function addCores(figures: Figures, name: string, { serverShare, clientShare }: Usage): void {
  figures[`${name}: server cores`] = serverShare;
  figures[`${name}: client cores`] = clientShare;
}

/** Shows the figures of {@link addCores}. */
export function coresOf(variant: string, name: string): Shown[] {
  return ['server', 'client'].map((who) => ({
    name: who,
    unit: 'cores',
    variant,
    figure: `${name}: ${who} cores`,
  }));
}
