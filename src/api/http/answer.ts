import type { ExportFile } from '../exports/file.ts'

export type Answer<T = unknown> = {
  readonly status: number
  /** Text is sent unchanged: a stored response is repeated byte for byte. */
  readonly body: T | string
  readonly headers?: Readonly<Record<string, string>>
  readonly file?: ExportFile
}

/** True if it is the stored response of an earlier request: nothing has changed now. */
export const isReplay = ({ headers }: Answer): boolean => headers?.['idempotent-replayed'] === 'true'
