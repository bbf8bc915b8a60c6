import { hostname, userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type History, historyToJSON } from '@temporalio/common/lib/proto-utils.js'

export const HISTORIES = fileURLToPath(new URL('../../test/histories', import.meta.url))
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export const historyFile = (name: string): string => join(HISTORIES, `${name}.json`)

/**
 * Returns the history as `temporal workflow show -o json` gives it, one event a line, without who and where recorded
 * it: the names of processes (`pid@host`) and the stack traces, which replay never reads.
 */
export function historyText(history: History): string {
  const { events } = JSON.parse(historyToJSON(history)) as { events: object[] }
  const lines = events.map((event) =>
    JSON.stringify(event, (key, value: unknown) => (key === 'stackTrace' ? undefined : value)),
  )
  const text = `{"events":[\n${lines.join(',\n')}\n]}\n`.replaceAll(/\d+@[\w.-]+/g, 'worker')
  refuseTraces(text)
  return text
}

/** Throws if a history names where it was recorded. Payloads are in base64, so their content is searched too. */
function refuseTraces(text: string): void {
  const payloads = [...text.matchAll(/"data":"([^"]*)"/g)].map(([, data = '']) =>
    Buffer.from(data, 'base64').toString(),
  )
  for (const trace of [`@${hostname()}`, ROOT, `/${userInfo().username}/`])
    if ([text, ...payloads].some((part) => part.includes(trace)))
      throw new Error(`a history names where it was recorded: ${trace}`)
}
