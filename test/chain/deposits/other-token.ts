import type { Hex } from '../../../src/domain/hex.ts'
import { type Fixture, TOKEN } from '../fixture.ts'

/**
 * Puts a contract at `token` that returns a balance for `to`, and sends that there. Called without data it emits
 * Transfer(from, to, value), as ERC-20 requires. Returns the transaction.
 */
export async function sendOtherToken(fixture: Fixture, { token, to }: { token: Hex; to: Hex }): Promise<Hex> {
  const emits = `6207a1205f5273${to.slice(2)}5f7f${'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'}60205fa300`
  const answers = `5b60043573${to.slice(2)}146207a120025f5260205ff3`
  await fixture.chain.setCode({ address: token, bytecode: `0x36604657${emits}${answers}` })
  const { treasury } = fixture
  await fixture.chain.setBalance({ address: treasury.address, value: 10n ** 18n })
  const raw = await treasury.signTransaction({
    type: 'eip1559',
    chainId: TOKEN.chainId,
    nonce: await fixture.chain.getTransactionCount({ address: treasury.address }),
    to: token,
    gas: 200_000n,
    maxFeePerGas: 10n ** 12n,
    maxPriorityFeePerGas: 10n ** 9n,
  })
  return fixture.chain.sendRawTransaction({ serializedTransaction: raw })
}
