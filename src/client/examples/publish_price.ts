import { createClient } from 'tickseal/client';
import { settings } from './required_settings.js';

// Publishes a price that is signed with a publisher's key, and prints the service's verdict.
//   PUBLISHER_KEY=0x… ORACLE_ID=mykey node publish_price.js BTCUSD 61000.5

const { TICKSEAL_URL = 'http://127.0.0.1:8080' } = process.env;
const { TICKSEAL_TOKEN, PUBLISHER_KEY, ORACLE_ID } = settings('TICKSEAL_TOKEN', 'PUBLISHER_KEY', 'ORACLE_ID');
const [symbol = 'BTCUSD', price = ''] = process.argv.slice(2);

// This client reads no prices, so it needs no signers.
await using client = createClient({ urls: TICKSEAL_URL, token: TICKSEAL_TOKEN, signers: 'unchecked' });
client.on('error', (error) => console.error(error.message));
const publisher = client.publisher({ key: PUBLISHER_KEY, oracleId: ORACLE_ID, ack: 'durable' });

// Decimal text stays exact. A number would already be rounded.
const { [symbol]: verdict } = await publisher.publish({ [symbol]: price });
if (verdict?.status === 'accepted') {
  console.log(`${symbol} ${price} is accepted, and on disk`);
} else {
  console.log(`${symbol} ${price} is ${verdict?.status}: ${verdict?.reason}`);
  process.exitCode = 1;
}
