import { type Address, type AddressBlock, addressGroup, isInBlock, parseAddress } from './address.js';

/** The peer of a connection, and the `X-Forwarded-For` headers of a request in their order. */
export interface AddressedRequest {
  readonly address: string;
  readonly forwardedFor: readonly string[];
}

/** The longest chain of proxies that is read. */
const PROXIES_MAX = 32;

/**
 * @param trusted the proxies whose `X-Forwarded-For` is accepted: `listen.trusted_proxies`
 * @returns a function that finds the client address to which limits count a request
 */
export function clientAddressReader(trusted: readonly AddressBlock[]): (request: AddressedRequest) => string {
  const isTrusted = (address: Address) => isInAny(trusted, address);
  return ({ address: peerText, forwardedFor }) => {
    const peer = parseAddress(peerText);
    if (peer === undefined) return peerText;
    if (forwardedFor.length === 0 || !isTrusted(peer)) return addressGroup(peer);
    // Each proxy appends the address that called it.
    const claimed = forwardedFor.join().split(',').slice(-PROXIES_MAX).reverse();
    let client = peer;
    for (const text of claimed) {
      const next = parseClaimed(text.trim());
      // Trusted proxies write only valid addresses, so an invalid entry comes from somebody behind the trusted proxies.
      if (next === undefined) break;
      client = next;
      if (!isTrusted(client)) break;
    }
    return addressGroup(client);
  };
}

/** @returns a function that returns the address to which limits count a connection; `undefined` for a trusted proxy */
export function peerAddressReader(trusted: readonly AddressBlock[]): (address: string) => string | undefined {
  return (text) => {
    const peer = parseAddress(text);
    if (peer === undefined) return text;
    return isInAny(trusted, peer) ? undefined : addressGroup(peer);
  };
}

function isInAny(blocks: readonly AddressBlock[], address: Address): boolean {
  return blocks.some((block) => isInBlock(block, address));
}

/** Reads an address. Some proxies write the port after the address, as `1.2.3.4:5678` and `[2001:db8::1]:5678`. */
function parseClaimed(text: string): Address | undefined {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d{1,5})?$/.exec(text) ?? [];
  return parseAddress(bracketed ?? plain ?? text);
}
