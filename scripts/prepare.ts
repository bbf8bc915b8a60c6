import { text } from 'node:stream/consumers'
import { migrate } from '../src/db/migrate.ts'
import { prepareDevelopmentChain } from '../src/sandbox/chain.ts'
import type { PrepareInput, PrepareResult } from './system/prepare.ts'
import { seedDemo } from './system/seed.ts'

/**
 * Brings database and chain to where the system can start: the schema, USDC at its real address with a funded
 * treasury, the demo merchant. Doing it again changes nothing. Reads its input from standard input and answers on
 * standard output, both JSON.
 */
const input = JSON.parse(await text(process.stdin)) as PrepareInput

const prepareChain = async (): Promise<void> => {
  if (input.chain !== null) await prepareDevelopmentChain(input.chain.rpcUrl, input.chain)
}
const prepareDatabase = async (): Promise<PrepareResult> => {
  await migrate(input.databaseUrl)
  return seedDemo(input.demo, input.databaseUrl)
}

const [result] = await Promise.all([prepareDatabase(), prepareChain()])
process.stdout.write(JSON.stringify(result))
