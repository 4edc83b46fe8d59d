import { announcedList } from '../config/announced_chain.js';
import type { Config } from '../config/config.js';
import type { Path, Problem } from '../config/document.js';
import { SIGNING_KEYS, type SigningKey } from '../config/key_source.js';
import type { PrivateKeys } from '../config/private_keys.js';
import { keysAt, secondText } from '../model/announcement_chain.js';
import { timedKeysOf } from '../model/key_schedule.js';
import { secondOf } from '../model/time.js';
import { aggregateKind, type SignerKind } from '../wire/announcement.js';
import { DEFAULT_SIGNATURE_TYPE } from '../wire/signatures.js';
import { publicKeyText } from './keygen_command.js';

/**
 * Finds the keys that the newest announcement does not allow when they sign, now or later. Readers who follow announcements refuse everything
 * that such a key signs. Without announcements there is nothing to compare.
 */
export function unannouncedKeyWarnings(config: Config, keys: PrivateKeys, nowS: number): Problem[] {
  const list = announcedList(config);
  if (list === undefined) return [];
  const warnings: Problem[] = [];
  for (const name of SIGNING_KEYS) {
    const timed = timedKeysOf(keys[name]);
    for (const [index, { key, fromNs, untilNs }] of timed.entries()) {
      if (untilNs !== undefined && Number(secondOf(untilNs)) <= nowS) continue;
      const text = publicKeyText(name === 'stream' ? DEFAULT_SIGNATURE_TYPE : name, key);
      const fromS = Number(secondOf(fromNs));
      const isNamed = (kind: SignerKind) =>
        keysAt(list, [kind], Math.max(nowS, fromS)).some((one) => BigInt(one) === BigInt(text));
      if (kindsOf(name, keys).every(isNamed)) continue;
      const path: Path = Array.isArray(keys[name]) ? ['keys', name, index] : ['keys', name];
      const signs = fromS > nowS ? `signs from ${secondText(fromS)} on` : 'signs now';
      const message = `${text} ${signs}, and announcement ${list.version} does not name it then: readers who follow announcements refuse all that it signs`;
      warnings.push({ path, message });
    }
  }
  return warnings;
}

/** Returns the kinds of signatures that the keys of a purpose make. */
function kindsOf(name: SigningKey, { stream }: PrivateKeys): readonly SignerKind[] {
  if (name === 'stream') return [name];
  const signsStreams = name === DEFAULT_SIGNATURE_TYPE && stream === undefined;
  return signsStreams ? [aggregateKind(name), 'stream'] : [aggregateKind(name)];
}
