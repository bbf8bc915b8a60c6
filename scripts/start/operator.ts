import { privateKeyToAddress } from 'viem/accounts'
import type { Hex } from '../../src/domain/hex.ts'
import { runPinrail } from '../../src/operator/command.ts'
import { openStreams } from '../../src/operator/streams.ts'
import { readMemory } from '../system/data-folder.ts'
import { createAddresses, createEnvironments } from '../system/environment.ts'
import { DEFAULT_PORTS } from '../system/ports.ts'

/**
 * Runs the operator's command with the variables of the system that `npm start` runs, if the caller sets none. Only a
 * migration must be given its database: the wrong one would be migrated, and the right one left as it is.
 */
export function main(args: readonly string[]): Promise<number> {
  const isMigration = args[0] === 'migrate'
  const ofSystem = isMigration ? {} : readVariables(process.env['PINRAIL_DATA'] ?? '.data')
  const env = { ...ofSystem, ...process.env }
  return runPinrail({ args, env, name: NAMES[process.env['npm_lifecycle_event'] ?? ''] ?? 'pinrail' }, openStreams())
}

/** The words that a person types for `pinrail`, by the name that npm gives the run. */
const NAMES: Readonly<Record<string, string>> = { pinrail: 'npm run pinrail --', npx: 'npx pinrail' }

function readVariables(dataFolder: string): Record<string, string> {
  const memory = readMemory(dataFolder)
  if (memory === null) return {}
  const ports = { ...DEFAULT_PORTS, ...memory.ports }
  const addresses = createAddresses(ports, memory.secrets, {})
  const { worker } = createEnvironments({ addresses, ports, secrets: memory.secrets, dataFolder })
  return { ...worker, TREASURIES: privateKeyToAddress(memory.secrets.treasuryKey as Hex) }
}
