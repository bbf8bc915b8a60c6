#!/usr/bin/env node
import { ApiError, ConnectionError } from '../errors.ts'
import { listen } from './listen.ts'
import { followLog } from './logs.ts'
import { createSandbox } from './sandbox.ts'
import { UsageError } from './usage.ts'

/** The command of the package, for a merchant's developers. It uses the API with a key, and needs no dashboard. */

const HELP = `usage: pinrail <command> [options]

listen --to <url>      sends the events of your account to a server on your machine, in order and signed, as Pinrail
                       sends webhooks
  --to <url>           where to send them, such as http://localhost:3000/webhooks
  --since <number>     begin after this sequence number; 0 is everything of the last 90 days.
                       By default it goes on where it ended, and the first time with the next event
  --types <a,b>        send only these types
  --skip-failed        go on after an event that was refused; without it the event is sent again until it is accepted
  --json               print a line of JSON for each try

logs                   prints the requests of your programs as they arrive
  --errors             only those with the status 400 or above
  --path <text>        only those with this text in their path
  --once               print the last requests and end
  --json               print a line of JSON for each request

sandbox                creates a test account, and prints the variables that the other commands and your server need
  --name <name>        the name of the shop
  --wallet <address>   where the test USDC goes
  --webhook-url <url>  a public endpoint for webhooks; on your machine use listen
  --json               print one JSON object

PINRAIL_URL            the URL of your Pinrail, such as https://pay.example.com
PINRAIL_API_KEY        an API key: listen needs the scope events:read, logs the scope audit:read, sandbox no key
PINRAIL_WEBHOOK_SECRET signs what listen sends; by default a secret that stays the same
`

const COMMANDS: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  listen,
  logs: followLog,
  sandbox: createSandbox,
}

async function main([command, ...args]: readonly string[]): Promise<void> {
  if (command === undefined || command === 'help' || command === '--help') return void process.stdout.write(HELP)
  const run = COMMANDS[command]
  if (run === undefined) throw new UsageError(`There is no command ${command}.`)
  await run(args)
}

/** `parseArgs` throws a TypeError with a code. */
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
