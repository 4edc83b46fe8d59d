import { existsSync, readFileSync } from 'node:fs';
import { verifyAggregate } from 'tickseal/client';
import { settings } from './required_settings.js';

// Verifies saved aggregates offline. The bytes of an aggregate are enough to check each publisher's signature, the price and the
// service's signature.
//   curl … "$TICKSEAL_URL/v1/prices/latest?assets=BTCUSD" > price.json && node verify_saved_price.js price.json

const { SIGNER } = settings('SIGNER');
const [file = 'price.json'] = process.argv.slice(2);
if (!existsSync(file))
  throw new Error(`there is no file ${file}: save an answer in it, as the comment above does`);

// This call passes the text and not parsed JSON, because JSON.parse loses digits of timestamps.
const reports = verifyAggregate(readFileSync(file, 'utf8'), { signers: [SIGNER] });
for (const { assetId, verdict, checks } of reports) {
  for (const { name, status, reason } of checks) {
    if (status === 'failed') console.log(`failed: ${name}: ${reason}`);
  }
  const passed = checks.filter(({ status }) => status === 'ok').length;
  console.log(`${assetId ?? file}: ${verdict}, ${passed} of ${checks.length} checks passed`);
}
process.exitCode = reports.every(({ verdict }) => verdict === 'verified') ? 0 : 1;
