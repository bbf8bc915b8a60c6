import type { ExportFile } from '../exports/file.ts'

export type Answer = {
  readonly status: number
  /** Text is sent unchanged: a stored response is repeated byte for byte. */
  readonly body: object | string
  readonly headers?: Readonly<Record<string, string>>
  readonly file?: ExportFile
}
