/** The part of a link to the page after `#`. Browsers send this part to no server. */
export interface LinkFragment {
  readonly token: string | undefined;
  /** Addresses and Stark public keys, as in the link. */
  readonly signers: readonly string[];
  /**
   * The address that signs streams; `undefined` when the link names no `stream_signer`. The first EVM signer then signs the
   * streams.
   */
  readonly streamSigner: string | undefined;
}

/** Reads `#token=…&signer=0x…&stream_signer=0x…`; `signer` may appear twice, for the address and for the Stark public key. */
export function readFragment(hash: string): LinkFragment {
  const parameters = new URLSearchParams(hash.replace(/^#/, ''));
  return {
    token: parameters.get('token') || undefined,
    signers: parameters.getAll('signer'),
    streamSigner: parameters.get('stream_signer') ?? undefined,
  };
}
