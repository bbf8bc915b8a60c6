import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Hex } from '../../../src/domain/hex.ts'

/** What a process that pays is told. */
export type PayerInput = {
  readonly databaseUrl: string
  readonly rpcUrls: readonly string[]
  readonly token: Hex
  readonly treasuryKey: Hex
  readonly relayerKeys: readonly Hex[]
  readonly fundingKey: Hex
}

export type PayerProcess = {
  start(input: PayerInput): void
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
}

/** A process that pays, to be killed at any moment. */
export function createPayerProcess(script: 'engine.ts' | 'plain-transfers.ts', logFile: string): PayerProcess {
  const path = fileURLToPath(new URL(script, import.meta.url))
  let child: ChildProcess | null = null
  return {
    start(input) {
      child = spawn(process.execPath, ['--import', 'tsx', path, JSON.stringify(input)], {
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const log = createWriteStream(logFile, { flags: 'a' })
      child.stdout?.pipe(log)
      child.stderr?.pipe(log)
    },
    async kill() {
      const running = child
      child = null
      if (running === null || running.exitCode !== null || running.signalCode !== null) return
      running.kill('SIGKILL')
      await once(running, 'exit')
    },
  }
}
