import type { TicksealError } from '../connect/errors.js';
import type { PayloadReport } from '../verify/verify_payload.js';
import type { SourcedPrice } from './merger.js';

/** A payload that passed all checks. */
export type PassedReport = Exclude<PayloadReport, { readonly verdict: 'failed' }>;

/** A payload that passed all checks, with its hex. */
export interface ReportedPayload {
  readonly report: PassedReport;
  readonly hex: string;
}

/** The events of the prices of one service. */
export interface SourceEvents {
  /** @param serviceMs returns the current time of the service */
  readonly onPrice: (price: SourcedPrice, report: PassedReport, serviceMs: () => number) => void;
  /**
   * Called with the wanted symbols that this service does not have. The call follows every event that may change these
   * symbols.
   */
  readonly onMissing: (symbols: readonly string[]) => void;
  /**
   * Called with the time of each payload, before its prices.
   * @param isAfterLoss true when payloads of the connection before this payload were lost
   */
  readonly onPayload: (timestampNs: bigint, isAfterLoss: boolean) => void;
  /** Called when the connection was lost. */
  readonly onDown: () => void;
  /** Called when this service will send no further price. */
  readonly onEnded: (error: TicksealError) => void;
}
