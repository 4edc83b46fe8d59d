/** An IP address as the 128 bits of IPv6. An IPv4 address has its mapped form, `::ffff:a.b.c.d`. */
export type Address = bigint & { readonly address: unique symbol };

/** A block of addresses that share their first bits. */
export interface AddressBlock {
  readonly first: Address;
  /** The number of free bits at the right end of the address. */
  readonly freeBits: number;
}

const ADDRESS_BITS = 128;
const IPV4_BITS = 32;
const IPV4_PREFIX = 0xffffn;
const GROUP_BITS = 16n;
const GROUPS = 8;
const ADDRESS_LENGTH_MAX = 45;

const BYTE = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4 = new RegExp(`^${BYTE}(?:\\.${BYTE}){3}$`);
const IPV6_GROUP = /^[\da-fA-F]{1,4}$/;

/** Reads an IPv4 or IPv6 address without a zone. */
export function parseAddress(text: string): Address | undefined {
  if (text.length > ADDRESS_LENGTH_MAX) return undefined;
  if (IPV4.test(text)) return ((IPV4_PREFIX << BigInt(IPV4_BITS)) | parseIpv4(text)) as Address;
  const groups = ipv6Groups(text);
  if (groups === undefined) return undefined;
  return groups.reduce((bits, group) => (bits << GROUP_BITS) | BigInt(`0x${group}`), 0n) as Address;
}

function parseIpv4(text: string): bigint {
  return text.split('.').reduce((bits, byte) => (bits << 8n) | BigInt(byte), 0n);
}

/** Returns the eight groups of hex digits, including the groups that `::` replaces. */
function ipv6Groups(text: string): readonly string[] | undefined {
  const [head = '', tail, ...more] = withoutIpv4Tail(text).split('::');
  if (more.length > 0) return undefined;
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const missing = GROUPS - before.length - after.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...before, ...Array<string>(missing).fill('0'), ...after];
  return groups.every((group) => IPV6_GROUP.test(group)) ? groups : undefined;
}

/** Rewrites the last 32 bits as hex groups if the text has them in IPv4 form. */
function withoutIpv4Tail(text: string): string {
  const start = text.lastIndexOf(':') + 1;
  const tail = text.slice(start);
  if (start === 0 || !IPV4.test(tail)) return text;
  const bits = parseIpv4(tail);
  return `${text.slice(0, start)}${(bits >> GROUP_BITS).toString(16)}:${(bits & 0xffffn).toString(16)}`;
}

/** Reads an address, or a block such as `10.0.0.0/8` or `2001:db8::/32`. Bits after the prefix are ignored. */
export function parseAddressBlock(text: string): AddressBlock | undefined {
  const [, address = '', prefix] = /^([^/]*)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const first = parseAddress(address);
  if (first === undefined) return undefined;
  const bits = address.includes(':') ? ADDRESS_BITS : IPV4_BITS;
  const freeBits = bits - (prefix === undefined ? bits : Number(prefix));
  return freeBits < 0 ? undefined : { first, freeBits };
}

export function isInBlock({ first, freeBits }: AddressBlock, address: Address): boolean {
  return (first ^ address) >> BigInt(freeBits) === 0n;
}

/**
 * Returns the group of addresses that a limit for each client address counts as one client. For IPv4, the group is the address itself.
 * For IPv6, the group is a block with a prefix of 64 bits, because a client gets a whole block and may use any address in the block.
 */
export function addressGroup(address: Address): string {
  if (address >> BigInt(IPV4_BITS) === IPV4_PREFIX) {
    const bits = Number(address & 0xffff_ffffn);
    return [bits >>> 24, (bits >>> 16) & 0xff, (bits >>> 8) & 0xff, bits & 0xff].join('.');
  }
  const digits = (address >> 64n).toString(16).padStart(16, '0');
  return `${digits.replace(/(.{4})(?=.)/g, '$1:')}::/64`;
}
