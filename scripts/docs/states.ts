import { PAYMENT_STATUSES, TRANSITIONS } from '../../src/domain/payment/payment.ts'

/** docs/payment-states.md: the transition table as a diagram and as a list, so that neither can be out of date. */
export function paymentStates(): string {
  const left = new Set<string>(TRANSITIONS.map(([from]) => from))
  const final = PAYMENT_STATUSES.filter((status) => !left.has(status))
  return `# The states of a payment

Written by \`npm run docs\` from the table in \`src/domain/payment/payment.ts\`, which the workflow, the SQL guard and the API ask.
A move that is not listed here is refused by the database too.

\`\`\`mermaid
stateDiagram-v2
  [*] --> ${PAYMENT_STATUSES[0]}
${TRANSITIONS.map(([from, to]) => `  ${from} --> ${to}`).join('\n')}
${final.map((status) => `  ${status} --> [*]`).join('\n')}
\`\`\`

| from | to | why |
| --- | --- | --- |
${TRANSITIONS.map(([from, to, why]) => `| \`${from}\` | \`${to}\` | ${why} |`).join('\n')}

\`expired\`, \`canceled\` and \`failed\` are closed to the buyer but not to money: while a partner order is not proved dead,
the payment listens for it. \`succeeded\` is entered only by the transaction that proves the payout in a finalized block.
`
}
