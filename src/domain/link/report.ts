export const REPORT_REASONS = ['fraud', 'pretends', 'forbidden', 'other'] as const
export type ReportReason = (typeof REPORT_REASONS)[number]
