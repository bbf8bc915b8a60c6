import { listSettlementActions, type OperatorAction } from '../db/operator/actions.ts'
import { type CommandContext, readLimit, sayList } from './call.ts'

const USUAL_LINES = 50

export const describeAct = ({ at, kind, operator, reason }: OperatorAction): string =>
  `${at}  ${kind} by ${operator}: ${reason}`

export async function listSettlementActs(context: CommandContext): Promise<number> {
  const acts = await listSettlementActions(context.db, { subject: null, limit: readLimit(context, USUAL_LINES) })
  context.give('acts', acts)
  return sayList(context.say, {
    none: 'no operator has changed anything',
    head: ['at', 'act', 'subject', 'operator', 'reason'],
    rows: acts.map(({ at, kind, operator, reason, data }) => [at, kind, String(data['subject']), operator, reason]),
  })
}
