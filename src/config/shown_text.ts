/**
 * Returns the text as messages may show it. A text that looks like a key or a token is hidden, because an operator may have
 * written one in place of a file name or a symbol.
 */
export function shownText(text: string): string {
  return SECRETS.some((secret) => secret.test(text)) ? '…' : text;
}

const SECRETS = [
  // A key, perhaps with some digits missing.
  /(?:^|[^0-9a-fA-F])[0-9a-fA-F]{40,}(?:$|[^0-9a-fA-F])/,
  /^\d{60,}$/,
  // 32 bytes as base64 or base64url, as `tickseal token` makes them.
  /^[\w+/-]{43}=?$/,
  /-----BEGIN/,
];
