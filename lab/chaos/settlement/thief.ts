import { createWalletClient, http, keccak256, toBytes } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { signTransferAuthorization, type Token } from '../../../src/chain/authorization.ts'
import { multicallCodec } from '../../../src/chain/codec.ts'
import type { Db } from '../../../src/db/db.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { newRecipient } from '../../settlement/payouts.ts'
import type { Setup } from '../../settlement/setup.ts'

/** Micro-USDC of one theft: far less than the limit of a payout. */
const LOOT = 7_000_000n

/** Somebody who has the first treasury's key, and a wallet with gas money. */
export type Thief = {
  readonly address: Hex
  /**
   * Steals once, and steals the same again if a reorganization has undone it. Returns the transaction after the engine
   * has paused because of it in a final block; null before.
   */
  steal(db: Db): Promise<Hex | null>
}

export function createThief({ chain, token, rpcUrl, treasuryKey }: Setup): Thief {
  const address = newRecipient()
  const treasury = privateKeyToAccount(treasuryKey)
  const account = privateKeyToAccount(generatePrivateKey())
  const client = createWalletClient({ account, chain: foundry, transport: http(rpcUrl) })
  const scope: Token = { chainId: chain.chain.id, address: token, name: 'USD Coin' }

  async function carry(): Promise<void> {
    const from = treasury.address.toLowerCase() as Hex
    const validBefore = 4_000_000_000
    const nonce = keccak256(toBytes('loot'))
    const signature = await signTransferAuthorization(treasury, scope, {
      from,
      to: address,
      micro: LOOT,
      validBefore,
      nonce,
    })
    const signed = { kind: 'transfer', validBefore, signature } as const
    const loot = { ownerId: '', treasury: from, recipient: address, microUsdc: LOOT.toString(), authNonce: nonce }
    const { target, calldata } = multicallCodec.encode(token, [{ ...loot, signed }])
    await chain.setBalance({ address: account.address, value: 10n ** 20n })
    const fees = { maxFeePerGas: 400n * 10n ** 9n, maxPriorityFeePerGas: 40n * 10n ** 9n }
    await client.sendTransaction({ to: target, data: calldata, gas: 300_000n, ...fees })
  }

  return {
    address,
    async steal(db) {
      const { rows } = await db.query(
        `select l.tx_hash from treasury_log l, chain_cursor c
         where l.counterparty = $1 and l.known_as is null and l.applied_at is not null and c.pause is not null`,
        [address],
      )
      const [seen] = rows as { tx_hash: Hex }[]
      if (seen !== undefined) return seen.tx_hash
      const [pending, mined] = await Promise.all(
        (['pending', 'latest'] as const).map((blockTag) =>
          chain.getTransactionCount({ address: account.address, blockTag }),
        ),
      )
      if (pending === mined && pending === 0) await carry()
      return null
    },
  }
}
