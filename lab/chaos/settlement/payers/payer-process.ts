import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Hex } from '../../../../src/domain/hex.ts'
import type { Treasury } from '../../../../src/domain/settlement/treasuries.ts'

export type PayerKeys = {
  readonly treasuryKey: Hex
  readonly retiredTreasuryKeys: readonly Hex[]
  readonly treasuryList: readonly Treasury[]
  readonly relayerKeys: readonly Hex[]
  readonly fundingKey: Hex
  readonly depositSeed: string
}

export type PayerInput = PayerKeys & {
  readonly databaseUrl: string
  readonly rpcUrls: readonly string[]
  readonly token: Hex
  readonly refusalChance: number
}

export type PayerProcess = {
  start(input: PayerInput): void
  isUp(): boolean
  /** Sends SIGKILL; resolves when the process has ended. */
  kill(): Promise<void>
  endFaults(): void
}

type PayerSetup = {
  readonly script: 'engine.ts' | 'plain-transfers.ts'
  readonly logFile: string
  readonly onRefusal: () => void
}

type Message = 'up' | 'refused'

export function createPayerProcess({ script, logFile, onRefusal }: PayerSetup): PayerProcess {
  const path = fileURLToPath(new URL(script, import.meta.url))
  let child: ChildProcess | null = null
  let up = false
  return {
    isUp: () => up,
    start(input) {
      child = spawn(process.execPath, ['--import', 'tsx', path, JSON.stringify(input)], {
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      })
      const log = createWriteStream(logFile, { flags: 'a' })
      child.stdout?.pipe(log)
      child.stderr?.pipe(log)
      child.on('message', (message: Message) => {
        if (message === 'up') up = true
        else onRefusal()
      })
    },
    endFaults() {
      if (child?.connected === true) child.send('endFaults')
    },
    async kill() {
      const running = child
      child = null
      up = false
      if (running === null || running.exitCode !== null || running.signalCode !== null) return
      running.kill('SIGKILL')
      await once(running, 'exit')
    },
  }
}
