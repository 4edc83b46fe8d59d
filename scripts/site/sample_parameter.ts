/** The value of a parameter in a sample: a text, or a time before now. */
export type SampleValue = string | { readonly agoS: number; readonly digits: '' | '000000000' };

/** A parameter of a request that a reader of the page may send. */
export interface SampleParameter {
  readonly name: string;
  readonly required: boolean;
  readonly value: SampleValue;
}
