import type { Secp256k1 } from './secp256k1_operations.js';

/**
 * Compares an implementation's answers with noble's answers to the same questions. This takes 1 ms.
 * @returns a description of the wrong answer, or `undefined`.
 */
export function wrongAnswerOf(curve: Secp256k1): string | undefined {
  for (const { key, digest, signature, recovery, publicKey } of SIGNED) {
    const made = curve.sign(bytes(digest), bytes(key));
    if (hex(made.signature) !== signature || made.recovery !== recovery) return 'a signature';
    if (hex(curve.publicKey(bytes(key))) !== publicKey) return 'a public key';
    if (hex(curve.recover(bytes(digest), bytes(signature), recovery)) !== publicKey) return 'a recovered key';
  }
  for (const { name, digest, signature, recovery, publicKey } of RECOVERED)
    if (hex(curve.recover(bytes(digest), bytes(signature), recovery)) !== publicKey)
      return `a key recovered from ${name}`;
  for (const key of INVALID_KEYS) {
    if (acceptsCall(() => curve.sign(bytes(GROUP_ORDER), bytes(key))))
      return 'a signature with an invalid key';
    if (acceptsCall(() => curve.publicKey(bytes(key)))) return 'the public key of an invalid key';
  }
  return undefined;
}

interface Signed {
  readonly key: string;
  readonly digest: string;
  readonly signature: string;
  readonly recovery: 0 | 1;
  readonly publicKey: string;
}

interface Recovered {
  readonly name: string;
  readonly digest: string;
  readonly signature: string;
  readonly recovery: 0 | 1;
  readonly publicKey: string | undefined;
}

function acceptsCall(call: () => void): boolean {
  try {
    call();
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function bytes(digits: string): Buffer {
  return Buffer.from(digits, 'hex');
}

function hex(value: Uint8Array | undefined): string | undefined {
  return value && Buffer.from(value).toString('hex');
}

/** The order n of secp256k1 (SEC 2, section 2.4.1). */
const GROUP_ORDER = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141';

const INVALID_KEYS = ['0'.repeat(64), GROUP_ORDER, 'f'.repeat(64)];

/** Keys and digests at the ends of their ranges and in the middle. */
const SIGNED: readonly Signed[] = [
  {
    key: '0000000000000000000000000000000000000000000000000000000000000001',
    digest: '0000000000000000000000000000000000000000000000000000000000000000',
    signature:
      'a0b37f8fba683cc68f6574cd43b39f0343a50008bf6ccea9d13231d9e7e2e1e411edc8d307254296264aebfc3dc76cd8b668373a072fd64665b50000e9fcce52',
    recovery: 1,
    publicKey:
      '0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8',
  },
  {
    key: '0000000000000000000000000000000000000000000000000000000000000002',
    digest: '0000000000000000000000000000000000000000000000000000000000000001',
    signature:
      'c840daecb9253d6c7f21d3a5663267dab258058d2fd86ba8574df59176131d7a0b792a5254e5b2cb88ef5bc8dca5c4f96de35505f6c464c42425619fa88e12a2',
    recovery: 1,
    publicKey:
      '04c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee51ae168fea63dc339a3c58419466ceaeef7f632653266d0e1236431a950cfe52a',
  },
  {
    key: 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140',
    digest: 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140',
    signature:
      '775b77bfac3c9bb88544cf7ba7da61a4e6123c820a7af482b207e82214e5a4de57fcc4e78cba69e8728e72df755bb2d9b70c7546461d7fa17754a63a150d1245',
    recovery: 0,
    publicKey:
      '0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798b7c52588d95c3b9aa25b0403f1eef75702e84bb7597aabe663b82f6f04ef2777',
  },
  {
    key: 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb',
    digest: '2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6',
    signature:
      '668d3f83bc9fb047fdca55e98683bf79d3260e02ccafc46a1161b4fdecc228d5611983fbdb7b0ee34774611f2a33fb79321cc892bbcaeee1869c8860950e9cc0',
    recovery: 1,
    publicKey:
      '044da006f958beba78ec54443df4a3f52237253f7ae8cbdb17dccf3feaa57f3126da0a0909f11998130c2d0e86a485f4e79ee466a183a476c432c68758ab9e630b',
  },
  {
    key: '3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d',
    digest: '18ac3e7343f016890c510e93f935261169d9e3f565436429830faf0934f4f8e4',
    signature:
      '7fc6b2bed247edb88e3e1ffb08e1c07fcde5fc6ef236be667c7a809dc58bc0a27001fc0a31f913e91dba0465e204e48b28ad285d929c0faed3e248af3d43e7dd',
    recovery: 0,
    publicKey:
      '0410c283aac7b35b4ae6fab201d36e8322c3408331149982e16013a5bcb917081ce524905eae685ebf6dcc0361402ced1b7aba0bfdac66b52a4ed8ef0493d89675',
  },
];

/** Signatures that no key made, and signatures in forms that no signer produces. */
const RECOVERED: readonly Recovered[] = [
  {
    name: 'a high s',
    digest: '2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6',
    signature:
      '668d3f83bc9fb047fdca55e98683bf79d3260e02ccafc46a1161b4fdecc228d59ee67c042484f11cb88b9ee0d5cc048588921453f37db15a3935d62c3b27a481',
    recovery: 0,
    publicKey:
      '044da006f958beba78ec54443df4a3f52237253f7ae8cbdb17dccf3feaa57f3126da0a0909f11998130c2d0e86a485f4e79ee466a183a476c432c68758ab9e630b',
  },
  {
    name: 'the other parity',
    digest: '2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6',
    signature:
      '668d3f83bc9fb047fdca55e98683bf79d3260e02ccafc46a1161b4fdecc228d5611983fbdb7b0ee34774611f2a33fb79321cc892bbcaeee1869c8860950e9cc0',
    recovery: 0,
    publicKey:
      '0491255abd93444edc665ee2552c356772388abd264b73edae926d16119874017d296b2d2232713a5d156831e55217d64b159e7b24abbfcd90411c1c14bc363169',
  },
  {
    name: 'r of 0',
    digest: '2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6',
    signature:
      '0000000000000000000000000000000000000000000000000000000000000000611983fbdb7b0ee34774611f2a33fb79321cc892bbcaeee1869c8860950e9cc0',
    recovery: 0,
    publicKey: undefined,
  },
  {
    name: 's of 0',
    digest: '2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6',
    signature:
      '668d3f83bc9fb047fdca55e98683bf79d3260e02ccafc46a1161b4fdecc228d50000000000000000000000000000000000000000000000000000000000000000',
    recovery: 0,
    publicKey: undefined,
  },
  {
    name: 'r of n',
    digest: '2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6',
    signature:
      'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141611983fbdb7b0ee34774611f2a33fb79321cc892bbcaeee1869c8860950e9cc0',
    recovery: 0,
    publicKey: undefined,
  },
  {
    name: 's of n',
    digest: '2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6',
    signature:
      '668d3f83bc9fb047fdca55e98683bf79d3260e02ccafc46a1161b4fdecc228d5fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141',
    recovery: 1,
    publicKey: undefined,
  },
  {
    name: 'r and s above n',
    digest: '2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6',
    signature:
      'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
    recovery: 0,
    publicKey: undefined,
  },
  {
    name: 'an r that is no x coordinate',
    digest: '2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6',
    signature:
      '00000000000000000000000000000000000000000000000000000000000000050000000000000000000000000000000000000000000000000000000000000001',
    recovery: 0,
    publicKey: undefined,
  },
  {
    name: 'r of 1',
    digest: '2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6',
    signature:
      '00000000000000000000000000000000000000000000000000000000000000010000000000000000000000000000000000000000000000000000000000000001',
    recovery: 1,
    publicKey:
      '04cc9e98b17eafb02fe21a26b995170663da513a6db19861c137c2831412ba81af1f438a41785e46fcd4634b7cd6bcb6378501ae187399edd95784eab0860f26f5',
  },
  {
    name: 'the point at infinity',
    digest: '2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6',
    signature:
      'f01d6b9018ab421dd410404cb869072065522bf85734008f105cf385a023a80f873b0c7cc1435c5a3993164556c4bde0a163193fba8577759750a0dac9a26677',
    recovery: 1,
    publicKey: undefined,
  },
  {
    name: 'a digest above n',
    digest: 'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
    signature:
      '668d3f83bc9fb047fdca55e98683bf79d3260e02ccafc46a1161b4fdecc228d5611983fbdb7b0ee34774611f2a33fb79321cc892bbcaeee1869c8860950e9cc0',
    recovery: 1,
    publicKey:
      '041734149d62b048329025e164d617a90dcb457b6c7259ba0cf608b6fef339427eca95625e6687029527ed6b8875608828adcc077eda0f7c23de08c8571984d735',
  },
];
