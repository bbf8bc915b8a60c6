import { text } from 'node:stream/consumers'
import { migrate, OtherVersion } from '../src/db/migrate.ts'
import { prepareDevelopmentChain } from '../src/sandbox/chain.ts'
import { type PrepareInput, type PrepareResult, REFUSED } from './system/prepare.ts'
import { seedDemo } from './system/seed.ts'

/**
 * Prepares database and chain for the start of the system: the schema, USDC at its real address with a funded
 * treasury, the demo merchant. Idempotent. Reads JSON from standard input and writes JSON to standard output.
 */
const input = JSON.parse(await text(process.stdin)) as PrepareInput

const prepareChain = async (): Promise<void> => {
  if (input.chain !== null) await prepareDevelopmentChain(input.chain.rpcUrl, input.chain)
}
const prepareDatabase = async (): Promise<PrepareResult> => {
  await migrate(input.databaseUrl)
  return seedDemo(input.demo, input.databaseUrl)
}

try {
  const [result] = await Promise.all([prepareDatabase(), prepareChain()])
  process.stdout.write(JSON.stringify(result))
} catch (error) {
  if (!(error instanceof OtherVersion)) throw error
  process.stderr.write(error.message)
  process.exit(REFUSED)
}
