import type { ExportFile } from '../exports/file.ts'

/** What a route answers with. */
export type Answer = {
  readonly status: number
  /** Text is sent as it is: a stored answer is repeated byte for byte. */
  readonly body: object | string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent piece by piece in place of the body. */
  readonly file?: ExportFile
}
