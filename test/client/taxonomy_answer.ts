/** Returns the answer of `/v1/taxonomy`, without its signers. @param ids streaming IDs by symbol */
export function taxonomyAnswer(ids: Readonly<Record<string, number>>) {
  return {
    taxonomy_id: 1,
    assets: Object.entries(ids).map(([name, asset_id]) => ({
      asset_id,
      name,
      signature_type: 'evm',
      aggregation: 'median',
      calendar: 'none',
    })),
  };
}
