import { TOKEN, WALLET } from './examples.ts'

export const RESERVE_RELEASE = {
  id: 'rel_01mr0xv600gwat0r9bmnbj2cc8',
  object: 'reserve_release',
  livemode: false,
  due_on: '2027-02-21',
  payments: 3,
  amount_usdc: '32.498000',
  wallet: WALLET.toLowerCase(),
  chain_id: 137,
  token: TOKEN.toLowerCase(),
  tx_hash: `0x${'4b7e'.repeat(16)}`,
  finalized_at: '2027-02-21T00:07:31.000Z',
  created_at: '2027-02-21T00:06:02.000Z',
}
