import { CLUSTER_MUTANTS } from './cluster_switches.js';
import { type Mutant, mutantsOf as of } from './mutant.js';

/** The mutants in the rooms that make, keep, sign and check prices, and those of the cluster. */
export const MUTANTS: readonly Mutant[] = [
  ...of('prices/gate', 'prices/gate', [
    ['a timestamp in the future is accepted', 'if (timestampNs > nowNs + maxFutureNs)', 'if (false)'],
    ['a timestamp that is too old is accepted', 'if (timestampNs < nowNs - maxPastNs)', 'if (false)'],
    [
      'an update for an asset of another publisher is accepted',
      "if (!mayPublish(publisher, asset)) return 'publisher_key is not allowed for this asset';\n    const",
      'const',
    ],
    ['a token publishes with a key of somebody else', 'if (!rights.mayPublishAs(publisher))', 'if (false)'],
    [
      'the second replay check is skipped',
      '    if (refused !== undefined) return refused;\n    this.#replay.record',
      '    this.#replay.record',
    ],
    [
      'a removed publisher is accepted after its signature was verified',
      'candidate.allowedBy === this.#allowList ? undefined : this.#findForbidden(candidate)',
      'undefined',
    ],
    ['a Stark price is negative', 'if (!signsNegativePrices && price < 0n)', 'if (false)'],
    [
      'the ID outside a signed EVM update is not compared',
      'if (!coversOracleId && raw.externalAssetId !== raw.symbol)',
      'if (false)',
    ],
  ]),
  ...of('prices/replay', 'prices/replay', [
    ['an update is accepted twice', 'if (nanos <= found.nanos) return SEEN_BEFORE;', ''],
    ['another sender refreshes an update', 'if (found.sender !== sender) return OTHER_SENDER;', ''],
    ['an update before the window is accepted', 'if (timestampNs < window.floorNs)', 'if (false)'],
    ['a window without room takes an update', ': WINDOW_FULL;', ': undefined;'],
    [
      'the window moves by a refresh',
      'window.refresh(found, update.nanos);',
      'window.refresh(found, update.nanos);\n      window.raiseFloor(this.#floorAfter(update.timestampNs));',
    ],
  ]),
  ...of('prices/books/book', 'prices/books/book', [
    [
      'max_age does not apply',
      'if (timestampNs < oldestCountingNs || timestampNs > latestCountingNs) continue;',
      'if (timestampNs > latestCountingNs) continue;',
    ],
    [
      'an input ahead of the clock counts after a step back',
      'if (timestampNs < oldestCountingNs || timestampNs > latestCountingNs) continue;',
      'if (timestampNs < oldestCountingNs) continue;',
    ],
    ['fewer than min_publishers make a price', 'counted === 0 || counted < minPublishers', 'counted === 0'],
    ['outliers count', 'if (maxDeviation !== undefined && entries.length > 0)', 'if (false)'],
    [
      'the inputs are not in the order of their keys',
      '.sort((a, b) => a.publisher.key.compare(b.publisher.key))',
      '',
    ],
  ]),
  ...of('prices/books/triggers', 'prices/books/triggers', [
    [
      'the first price waits for the clock',
      'if (last === undefined) return true;',
      'if (last === undefined) return false;',
    ],
    ['a price that fell is no delta', '(price > last ? price - last : last - price)', '(price - last)'],
    [
      'the price after an end is no first price',
      '  ended(index: AssetIndex): void {\n    this.#lastSigned[index] = undefined;',
      '  ended(index: AssetIndex): void {\n    void index;',
    ],
  ]),
  ...of('prices/signing_queue', 'prices/signing_queue', [
    ['the aggregate of an ended price is signed', 'if (price === undefined) continue;', ''],
    [
      'a due delta becomes one of the clock',
      'if (!due.has(index)) due.set(index, trigger);',
      'due.set(index, trigger);',
    ],
  ]),
  ...of('stream/frame_budgets', 'stream/frame_budgets', [
    [
      'the same caller pays always',
      'this.#connections.delete(budget);\n      this.#connections.set(budget, connections);',
      'void connections;',
    ],
    [
      'a frame that nobody can pay is sent',
      'first.countRefusal();\n    return false;',
      'first.countRefusal();\n    return true;',
    ],
  ]),
  ...of('clock/aggregate_times', 'clock/aggregate_times', [
    [
      'a time is signed twice',
      'latestNs > this.#lastNs ? latestNs : this.#lastNs + 1n',
      'latestNs >= this.#lastNs ? latestNs : this.#lastNs',
    ],
    [
      'a time that no mark covers is signed',
      'if (this.#isClosed || !this.#mark.covers(timeNs, nowNs))',
      'if (this.#isClosed)',
    ],
    [
      'a start signs before its mark',
      'this.#lastNs = this.#mark.reachNs > startAfterNs ? this.#mark.reachNs : startAfterNs;',
      'this.#lastNs = startAfterNs;',
    ],
  ]),
  ...of('clock/stream_times', 'clock/stream_times', [
    [
      'a number is taken before its mark',
      'if (this.#taken.has(number) || reachNs >= nowNs) return;',
      'if (this.#taken.has(number)) return;',
    ],
    ['a step back begins no era', 'if (nowNs < this.#seenNs) this.#current', 'if (false) this.#current'],
  ]),
  ...of('crypto/evm', 'crypto/evm', [
    [
      'a high s is accepted',
      'if (r0 > 0 && r0 < 0xff && s0 > 0 && s0 < 0x7f) return true;',
      'if (r0 > 0 && r0 < 0xff && s0 > 0) return true;',
    ],
    [
      'the price is not in the hash of an update',
      'writeWord(price, wordsAt + 32);',
      'writeWord(0n, wordsAt + 32);',
    ],
    ['a negative price has another word', 'const sign = value < 0n ? -1n : 0n;', 'const sign = 0n;'],
    ['the checksum is not in the hash of an aggregate', 'keccakRoom.set(aggregate.checksum, 148);', ''],
    [
      'a signature of another key is accepted',
      'if (!isSame(evmAddress(publicKey65), address20)) return false;',
      '',
    ],
    ['the prefix of messages is missing', 'keccakRoom.set(EIP191_PREFIX);', ''],
  ]),
  ...of('crypto/merkle', 'crypto/merkle', [
    [
      'the last node of an odd level is not repeated',
      'nodes.copyWithin(count * NODE_BYTES, (count - 1) * NODE_BYTES, count * NODE_BYTES);',
      '',
    ],
  ]),
  ...of('model/price', 'model/price', [
    ['a price beyond 16 bytes is accepted', 'value < PRICE_MIN || value > PRICE_MAX', 'value < PRICE_MIN'],
    [
      'the high half of a price is lost',
      'SCRATCH.setBigInt64(0, price >> 64n);',
      'SCRATCH.setBigInt64(0, 0n);',
    ],
  ]),
  ...of('model/key_schedule', 'service/key_rotation', [
    [
      'the former key signs after its end',
      'if (span.fromNs <= timeNs) found = span;',
      'if (span.fromNs <= timeNs && false) found = span;',
    ],
  ]),
  ...of('model/budget', 'model/budget', [
    [
      'a burst has one request more',
      'untilNs <= latestNs ? untilNs : undefined',
      'untilNs <= latestNs + 1_000_000_000n ? untilNs : undefined',
    ],
    [
      'a budget from before a step back of the clock stays used up',
      'before > nowNs && !isFromBeforeStep ? before : nowNs',
      'before > nowNs ? before : nowNs',
    ],
  ]),
  ...of('server/access/address_connections', 'server/access/address_connections', [
    [
      'an address opens any number of sockets',
      'if (this.#sockets.add(place, perAddressMax)) return place;',
      'return place;',
    ],
  ]),
  ...of('server/access/origins', 'server/access/origins', [
    [
      'a page of any origin opens streams',
      'return origin === undefined || this.allowedAs(origin) !== undefined || this.#isOwn(origin, host);',
      'return true;',
    ],
  ]),
  ...of('server/access/publisher_login_check', 'service/logins', [
    [
      'a login by signature publishes for other keys',
      'return signatureType === this.signatureType && key.equals(this.key);',
      'return true;',
    ],
  ]),
  ...of('stream/engine', 'stream/engine', [
    [
      'a subscription with an unknown asset counts in part',
      'if (invalid.length > 0 && !request.ignoreInvalid) {',
      'if (false) {',
    ],
  ]),
  ...of('log/store/candle_reader', 'log/store/candle_history', [
    ['the candle at the end of a range is in it', 'Math.min(toS - 1, lastS)', 'Math.min(toS, lastS)'],
  ]),
  ...of('stream/slow_readers', 'stream/slow_readers', [
    [
      'a silent reader keeps its socket',
      'else if (nowNs - stalledSinceNs >= this.#withoutProgressNsMax) {',
      'else if (false) {',
    ],
    [
      'a reader that takes bytes is closed',
      'if (bufferedBytes > 0) {\n      session.stalledSinceNs = nowNs;',
      'if (bufferedBytes > 0) {',
    ],
  ]),
  ...of('stream/delivery', 'stream/delivery', [
    [
      'a slow reader joins the topic',
      'if (session.stalledSinceNs !== undefined) continue;',
      '',
      'stream/slow_readers',
    ],
    [
      'a new reader joins without the prices that it lacks',
      'if (group.intervalMs !== undefined || isUpToDate) this.#joinGroup(group, session);',
      'this.#joinGroup(group, session);',
      'stream/model',
    ],
  ]),
  ...of('stream/request', 'stream/request', [
    ['an asset counts twice', 'if (numbers[i - 1]! >= numbers[i]!) return [...new Set(numbers)];', ''],
  ]),
  ...of('model/calendar/us_holidays', 'model/calendar/us_equities', [
    ['Good Friday is open', '    isGoodFriday(date) ||\n', ''],
    [
      'the day after Thanksgiving closes late',
      'return date.dayOfWeek === FRIDAY && isThanksgiving(date.subtract({ days: 1 }));',
      'return false;',
    ],
  ]),
  ...of('tlog/tree_proofs', 'tlog/tree_proofs', [
    [
      'a consistency proof leaves out the old root',
      'return treeLast === 0n && isEqual(subtreeHash, root) && isEqual(treeHash, tree.root);',
      'return treeLast === 0n && isEqual(treeHash, tree.root);',
    ],
    [
      'a consistency proof leaves out the new root',
      'return treeLast === 0n && isEqual(subtreeHash, root) && isEqual(treeHash, tree.root);',
      'return treeLast === 0n && isEqual(subtreeHash, root);',
    ],
  ]),
  ...of('client/verify/verify_payload', 'client/verify/verify_payload', [
    ['IDs that do not ascend are verified', 'i === 0 || assets[i - 1]!.id < id', 'true'],
    [
      'a payload of another taxonomy is verified',
      'taxonomyId === expectedTaxonomyId, reason',
      'true, reason',
    ],
    ['a high s is verified', "list.expect('low s', fault === undefined,", "list.expect('low s', true,"],
    [
      'a signature of anybody is verified',
      "list.expectSigner('signer', address && bytesInteger(address), signer ?? 'nobody');",
      '',
    ],
  ]),
  ...of('wire/taxonomy_statement', 'wire/taxonomy_statement', [
    [
      'the type of an asset is not in the statement',
      'return [id >> 8, id, SIGNATURE_TYPES.indexOf(signatureType),',
      'return [id >> 8, id, 0,',
    ],
    ['a statement could be a payload', 'signed.set(SIGNED_HEAD);', ''],
    [
      'entries without order are read',
      'id <= (assets.at(-1)?.id ?? -1))',
      'false)',
      'wire/taxonomy_statement',
    ],
  ]),
  ...of('publiclog/ledger/waiting_records', 'publiclog/ledger/ledger', [
    [
      'the order of a batch is that of arrival',
      'for (const key of [...this.#series.keys()].sort(compareText))',
      'for (const key of this.#series.keys())',
    ],
    [
      'a record of the next batch is in this one',
      'if (one.timeNs < fromNs || one.timeNs >= toNs) continue;',
      'if (one.timeNs < fromNs || one.timeNs > toNs) continue;',
    ],
  ]),
  ...of('publiclog/ledger/ledger', 'publiclog/ledger/ledger', [
    [
      'an entry that does not follow is applied',
      'if (entry.batch !== this.#tree.size || entry.fromNs !== fromNs) return false;',
      '',
    ],
  ]),
  ...CLUSTER_MUTANTS,
];
