import { generatePrivateKey, type LocalAccount, privateKeyToAccount } from 'viem/accounts'
import { encodeFunctionData } from 'viem/utils'
import { DEVELOPMENT_CHAIN_ID } from '../../../scripts/system/anvil.ts'
import { createDb, type Db } from '../../../src/db/db.ts'
import type { Hex } from '../../../src/domain/hex.ts'
import { mintUsdc, usdcAdminAbi } from '../../../src/sandbox/chain.ts'
import { composeEngine } from '../../settlement/compose.ts'
import { newRecipient, onlyTreasury, queueOwed } from '../../settlement/payouts.ts'
import type { Setup } from '../../settlement/setup.ts'

type GasFigure = { readonly name: string; readonly gas: number }

/**
 * Measures the gas for each payout in batches of 1, 10 and 100, to new and to known recipients, and of a plain
 * transfer.
 */
export async function measureGas(setup: Setup): Promise<GasFigure[]> {
  await setup.createDatabase('gas')
  const db = createDb({ url: setup.databaseUrl('gas'), livemode: false })
  const figures: GasFigure[] = []
  try {
    const payer = await plainPayer(setup)
    const target = newRecipient()
    for (const kind of ['new', 'known'])
      figures.push({ name: `plain_${kind}`, gas: await plainTransfer(setup, payer, target) })
    for (const size of [1, 10, 100]) {
      const recipients = Array.from({ length: size }, newRecipient)
      for (const kind of ['new', 'known'])
        figures.push({
          name: `batch_${size}_${kind}`,
          gas: await batch(setup, db, { name: `${size}_${kind}`, recipients }),
        })
    }
  } finally {
    await db.close()
  }
  return figures
}

/** Settles one payout to each recipient, all in one transaction. Returns the gas for each. */
async function batch(setup: Setup, db: Db, { name, recipients }: { name: string; recipients: Hex[] }): Promise<number> {
  const { treasuryKey, relayerKeys, rpcUrl } = setup
  const ignore = (): void => undefined
  const engine = composeEngine({
    db,
    rpcUrls: [rpcUrl],
    treasuryKey,
    relayerKeys: relayerKeys.slice(0, 1),
    log: { info: ignore, warn: ignore, error: ignore },
    everyMs: 0,
    // Each call has a new engine, which need not wait for its predecessor.
    options: { leaseMs: 0 },
  })
  const owed = recipients.map((recipient, index) => ({
    paymentId: `pay_gas_${name}_${index}`,
    recipient,
    micro: 1_000_000n,
  }))
  await queueOwed(db, owed, { token: setup.token, treasuries: onlyTreasury(treasuryKey) })
  for (let round = 0; round < 3; round++) {
    await engine.tick()
    await setup.chain.mine({ blocks: 3 })
  }
  const { rows } = await db.query(
    `select gas_used::float8 as gas from lane_tx where state = 'finalized' order by nonce desc limit 1`,
  )
  return (rows[0] as { gas: number }).gas / recipients.length
}

/** Returns a wallet with USDC and gas money, which is not the treasury: the solvency watch would stop the lanes. */
async function plainPayer({ chain }: Setup): Promise<LocalAccount> {
  const payer = privateKeyToAccount(generatePrivateKey())
  await chain.setBalance({ address: payer.address, value: 10n ** 20n })
  await mintUsdc(chain, { to: payer.address, micro: 10n ** 9n })
  return payer
}

async function plainTransfer({ chain, token }: Setup, payer: LocalAccount, to: Hex): Promise<number> {
  const data = encodeFunctionData({ abi: usdcAdminAbi, functionName: 'transfer', args: [to, 1_000_000n] })
  const nonce = await chain.getTransactionCount({ address: payer.address })
  const call = { type: 'eip1559', chainId: DEVELOPMENT_CHAIN_ID, nonce, to: token, data, gas: 200_000n } as const
  const raw = await payer.signTransaction({ ...call, maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 10n })
  const hash = await chain.sendRawTransaction({ serializedTransaction: raw })
  await chain.mine({ blocks: 1 })
  return Number((await chain.getTransactionReceipt({ hash })).gasUsed)
}
