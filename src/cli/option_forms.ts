import { InvalidArgumentError } from 'commander';
import { readServiceUrl } from '../client/connect/service_url.js';
import { addressFault, keyFault } from '../client/verify/key_form.js';
import { ATTRIBUTE_NAMES } from '../wire/attribute_facts.js';
import { SERVICE_NAME_PATTERN } from '../wire/service_name.js';
import { ORACLE_ID_LENGTH, type SignatureType, signatureTypeOfKey } from '../wire/signatures.js';

// The readers of addresses, keys and names on the command line. Each has one form for all commands.

const ORACLE_ID = new RegExp(`^[\\x20-\\x7e]{${ORACLE_ID_LENGTH}}$`);
const SERVICE_NAME = new RegExp(`^${SERVICE_NAME_PATTERN}$`);

/** Reads an EVM address. @throws InvalidArgumentError for another text */
export function parseEvmAddress(text: string): string {
  return valueUnless(addressFault(text), text.toLowerCase());
}

/** Reads an EVM address or a Stark public key. @throws InvalidArgumentError for another text */
export function parseKey(text: string): string {
  return valueUnless(keyFault(text), text);
}

/** A publisher, named by an address or a Stark public key. */
export interface NamedPublisher {
  readonly key: string;
  readonly signatureType: SignatureType;
}

/** Reads a publisher's key, whose length decides the type of its signatures. @throws InvalidArgumentError for another text */
export function parsePublisher(text: string): NamedPublisher {
  const key = parseKey(text.trim());
  return { key, signatureType: signatureTypeOfKey(key)! };
}

/** Reads an EVM address or a Stark public key of an option that may be given several times. */
export function collectKey(text: string, keys: readonly string[] = []): readonly string[] {
  return [...keys, parseKey(text)];
}

/** Reads the base address of a service for its sockets. @throws InvalidArgumentError for another text */
export function parseSocketUrl(text: string): string {
  return (
    readServiceUrl(text, 'ws') ??
    valueUnless('expected an address such as ws://127.0.0.1:8080, without a user and a query', '')
  );
}

/** Reads the base address of a service for requests. @throws InvalidArgumentError for another text */
export function parseWebUrl(text: string): string {
  return (
    readServiceUrl(text, 'http') ??
    valueUnless('expected an address such as https://prices.example.com, without a user and a query', '')
  );
}

/** Reads an oracle ID. @throws InvalidArgumentError for another text */
export function parseOracleId(text: string): string {
  return valueUnless(
    ORACLE_ID.test(text) ? undefined : `expected ${ORACLE_ID_LENGTH} ASCII characters`,
    text,
  );
}

/** Reads the names of attributes, with commas between. @throws InvalidArgumentError for another text */
export function parseAttributes(text: string): readonly string[] {
  const names = text.split(',');
  const isKnown = names.every((name) => ATTRIBUTE_NAMES.includes(name));
  return valueUnless(isKnown ? undefined : `expected a list of ${ATTRIBUTE_NAMES.join(',')}`, names);
}

/** Reads the name of a service, as in `<name>_signed_price`. @throws InvalidArgumentError for another text */
export function parseServiceName(text: string): string {
  return valueUnless(
    SERVICE_NAME.test(text) ? undefined : 'expected a word of lower-case letters, digits and _',
    text,
  );
}

function valueUnless<T>(fault: string | undefined, value: T): T {
  if (fault !== undefined) throw new InvalidArgumentError(fault);
  return value;
}
