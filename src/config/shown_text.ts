/**
 * What messages show of a text of the operator's: a key or a token that stands in the wrong place, where a file's name or
 * a symbol belongs, is not shown.
 */
export function shownText(text: string): string {
  return SECRETS.some((secret) => secret.test(text)) ? '…' : text;
}

const SECRETS = [
  // A key, also one that lacks some digits.
  /(?:^|[^0-9a-fA-F])[0-9a-fA-F]{40,}(?:$|[^0-9a-fA-F])/,
  /^\d{60,}$/,
  // 32 bytes as base64 or base64url, as `tickseal token` makes them.
  /^[\w+/-]{43}=?$/,
  /-----BEGIN/,
];
