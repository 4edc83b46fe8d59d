import type { Channel } from '../../wire/stream.js';
import type { AttributeName } from '../../wire/stream_attributes.js';
import type { Merger } from './merger.js';
import type { StreamedType } from './taxonomy.js';

/** The options that all services of a stream share. */
export interface StreamSourceOptions {
  readonly channel: Channel;
  readonly attributes: readonly AttributeName[];
  readonly signatureType: StreamedType | undefined;
  readonly maxAgeMs: number;
  /** The number of waiting characters up to which no waiting payload is dropped. */
  readonly keptChars: number;
  readonly merger: Merger;
  /** The symbols that the stream wants. Call {@link StreamSource.sync} after each change of this set. */
  readonly wanted: ReadonlySet<string>;
}
