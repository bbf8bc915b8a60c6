import { formatAmount, type Money } from '../../domain/money.ts'
import type { Words } from '../messages/words.ts'

export function Amount({ money, words, look }: { money: Money; words: Words; look?: string }) {
  return (
    <data class={look} value={`${formatAmount(money)} ${money.currency}`}>
      {words.money(money)}
    </data>
  )
}
