import { randomBytes } from 'node:crypto'
import { DEVELOPMENT_MARK } from '../../src/config/development.ts'

/** Created once for a data folder, for development only. */
export type Secrets = {
  postgresPassword: string
  apiKeyPepper: string
  /** 32 bytes in base64. */
  webhookEncryptionKey: string
  walletApp: string
  cardPartner: string
  localPartner: string
  converter: string
  webhookSecret: string
  /** Private keys, `0x…`: the treasury, the lanes that pay for gas, the demo merchant's wallet. */
  treasuryKey: string
  relayerKeys: string[]
  merchantKey: string
  /** Signs receipts: 32 bytes in base64. */
  receiptKey: string
  /** The keys of deposit addresses derive from it: 32 bytes in base64. */
  depositSeed: string
}

export function generateSecrets(): Secrets {
  return {
    postgresPassword: marked(),
    apiKeyPepper: marked(),
    webhookEncryptionKey: markedBytes().toString('base64'),
    walletApp: marked(),
    cardPartner: marked(),
    localPartner: marked(),
    converter: marked(),
    webhookSecret: `whsec_${markedBytes().toString('base64')}`,
    treasuryKey: privateKey(),
    relayerKeys: [privateKey(), privateKey()],
    merchantKey: privateKey(),
    receiptKey: markedBytes().toString('base64'),
    depositSeed: markedBytes().toString('base64'),
  }
}

const marked = (): string => `${DEVELOPMENT_MARK}-${randomBytes(24).toString('hex')}`

/** 32 bytes: the mark, and as many random ones. Whoever decodes a key sees the mark. */
const markedBytes = (): Buffer => Buffer.concat([Buffer.from(DEVELOPMENT_MARK), randomBytes(16)])

/** A number below the curve's order, because its first byte is a letter. */
const privateKey = (): string => `0x${markedBytes().toString('hex')}`
