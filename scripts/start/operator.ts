import { privateKeyToAddress } from 'viem/accounts'
import type { Hex } from '../../src/domain/hex.ts'
import { runPinrail } from '../../src/operator/command.ts'
import { readMemory } from '../system/data-folder.ts'
import { addressesOf, environmentsOf } from '../system/environment.ts'
import { DEFAULT_PORTS } from '../system/ports.ts'

/**
 * Runs the operator's command with the variables of the system that `npm start` runs, where the caller sets none. A
 * migration alone must be told its database: the wrong one would be migrated, and the right one left as it is.
 */
export function main(args: readonly string[]): Promise<number> {
  const isMigration = args[0] === 'migrate'
  const ofSystem = isMigration ? {} : variablesOf(process.env['PINRAIL_DATA'] ?? '.data')
  const env = { ...ofSystem, ...process.env }
  const out = (text: string): void => void process.stdout.write(text)
  return runPinrail({ args, env }, { out, err: (text) => void process.stderr.write(text) })
}

function variablesOf(dataFolder: string): Record<string, string> {
  const memory = readMemory(dataFolder)
  if (memory === null) return {}
  const ports = { ...DEFAULT_PORTS, ...memory.ports }
  const addresses = addressesOf(ports, memory.secrets, {})
  const { worker } = environmentsOf({ addresses, ports, secrets: memory.secrets, dataFolder })
  return { ...worker, TREASURIES: privateKeyToAddress(memory.secrets.treasuryKey as Hex) }
}
