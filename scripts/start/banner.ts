import type { SystemInfo } from '../system.ts'

/** Returns what a person needs first: every link, the test key, and a command that makes a payment. */
export function banner(info: SystemInfo, seconds: string): string {
  const rows = [
    ['Dashboard', `${info.dashboard_url}  (press "Enter the demo shop")`],
    ['Docs', `${info.api_url}/docs`],
    ['API', `${info.api_url}/v1`],
    ['Mail inbox', `${info.inbox_url}/mail`],
    ['Chat', `${info.inbox_url}/chat`],
    ['Webhook inbox', `${info.inbox_url}/deliveries`],
    ...(info.temporal_ui_url === '' ? [] : [['Temporal UI', info.temporal_ui_url]]),
    ['Temporal', info.temporal_address],
    ['RPC', `${info.rpc_url}  (chain ${info.chain_id}, USDC ${info.usdc_address})`],
    ['Database', info.database_url],
    ['Merchant wallet', info.merchant_wallet],
    ['Secret key', info.secret_key],
    ['Webhook secret', info.webhook_secret],
  ]
  const lines = rows.map(([name = '', value = '']) => `  ${name.padEnd(16)} ${value}`)
  return `
Ready in ${seconds} s. Everything is local, no real money.

${lines.join('\n')}

Make a payment, then open its checkout_url:

${curlLine(info)}

Press Ctrl-C to stop everything. \`npm start\` continues where it stopped; \`npm run reset\` starts from scratch.

`
}

/** Returns a command that works in any POSIX shell. */
export function curlLine(info: SystemInfo): string {
  const body = '{"amount":49.90,"currency":"EUR","provider":"wallet_app","description":"Order 1001"}'
  return `curl -s ${info.api_url}/v1/payments -H 'authorization: Bearer ${info.secret_key}' -H 'content-type: application/json' -d '${body}'`
}
