import { describe, expect, test } from '@jest/globals'
import { formatClock, isTimeZone, parseClock, quietUntil } from '../../../src/domain/notification/quiet.ts'

const at = (time: string): number => Date.parse(time)
const until = (quiet: { from: string; to: string; zone?: string }, now: string): string | null => {
  const [from, to] = [parseClock(quiet.from) ?? -1, parseClock(quiet.to) ?? -1]
  const end = quietUntil({ from, to, zone: quiet.zone ?? 'UTC' }, at(now))
  return end === null ? null : new Date(end).toISOString()
}

test.each([
  ['00:00', 0],
  ['07:05', 425],
  ['19:59', 1199],
  ['20:00', 1200],
  ['23:59', 1439],
])('%s is minute %i of the day', (text, minutes) => {
  expect([parseClock(text), formatClock(minutes)]).toEqual([minutes, text])
})

test.each(['', '24:00', '7:05', '07:60', '007:05', '07:050', '-1:00', '07.05', ' 07:05', '07:05\n', '3a:00'])(
  '%j is not a time of day',
  (text) => {
    expect(parseClock(text)).toBeNull()
  },
)

test('time zones are those that the platform knows', () => {
  expect(['Europe/Oslo', 'UTC', 'Asia/Kathmandu'].map(isTimeZone)).toEqual([true, true, true])
  expect(['Europe/Olso', '', 'CET5X'].map(isTimeZone)).toEqual([false, false, false])
})

describe('Quiet hours', () => {
  test('quiet hours that are not set hold nothing', () => {
    expect(quietUntil(null, at('2026-11-01T03:00:00Z'))).toBeNull()
  })

  test.each([
    ['before them', '2026-11-01T11:59:59.999Z', null],
    ['in their first moment', '2026-11-01T12:00:00.000Z', '2026-11-01T14:30:00.000Z'],
    ['in them, between two minutes', '2026-11-01T13:10:40.123Z', '2026-11-01T14:30:00.000Z'],
    ['in their last moment', '2026-11-01T14:29:59.999Z', '2026-11-01T14:30:00.000Z'],
    ['after them', '2026-11-01T14:30:00.000Z', null],
  ])('quiet hours of a day: %s', (_when, now, end) => {
    expect(until({ from: '12:00', to: '14:30' }, now)).toBe(end)
  })

  test.each([
    ['in the evening', '2026-11-01T22:00:00Z', '2026-11-02T07:00:00.000Z'],
    ['at midnight', '2026-11-02T00:00:00Z', '2026-11-02T07:00:00.000Z'],
    ['in the morning', '2026-11-02T06:59:59Z', '2026-11-02T07:00:00.000Z'],
    ['at seven', '2026-11-02T07:00:00Z', null],
    ['before ten', '2026-11-01T21:59:59Z', null],
  ])('quiet hours over midnight: %s', (_when, now, end) => {
    expect(until({ from: '22:00', to: '07:00' }, now)).toBe(end)
  })

  test('quiet hours of one hour end after it, not before it began', () => {
    expect(until({ from: '12:00', to: '13:00' }, '2026-11-01T12:30:00Z')).toBe('2026-11-01T13:00:00.000Z')
  })

  test('quiet hours without length hold nothing', () => {
    expect(until({ from: '07:00', to: '07:00' }, '2026-11-01T07:00:00Z')).toBeNull()
  })

  test('quiet hours follow their time zone, to the quarter of an hour', () => {
    const kathmandu = { from: '22:00', to: '07:00', zone: 'Asia/Kathmandu' }
    expect(until(kathmandu, '2026-11-01T16:14:59Z')).toBeNull()
    expect(until(kathmandu, '2026-11-01T16:15:00Z')).toBe('2026-11-02T01:15:00.000Z')
  })

  test.each([
    // Oslo puts its clock forward at 2:00 to 3:00, and back at 3:00 to 2:00.
    ['forward during the night', 'Europe/Oslo', '2026-03-28T22:00:00Z', '2026-03-29T05:00:00.000Z'],
    ['back during the night', 'Europe/Oslo', '2026-10-24T21:00:00Z', '2026-10-25T06:00:00.000Z'],
    ['by half an hour', 'Australia/Lord_Howe', '2026-04-04T12:00:00Z', '2026-04-04T20:30:00.000Z'],
  ])('quiet hours end at seven of the clock that is put %s', (_how, zone, now, end) => {
    expect(until({ from: '22:00', to: '07:00', zone }, now)).toBe(end)
  })

  test('quiet hours that would end in the skipped hour end with it', () => {
    const quiet = { from: '22:00', to: '02:30', zone: 'Europe/Oslo' }
    expect(until(quiet, '2026-03-28T23:00:00Z')).toBe('2026-03-29T01:00:00.000Z')
  })
})
