import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { forward } from '../../../../test/support/anvil.ts'
import type { Random } from '../../../../test/support/random.ts'
import { newestIn, refuseLargeBatch, TROUBLES, type Trouble, troubled } from './trouble.ts'

export type LossyNode = {
  readonly url: string
  readonly lost: { requests: number; responses: number }
  refusedBatches: number
  readonly troubles: Record<Trouble, number>
  trouble: Trouble | null
  endFaults(): void
  close(): Promise<void>
}

/** A dripping body is whole after some minutes; no client should wait for it. */
const DRIP_MS = 200

/**
 * Starts a node that loses whole HTTP requests before the target has them, and answers after the target has acted on
 * them. One that is free takes no large batches, not even when there are no faults.
 */
export async function startLossyNode(
  target: string,
  chances: { readonly random: Random; readonly request: number; readonly response: number; readonly isFree?: boolean },
): Promise<LossyNode> {
  const { random } = chances
  const lost = { requests: 0, responses: 0 }
  let hasNoFaults = false
  let newest = 0
  const server = createServer((incoming, outgoing) => {
    const losesRequest = random.chance(chances.request) && !hasNoFaults
    const losesResponse = random.chance(chances.response) && !hasNoFaults
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const body = Buffer.concat(chunks)
      if (losesRequest) {
        lost.requests += 1
        outgoing.destroy()
        return
      }
      const refusal = chances.isFree === true ? refuseLargeBatch(body) : null
      if (refusal !== null) {
        node.refusedBatches += 1
        return void outgoing.writeHead(200, { 'content-type': 'application/json' }).end(refusal)
      }
      forward(target, body, (answer) => {
        if (losesResponse) lost.responses += 1
        if (losesResponse || answer === null) return void outgoing.destroy()
        newest = Math.max(newest, newestIn(body, answer))
        give(node, outgoing, { body, answer, newest })
      })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const node: LossyNode = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lost,
    refusedBatches: 0,
    troubles: Object.fromEntries(TROUBLES.map((trouble) => [trouble, 0])) as Record<Trouble, number>,
    trouble: null,
    endFaults() {
      hasNoFaults = true
      node.trouble = null
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return node
}

type Answered = { readonly body: Buffer; readonly answer: Buffer; readonly newest: number }

function give(node: LossyNode, outgoing: ServerResponse, answered: Answered): void {
  const { answer } = answered
  const { trouble } = node
  const other = trouble === null ? null : troubled(answered, trouble)
  if (trouble !== null && (other !== null || trouble === 'hang' || trouble === 'drip')) node.troubles[trouble] += 1
  if (trouble === 'hang') return
  outgoing.writeHead(200, { 'content-type': 'application/json' })
  if (trouble === 'drip') return drip(outgoing, answer)
  outgoing.end(other ?? answer)
}

function drip(outgoing: ServerResponse, answer: Buffer): void {
  let sent = 0
  const timer = setInterval(() => {
    if (outgoing.destroyed || sent >= answer.length) {
      clearInterval(timer)
      outgoing.end()
      return
    }
    outgoing.write(answer.subarray(sent, sent + 1))
    sent += 1
  }, DRIP_MS)
  timer.unref()
  outgoing.on('close', () => clearInterval(timer))
}
