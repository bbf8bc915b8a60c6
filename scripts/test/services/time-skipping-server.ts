import { connect } from 'node:net'
import type { ProcessSpec } from '../../system/supervisor.ts'

export function timeSkippingSpec(options: {
  name: string
  program: string
  port: number
  logFile: string
}): ProcessSpec {
  return {
    name: options.name,
    command: options.program,
    args: [String(options.port)],
    env: { PATH: process.env['PATH'], JAVA_HOME: process.env['JAVA_HOME'] },
    cwd: '/',
    stopSignal: 'SIGTERM',
    logFile: options.logFile,
    ready: () => accepts(options.port),
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
