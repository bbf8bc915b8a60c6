import { expect, test } from '@jest/globals'
import type { canStillBePaid, getReport } from '../../../src/domain/payment/payment.ts'
import type { Attempt } from '../../../src/domain/payment/payment-object.ts'
import type { isOpened } from '../../../src/domain/payment/requests.ts'
import { checkSeam, loadSystem } from '../time/load.ts'
import { DEFECTS } from './all.ts'
import { plant } from './defect.ts'

test('every seam of a planted bug is declared by its file', () => {
  for (const { and = [], ...seam } of DEFECTS)
    for (const one of [seam, ...and]) expect(() => checkSeam(one)).not.toThrow()
})

test('a seam that its file does not declare is refused by the names of both', () => {
  expect(() => checkSeam({ file: 'src/domain/money.ts', seam: 'subtrac', plant: () => null })).toThrow(
    'src/domain/money.ts declares no function or constant subtrac at its top level',
  )
})

test('no two planted bugs have the same name', () => {
  expect(new Set(DEFECTS.map(({ name }) => name)).size).toBe(DEFECTS.length)
})

test('a planted function is called by its own file and by other files', async () => {
  const file = 'src/domain/payment/payment.ts'
  const seam = { file, seam: 'getReport', plant: plant<typeof getReport>(() => () => 'over') }
  const files = [file, 'src/domain/payment/requests.ts']
  const [own, other] = await loadSystem(files, { packages: {}, date: Date, seams: [seam] })
  const callers = { ...own, ...other } as {
    canStillBePaid: typeof canStillBePaid
    isOpened: typeof isOpened
  }
  expect(callers.canStillBePaid('open')).toBe(false)
  expect(callers.isOpened({ status: 'open', redirectUrl: 'https://partner.example' } as Attempt)).toBe(false)
})
