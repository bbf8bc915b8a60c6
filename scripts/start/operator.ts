import { privateKeyToAddress } from 'viem/accounts'
import type { Hex } from '../../src/domain/hex.ts'
import { runCommand } from '../../src/operator/command.ts'
import { readMemory } from '../system/data-folder.ts'
import { addressesOf, environmentsOf } from '../system/environment.ts'
import { DEFAULT_PORTS } from '../system/ports.ts'

/** Runs the operator's command with the variables of the system that `npm start` runs, where the caller sets none. */
export function main(args: readonly string[]): Promise<number> {
  const env = { ...variablesOf(process.env['PINRAIL_DATA'] ?? '.data'), ...process.env }
  return runCommand({ args, env, say: (line) => void process.stdout.write(`${line}\n`) })
}

function variablesOf(dataFolder: string): Record<string, string> {
  const memory = readMemory(dataFolder)
  if (memory === null) return {}
  const ports = { ...DEFAULT_PORTS, ...memory.ports }
  const addresses = addressesOf(ports, memory.secrets, {})
  const { worker } = environmentsOf({ addresses, ports, secrets: memory.secrets, dataFolder })
  return { ...worker, TREASURY_ADDRESSES: privateKeyToAddress(memory.secrets.treasuryKey as Hex) }
}
