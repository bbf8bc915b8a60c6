/** A file that is made while it is read, so that it needs the memory of a piece. */
export type ExportFile = { readonly name: string; readonly type: string; readonly chunks: AsyncIterable<string> }

export const EXPORT_FORMATS = ['json', 'csv'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

export const CSV_TYPE = 'text/csv; charset=utf-8'
