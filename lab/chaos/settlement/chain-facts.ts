/** Reads the chain by plain JSON-RPC, without any of the service's code. */

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

type RawLog = { topics: string[]; data: string; transactionHash: string }

export type Transfer = { readonly to: string; readonly micro: bigint; readonly txHash: string }

async function ask<T>(rpcUrl: string, method: string, params: readonly unknown[]): Promise<T> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const answer = (await response.json()) as { result: T; error?: { message: string } }
  if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`)
  return answer.result
}

/** Reads every transfer of the token out of these wallets, since the first block. */
export function readTransfers(
  rpcUrl: string,
  query: { readonly token: string; readonly from: readonly string[] },
): Promise<Transfer[]> {
  return readLogs(rpcUrl, { address: query.token, toBlock: 'latest', topics: [TRANSFER, query.from.map(asTopic)] })
}

/** Reads every transfer of more than zero to these wallets, up to a block. */
export async function readDeposits(
  rpcUrl: string,
  query: { readonly token: string; readonly to: readonly string[]; readonly until: number },
): Promise<Transfer[]> {
  const toBlock = `0x${query.until.toString(16)}`
  const logs = await readLogs(rpcUrl, {
    address: query.token,
    toBlock,
    topics: [TRANSFER, null, query.to.map(asTopic)],
  })
  return logs.filter(({ micro }) => micro > 0n)
}

const asTopic = (address: string): string => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`

async function readLogs(rpcUrl: string, filter: object): Promise<Transfer[]> {
  const logs = await ask<RawLog[]>(rpcUrl, 'eth_getLogs', [{ fromBlock: '0x0', ...filter }])
  return logs.map((log) => ({
    to: `0x${(log.topics[2] ?? '').slice(-40)}`.toLowerCase(),
    micro: BigInt(log.data),
    txHash: log.transactionHash.toLowerCase(),
  }))
}

export const readNonce = async (rpcUrl: string, wallet: string): Promise<number> =>
  Number(await ask<string>(rpcUrl, 'eth_getTransactionCount', [wallet, 'latest']))

export async function readSent(rpcUrl: string, wallet: string): Promise<{ to: string; value: bigint }[]> {
  type Block = { transactions: { from: string; to: string | null; value: string }[] }
  const head = Number(await ask<string>(rpcUrl, 'eth_blockNumber', []))
  const sent: { to: string; value: bigint }[] = []
  for (let number = 0; number <= head; number++) {
    const { transactions } = await ask<Block>(rpcUrl, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, true])
    for (const { from, to, value } of transactions)
      if (from.toLowerCase() === wallet) sent.push({ to: (to ?? '').toLowerCase(), value: BigInt(value) })
  }
  return sent
}

export const readTokenBalance = async (
  rpcUrl: string,
  { token, wallet, block = 'latest' }: { token: string; wallet: string; block?: number | 'latest' },
): Promise<bigint> =>
  BigInt(
    await ask<string>(rpcUrl, 'eth_call', [
      { to: token, data: `0x70a08231${wallet.slice(2).padStart(64, '0')}` },
      block === 'latest' ? block : `0x${block.toString(16)}`,
    ]),
  )
