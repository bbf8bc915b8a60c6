import type { ExportFile } from '../exports/file.ts'

/** The response of a route. */
export type Answer = {
  readonly status: number
  /** Text is sent unchanged: a stored response is repeated byte for byte. */
  readonly body: object | string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent chunk by chunk instead of the body. */
  readonly file?: ExportFile
}
