import type { PayloadReport } from '../verify/verify_payload.js';

/** A payload that passed all checks. */
export type PassedReport = Exclude<PayloadReport, { readonly verdict: 'failed' }>;

/** A payload that passed all checks, with its hex. */
export interface ReportedPayload {
  readonly report: PassedReport;
  readonly hex: string;
}
