import { expect, test } from '@jest/globals'
import { type Diagnosis, explainDiagnosis, MISTAKES, mayBeSignature } from '../../src/domain/webhook-diagnosis.ts'

test.each([
  [400, true],
  [401, true],
  [403, true],
  [422, true],
  [500, true],
  [204, false],
  [302, false],
  [399, false],
  ...[404, 405, 408, 410, 413, 415, 429, 502, 503, 504].map((status) => [status, false] as const),
])('a response of %i can mean a wrong signature: %s', (status, expected) => {
  expect(mayBeSignature({ status, error: null })).toBe(expected)
  expect(mayBeSignature({ status, error: 'timeout' })).toBe(false)
})

test('no response means nothing about the signature', () => {
  expect(mayBeSignature({ status: null, error: null })).toBe(false)
})

test('each diagnosis says what to do', () => {
  const explain = (diagnosis: Record<string, unknown>) => explainDiagnosis({ requests: 3, ...diagnosis } as Diagnosis)
  expect(explain({ cause: 'none' })).toContain('Send it again')
  expect(explain({ cause: 'sealed_secret' })).toContain('Rotate the secret')
  expect(explain({ cause: 'unknown' })).toContain('Read its log')
  expect(explain({ cause: 'response', response: 'HTTP 404' })).toContain('HTTP 404')
  expect(explain({ cause: 'clock', detail: null })).toBe(MISTAKES.clock)
  expect(explain({ cause: 'parsed_body', detail: 'as PHP writes it' })).toBe(
    `${MISTAKES.parsed_body} Found with: as PHP writes it.`,
  )
})
