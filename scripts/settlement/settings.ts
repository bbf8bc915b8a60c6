import { privateKeyToAddress } from 'viem/accounts'
import { z } from 'zod'
import { MISTAKEN_TOKENS } from '../../src/config.ts'
import type { Hex } from '../../src/domain/payout.ts'
import { readMemory } from '../system/data-folder.ts'
import { addressesOf, environmentsOf } from '../system/environment.ts'
import { DEFAULT_PORTS } from '../system/ports.ts'

const list = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
)
const lower = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform((value) => value.toLowerCase() as Hex)

const schema = z.object({
  DATABASE_URL: z.url(),
  POLYGON_RPC_URLS: list.pipe(z.array(z.url()).min(1)),
  FINALITY_QUORUM: z.coerce.number().int().min(1).default(1),
  PINRAIL_MODE: z.enum(['test', 'live']).default('test'),
  PUBLIC_URL: z.url(),
  CHAIN_ID: z.coerce.number().int().positive(),
  USDC_ADDRESS: lower,
  SETTLEMENT_START_BLOCK: z.coerce.number().int().min(0).default(0),
  /** Every treasury there ever was; those that this database knows are added. */
  TREASURY_ADDRESSES: list.pipe(z.array(lower)).default([]),
  /** As the worker has them. */
  DEPOSIT_WRONG_TOKENS: list.default(MISTAKEN_TOKENS).pipe(z.array(lower)),
  RETIRED_TREASURIES: list.pipe(z.array(lower)).default([]),
})

export type Settings = z.infer<typeof schema>

/** The variables of the worker; where they are not set, those of the system that `npm start` runs from the data folder. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const result = schema.safeParse({ ...ofDataFolder(env['PINRAIL_DATA'] ?? '.data'), ...env })
  if (result.success) return result.data
  const missing = result.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`)
  throw new Error(`Set the variables of the worker, or run \`npm start\` first:\n${missing.join('\n')}`)
}

function ofDataFolder(path: string): Record<string, string> {
  const memory = readMemory(path)
  if (memory === null) return {}
  const ports = { ...DEFAULT_PORTS, ...memory.ports }
  const addresses = addressesOf(ports, memory.secrets, {})
  const { worker } = environmentsOf({ addresses, ports, secrets: memory.secrets, dataFolder: path })
  return { ...worker, TREASURY_ADDRESSES: privateKeyToAddress(memory.secrets.treasuryKey as Hex) }
}
