#!/usr/bin/env node
import { parseArgs } from 'node:util'
import { createPinrail } from '../client.ts'
import { ApiError, ConnectionError } from '../errors.ts'
import { openCursor } from './cursor.ts'
import { forwardEvents } from './forward.ts'

/** The command of the package, for a merchant's developers. It uses the API with a key, and needs no dashboard. */

const HELP = `usage: pinrail listen --to <url> [options]

Sends the events of your account to a server on your machine, in order and signed, as Pinrail sends webhooks.

  --to <url>           where to send them, such as http://localhost:3000/webhooks
  --since <number>     begin after this sequence number; 0 is everything of the last 90 days.
                       By default it goes on where it ended, and the first time with the next event
  --types <a,b>        send only these types
  --skip-failed        go on after an event that was refused; without it the event is sent again until it is accepted
  --json               print a line of JSON for each try

PINRAIL_API_KEY        an API key with the scope events:read
PINRAIL_URL            the URL of your Pinrail, such as https://pay.example.com
`

class UsageError extends Error {}

async function main(args: readonly string[]): Promise<void> {
  const [command, ...rest] = args
  if (command === undefined || command === 'help' || command === '--help') return void process.stdout.write(HELP)
  if (command !== 'listen') throw new UsageError(`There is no command ${command}.`)
  const { values } = parseArgs({
    args: rest,
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
  const cursor = await openCursor(process.env['XDG_STATE_HOME'], { baseUrl, apiKey, target }, async () => {
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

function readVariable(name: 'PINRAIL_API_KEY' | 'PINRAIL_URL'): string {
  const value = process.env[name]
  if (value === undefined || value === '') throw new UsageError(`Set ${name}.`)
  return value
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

const isUsage = (error: unknown): boolean =>
  error instanceof UsageError || (error instanceof TypeError && 'code' in error)

try {
  await main(process.argv.slice(2))
} catch (error) {
  const isKnown = isUsage(error) || error instanceof ApiError || error instanceof ConnectionError
  process.stderr.write(`${isKnown ? (error as Error).message : String(error)}\n`)
  if (isUsage(error)) process.stderr.write(`\n${HELP}`)
  process.exitCode = isUsage(error) ? 2 : 1
}
