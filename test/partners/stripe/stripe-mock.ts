import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { ensureStripeMock } from '../../../scripts/setup/programs/stripe-mock.ts'
import { createProgress } from '../../../scripts/setup/progress.mjs'
import { freePort, withFreePorts } from '../../../scripts/system/ports.ts'
import { type Child, supervise } from '../../../scripts/system/supervisor.ts'
import { listen } from '../sandbox-server.ts'

export type StripeMock = Awaited<ReturnType<typeof startStripeMock>>

/**
 * Stripe's own validator, which knows every path, parameter and enum of one version of its API and keeps no state, and
 * a proxy that asks it about each request before the request goes to the simulator.
 */
export async function startStripeMock() {
  const program = await ensureStripeMock(createProgress(process.stderr))
  const folder = mkdtempSync(join(tmpdir(), 'stripe-mock-'))
  const { child, url } = await withFreePorts(() => startProcess(program, folder))
  const checked: { readonly request: string; readonly refusal: string | null }[] = []

  async function check(call: Call): Promise<void> {
    const answer = await fetch(`${url}${call.path}`, {
      ...call.sent,
      // The only key that it accepts is one of test mode.
      headers: { ...call.sent.headers, authorization: 'Bearer sk_test_123' },
    })
    const refusal = answer.status < 400 ? null : await answer.text()
    checked.push({
      request: `${call.sent.method} ${call.path} ${Buffer.from(call.sent.body ?? []).toString()}`,
      refusal,
    })
  }

  async function pass(front: Front, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = await readCall(request)
    await check({ ...call, path: call.path.replace(/^\/[^/]+/, '') })
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const answer = await fetch(`${front.target}${call.path}`, { ...call.sent, signal: gone.signal })
    const retryAfter = answer.headers.get('retry-after')
    response.writeHead(answer.status, retryAfter === null ? {} : { 'retry-after': retryAfter })
    response.end(await answer.text())
  }

  const fronts: Front[] = []
  return {
    url,
    checked,
    /** Returns a function that puts the proxy in front of a simulator's URL. */
    async createFront(): Promise<(target: string) => string> {
      const front: Front = { target: '', close: () => undefined }
      const server = createServer((request, response) => {
        pass(front, request, response).catch(() => response.destroy())
      })
      const frontUrl = await listen(server)
      front.close = () => {
        server.closeAllConnections()
        server.close()
      }
      fronts.push(front)
      return (target) => {
        front.target = target
        return frontUrl
      }
    },
    async close() {
      for (const front of fronts) front.close()
      await child.stop(1000)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

type Front = { target: string; close: () => void }

type Call = {
  readonly path: string
  readonly sent: {
    readonly method: string
    readonly headers: Readonly<Record<string, string>>
    readonly body?: Uint8Array<ArrayBuffer>
  }
}

const NOT_FORWARDED = ['host', 'connection', 'content-length', 'transfer-encoding']

async function readCall(request: IncomingMessage): Promise<Call> {
  const headers = Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, value]) =>
      NOT_FORWARDED.includes(name) ? [] : [[name, String(value)]],
    ),
  )
  // Files are bytes.
  const body = new Uint8Array(await buffer(request))
  return {
    path: request.url ?? '/',
    sent: { method: request.method ?? 'GET', headers, ...(body.length > 0 && { body }) },
  }
}

async function startProcess(program: string, folder: string): Promise<{ child: Child; url: string }> {
  const [http, https] = [await freePort(), await freePort()]
  const url = `http://127.0.0.1:${http}`
  const child = supervise(
    {
      name: 'stripe-mock',
      command: program,
      // Without an address for HTTPS it opens one on every interface.
      args: ['-http-addr', `127.0.0.1:${http}`, '-https-addr', `127.0.0.1:${https}`, '-strict-version-check'],
      env: {},
      cwd: folder,
      stopSignal: 'SIGTERM',
      logFile: join(folder, 'log'),
      ready: () =>
        fetch(url).then(
          () => true,
          () => false,
        ),
    },
    { log: () => undefined, onPid: () => undefined },
  )
  await child.start()
  return { child, url }
}
