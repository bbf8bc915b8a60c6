import type { DriverChoice } from '../../scripts/system/drivers.ts'
import { createOffering, type Offering } from '../../src/domain/partner/offering.ts'

/** Returns what a deployment with these drivers offers; those of the simulators serve everything. */
export const createTestOffering = (drivers: DriverChoice = {}, { crypto = false } = {}): Offering =>
  createOffering(
    { wallet_app: 'simulator', card_partner: 'simulator', local_partner: 'simulator', ...drivers },
    { crypto },
  )
