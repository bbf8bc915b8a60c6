import { listSettlementActions, type OperatorAction } from '../db/operator/actions.ts'
import { type Office, readLimit, sayList } from './call.ts'

const USUAL_LINES = 50

export const describeAct = ({ at, kind, operator, reason }: OperatorAction): string =>
  `${at}  ${kind} by ${operator}: ${reason}`

export async function listSettlementActs(office: Office): Promise<number> {
  const acts = await listSettlementActions(office.db, { subject: null, limit: readLimit(office, USUAL_LINES) })
  office.give('acts', acts)
  return sayList(office.say, {
    none: 'no operator has changed anything',
    head: ['at', 'act', 'subject', 'operator', 'reason'],
    rows: acts.map(({ at, kind, operator, reason, data }) => [at, kind, String(data['subject']), operator, reason]),
  })
}
