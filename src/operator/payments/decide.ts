import { findPaymentId } from '../../db/operator/payments.ts'
import { loadPayment } from '../../db/payments/payments.ts'
import { readNewestEntry } from '../../db/payments/timeline.ts'
import { isId, paymentWorkflowId } from '../../domain/ids.ts'
import { CHANGED_SINCE } from '../../domain/payment/decision.ts'
import { ANSWERS } from '../../domain/payment/funds/answer.ts'
import { describeStepToOperator } from '../../domain/payment/operator-texts.ts'
import type { Decision } from '../../domain/payment/requests.ts'
import { toSnapshot } from '../../domain/payment/snapshot.ts'
import { createTemporalClient } from '../../temporal/connect.ts'
import { type DecisionOutcome, sendDecision } from '../../temporal/decisions.ts'
import { type CommandContext, Refusal, signedBy, UsageError } from '../call.ts'
import { describeEntry } from './entry-lines.ts'

/** It is not known whether the decision was carried out. */
export class Unknown extends Error {}

const FAIL: Readonly<Record<Exclude<DecisionOutcome['kind'], 'done'>, (message: string, subject: string) => Error>> = {
  refused: (message) => new Refusal(`refused: ${message}`),
  not_running: (message) =>
    new Refusal(`${message}. If a decision is possible, a worker starts the workflow within half a minute: try again`),
  unknown: (message, subject) =>
    new Unknown(`${message}: it is not known whether it was done. See \`pinrail payments explain ${subject}\``),
}

/** The payload is encrypted as the workers need it. An attempt instead of a payment names whose money goes back. */
export async function decidePayment(context: CommandContext): Promise<number> {
  const { db, settings, subjects, say: print, give } = context
  const [subject = '', word = ''] = subjects
  const say = ANSWERS.find((name) => name === word)
  if (say === undefined) throw new UsageError(`a decision is one of ${ANSWERS.join(', ')}`)
  const decision = readDecision(context, subject)
  const known = await findPaymentId(db, subject)
  if (known === null) throw new Refusal(`there is no payment or attempt ${subject}: see \`pinrail payments find\``)
  const temporal = createTemporalClient(settings)
  try {
    const outcome = await sendDecision(temporal.client, { workflowId: paymentWorkflowId(known), say, decision })
    if (outcome.kind !== 'done') throw FAIL[outcome.kind](await withNewest(context, known, outcome.message), known)
    give('status', outcome.status)
    give('message', outcome.message)
    print(
      `${known} is ${outcome.status}: ${outcome.message}. ${describeStepToOperator(toSnapshot(await loadPayment(db, known)))}`,
    )
    print(`Look again with \`pinrail payments explain ${known}\`.`)
    return 0
  } finally {
    await temporal.close()
  }
}

/** Appends what has changed since the operator looked. */
async function withNewest({ db }: CommandContext, paymentId: string, message: string): Promise<string> {
  if (!message.includes(CHANGED_SINCE)) return message
  const newest = await readNewestEntry(db, paymentId)
  return newest === null ? message : `${message}. Newest: ${describeEntry(newest)}`
}

function readDecision(context: CommandContext, subject: string): Decision {
  const { attempt = isId('attempt', subject) ? subject : undefined, version, outside, proof } = context.options
  return {
    ...signedBy(context),
    ...(attempt === undefined ? {} : { attempt }),
    ...(version === undefined ? {} : { version: readVersion(version) }),
    ...(outside === true ? { outside } : {}),
    ...(proof === undefined ? {} : { proof }),
  }
}

function readVersion(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new UsageError('--version must be the whole number that `pinrail payments explain` prints')
  return Number(text)
}
