import type { Taxonomy, TaxonomyAsset } from '../prices/taxonomy.js';

/** Returns the text beside a symbol: the signature type of a Stark asset, and the origin of the price in a demo with real prices. */
export function typeText({ signatureType, simulation }: TaxonomyAsset): string {
  const type = signatureType === 'stark' ? 'Stark' : '';
  if (simulation === undefined) return type;
  return `${type} ${simulation ? 'simulated' : 'real'}`.trim();
}

/** Returns the text of the tag in the page's bar; an empty text when no price is simulated. */
export function simulationText({ simulation, assets }: Pick<Taxonomy, 'simulation' | 'assets'>): string {
  const simulated = assets.filter((asset) => asset.simulation === true).length;
  const real = assets.filter((asset) => asset.simulation === false).length;
  if (simulation || (simulated > 0 && real === 0)) return 'simulated';
  return simulated === 0 ? '' : `${real} real, ${simulated} simulated`;
}
