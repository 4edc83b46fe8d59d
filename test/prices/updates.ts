/** Returns an update object of a publish message. All fields have the right shape, but the signature is invalid. */
export function updateObject(symbol: string): UpdateObject {
  return {
    oracle_id: 'czowx',
    asset_id: symbol,
    trigger: 'clock',
    signed_price: {
      publisher_key: `0x${'01'.repeat(20)}`,
      external_asset_id: symbol,
      signature_type: 'evm',
      price: '72147681412670819000000',
      timestamped_signature: {
        signature: { r: '0x11', s: '0x22', v: '0x1b' },
        timestamp: '1772460000000000001',
        msg_hash: '0x33',
      },
    },
  };
}

export interface UpdateObject {
  oracle_id?: unknown;
  asset_id?: unknown;
  trigger?: unknown;
  signed_price: {
    publisher_key?: unknown;
    external_asset_id?: unknown;
    signature_type?: unknown;
    price?: unknown;
    timestamped_signature: {
      signature: { r?: unknown; s?: unknown; v?: unknown };
      timestamp?: unknown;
      msg_hash?: unknown;
    };
    metadata?: unknown;
  };
}

/**
 * Returns the text of a message. A string such as `#digits` becomes the number with those digits, so that a test can put any
 * number in any place.
 */
export function messageText(
  data: unknown,
  envelope: object = { type: 'signed_prices', trace_id: 't1' },
): string {
  return JSON.stringify({ ...envelope, data }).replaceAll(/"#([^"\\]*)"/g, '$1');
}
