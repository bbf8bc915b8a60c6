import { randomBytes } from 'node:crypto'
import { DEVELOPMENT_MARK } from '../../src/config.ts'

/** Made once for a data folder, for development only. */
export type Secrets = {
  postgresPassword: string
  apiKeyPepper: string
  /** 32 bytes in base64: the format has no room for the mark. */
  webhookEncryptionKey: string
  walletApp: string
  cardPartner: string
  localPartner: string
  converter: string
  /** Of the demo merchant's webhook endpoint, `whsec_…`. */
  webhookSecret: string
  /** Private keys, `0x…`: the treasury, the lanes that pay for gas, the demo merchant's wallet. */
  treasuryKey: string
  relayerKeys: string[]
  merchantKey: string
}

export function generateSecrets(): Secrets {
  return {
    postgresPassword: marked(),
    apiKeyPepper: marked(),
    webhookEncryptionKey: randomBytes(32).toString('base64'),
    walletApp: marked(),
    cardPartner: marked(),
    localPartner: marked(),
    converter: marked(),
    webhookSecret: `whsec_${randomBytes(32).toString('base64')}`,
    treasuryKey: privateKey(),
    relayerKeys: [privateKey(), privateKey()],
    merchantKey: privateKey(),
  }
}

/** Live mode refuses every secret with this mark in it. */
const marked = (): string => `${DEVELOPMENT_MARK}-${randomBytes(24).toString('hex')}`

/** Any 32 bytes are a key but for a few that chance never hits (zero, and those above the curve's order). */
const privateKey = (): string => `0x${randomBytes(32).toString('hex')}`
