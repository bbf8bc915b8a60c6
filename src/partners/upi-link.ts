import { type Money, parseAmount } from '../domain/money.ts'
import { unclear } from './http.ts'

/** Throws unless the link pays this amount (NPCI UPI linking specification 1.6). Its reference is the partner's own. */
export function checkUpiLink(to: string, link: string, amount: Money): string {
  const query = link.startsWith('upi://pay?') ? new URLSearchParams(link.slice('upi://pay?'.length)) : null
  const asked = parseAmount(query?.get('am') ?? '', 'INR')
  const isMatching =
    (query?.get('pa') ?? '') !== '' && query?.get('cu') === 'INR' && asked.ok && asked.money.minor === amount.minor
  if (!isMatching) throw unclear(to, 'answered with a UPI link that does not fit the order')
  return link
}
