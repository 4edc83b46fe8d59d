/**
 * Returns the text in the form that messages may show. The function hides a text that looks like a key or a token, because an operator
 * may write a secret in place of a file name or a symbol.
 */
export function shownText(text: string): string {
  return SECRETS.some((secret) => secret.test(text)) ? '…' : text;
}

const SECRETS = [
  // A key, possibly with some missing digits.
  /(?:^|[^0-9a-fA-F])[0-9a-fA-F]{40,}(?:$|[^0-9a-fA-F])/,
  /^\d{60,}$/,
  // 32 bytes in base64 or base64url. `tickseal token` makes such texts.
  /^[\w+/-]{43}=?$/,
  /-----BEGIN/,
];
