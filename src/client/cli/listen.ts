import { parseArgs } from 'node:util'
import { createPinrail } from '../client.ts'
import { openCursor } from './cursor.ts'
import { forwardEvents } from './forward.ts'
import { readEnvironment, readVariable, UsageError } from './usage.ts'

export async function listen(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      to: { type: 'string' },
      since: { type: 'string' },
      types: { type: 'string' },
      'skip-failed': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  })
  const apiKey = readVariable('PINRAIL_API_KEY')
  const baseUrl = readVariable('PINRAIL_URL')
  const target = readTarget(values.to)
  const { events } = createPinrail({ apiKey, baseUrl })
  const cursor = await openCursor(readEnvironment(), { baseUrl, apiKey, target }, async () => {
    const { data } = await events.list({ limit: 1 })
    return data[0]?.sequence ?? 0
  })
  if (values.since !== undefined) cursor.move(readSequence(values.since))
  await forwardEvents({
    events,
    cursor,
    target,
    types: values.types?.split(',') ?? null,
    skipFailed: values['skip-failed'],
    isJson: values.json,
    print: (line) => process.stdout.write(`${line}\n`),
  })
}

function readTarget(text: string | undefined): string {
  if (text === undefined || !URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new UsageError('--to must be a URL, such as http://localhost:3000/webhooks.')
  return text
}

function readSequence(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new UsageError('--since must be a whole number.')
  return Number(text)
}
