import { parseSignature, type SerializeTransactionFn, serializeTransaction } from 'viem'
import { type LocalAccount, toAccount } from 'viem/accounts'
import { hashMessage, hashTypedData } from 'viem/utils'
import type { Hex } from '../../domain/hex.ts'
import { keccak256 } from '../../evm/keccak.ts'

export type HashSigner = {
  readonly address: Hex
  /** Uncompressed, 0x04 and both coordinates. */
  readonly publicKey: Hex
  /** r, s (the low one) and v (27 or 28) of a 32-byte hash: the token refuses every other form. */
  readonly sign: (hash: Hex) => Promise<Hex>
}

export function accountSigningBy({ address, publicKey, sign }: HashSigner): LocalAccount {
  const account = toAccount({
    address,
    sign: ({ hash }) => sign(hash),
    signMessage: ({ message }) => sign(hashMessage(message)),
    signTypedData: (typedData) => sign(hashTypedData(typedData)),
    signTransaction: async (transaction, options) => {
      const serialize = (options?.serializer ?? serializeTransaction) as SerializeTransactionFn
      const signature = parseSignature(await sign(keccak256(await serialize(transaction))))
      return serialize(transaction, signature)
    },
  })
  return { ...account, publicKey, source: 'privateKey' }
}
