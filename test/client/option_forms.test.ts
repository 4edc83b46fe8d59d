import { test } from 'tap';
import { type ClientOptions, createClient, verifyAggregate, verifyPayload } from '../../src/client/node.js';

const ADDRESS = '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf';
const RIGHT = { urls: 'https://a.example', signers: [ADDRESS] };
const KEY_FAULT = /signers: .* is neither an address/;

test('an option of a wrong type is a TypeError, one of a wrong value a RangeError, and both name the option', async (t) => {
  const table: readonly (readonly [
    options: object,
    error: typeof TypeError | typeof RangeError,
    message: RegExp,
  ])[] = [
    [{ signers: ADDRESS }, TypeError, /^signers must be a list/],
    [{ signers: [] }, RangeError, /^signers must name/],
    [{ signers: ['0x7e5f'] }, RangeError, KEY_FAULT],
    [
      { signers: [ADDRESS.replace('E', 'e')] },
      RangeError,
      new RegExp(`signers: .*checksum.*write ${ADDRESS}`),
    ],
    [{ urls: [1] }, TypeError, /^urls must be texts/],
    [{ urls: 'a.example' }, RangeError, /^urls: "a.example" is not an address/],
    [{ urls: 'https://user:secret@a.example' }, RangeError, /^urls: "https:\/\/a.example" is not/],
    [{ oracleId: 'serv' }, RangeError, /^oracleId must be 5 ASCII/],
  ];
  for (const [options, error, message] of table)
    t.throws(
      () => createClient({ ...RIGHT, ...options } as ClientOptions),
      { constructor: error, message },
      JSON.stringify(options),
    );
  for (const check of [verifyAggregate, verifyPayload])
    t.throws(() => check('0x', { signers: ['0x7e5f'] }), { constructor: RangeError, message: KEY_FAULT });
});
