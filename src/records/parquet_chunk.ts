import { ByteWriter, type ParquetWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import { snappyCompress } from 'hyparquet-writer/src/snappy.js';

/** The place and the encoding of a column in a row group. */
export type ColumnChunk = ParquetWriter['row_groups'][number]['columns'][number];
type ChunkFacts = NonNullable<ColumnChunk['meta_data']>;
type PageEncoding = ChunkFacts['encodings'][number];
type PageHeader = Parameters<typeof writePageHeader>[1];

/** Writes the definition levels of a column: 1 for a value, 0 for an absent value. */
export function levelsOf<Value>(
  values: readonly Value[],
  isPresent: (value: Value) => boolean,
): { readonly levels: Uint8Array; readonly nulls: number } {
  const levels = new Uint8Array(values.length);
  let nulls = 0;
  for (let i = 0; i < values.length; i++) {
    if (isPresent(values[i]!)) levels[i] = 1;
    else nulls++;
  }
  const written = new ByteWriter();
  writeRleBitPackedHybrid(written, levels, 1);
  return { levels: written.getBytes(), nulls };
}

interface DataPage {
  readonly count: number;
  readonly nulls: number;
  readonly encoding: PageEncoding;
  readonly levels: Uint8Array;
  readonly values: Uint8Array;
  /** True to compress the values. */
  readonly isPacked: boolean;
}

/** The pages of a column in a row group. */
export class ChunkWriter {
  readonly #out: ByteWriter;
  readonly #name: string;
  readonly #type: ChunkFacts['type'];
  readonly #start: number;
  readonly #encodings: PageEncoding[] = [];
  #dictionaryAt: bigint | undefined;
  #dataAt = 0n;
  #unpackedBytes = 0;

  constructor(out: ByteWriter, name: string, type: ChunkFacts['type']) {
    this.#out = out;
    this.#name = name;
    this.#type = type;
    this.#start = out.offset;
  }

  dictionaryPage(count: number, texts: Uint8Array): void {
    const packed = snappyCompress(texts);
    this.#dictionaryAt = BigInt(this.#out.offset);
    this.#encodings.push('PLAIN');
    this.#page([packed], texts.length, {
      type: 'DICTIONARY_PAGE',
      dictionary_page_header: { num_values: count, encoding: 'PLAIN' },
    });
  }

  dataPage({ count, nulls, encoding, levels, values, isPacked }: DataPage): void {
    this.#dataAt = BigInt(this.#out.offset);
    this.#encodings.push(encoding);
    this.#page([levels, isPacked ? snappyCompress(values) : values], levels.length + values.length, {
      type: 'DATA_PAGE_V2',
      data_page_header_v2: {
        num_values: count,
        num_nulls: nulls,
        num_rows: count,
        encoding,
        definition_levels_byte_length: levels.length,
        repetition_levels_byte_length: 0,
        is_compressed: isPacked,
      },
    });
  }

  end(count: number, codec: ChunkFacts['codec'], statistics?: ChunkFacts['statistics']): ColumnChunk {
    return {
      file_offset: BigInt(this.#start),
      meta_data: {
        type: this.#type,
        encodings: this.#encodings,
        path_in_schema: [this.#name],
        codec,
        num_values: BigInt(count),
        total_uncompressed_size: BigInt(this.#unpackedBytes),
        total_compressed_size: BigInt(this.#out.offset - this.#start),
        data_page_offset: this.#dataAt,
        ...(this.#dictionaryAt !== undefined && { dictionary_page_offset: this.#dictionaryAt }),
        ...(statistics && { statistics }),
      },
    };
  }

  #page(
    parts: readonly Uint8Array[],
    uncompressed_page_size: number,
    header: Omit<PageHeader, 'uncompressed_page_size' | 'compressed_page_size'>,
  ): void {
    const headerAt = this.#out.offset;
    const compressed_page_size = parts.reduce((bytes, part) => bytes + part.length, 0);
    writePageHeader(this.#out, { ...header, uncompressed_page_size, compressed_page_size });
    this.#unpackedBytes += this.#out.offset - headerAt + uncompressed_page_size;
    for (const part of parts) this.#out.appendBytes(part);
  }
}
