import { type Account, freeUnits, isSellable, type Word } from '../../../../src/domain/payment/funds/account.ts'
import { type Answer, withAnswer } from '../../../../src/domain/payment/funds/answer.ts'
import {
  type Funds,
  findOwnAccount,
  findSoldAccount,
  getLoss,
  getShortage,
  type Sale,
  withPaidOut,
} from '../../../../src/domain/payment/funds/funds.ts'
import { type Effect, nextEffect } from '../../../../src/domain/payment/funds/next.ts'
import { computePositions } from '../../../../src/domain/payment/funds/positions.ts'
import { createRandom, type Random } from '../../../support/random.ts'

/**
 * Random stories of the pure funds. The world (partners, the converter, the settlement engine, operators) has separate
 * books, and the funds learn of them by readings, or not. At the end every reading arrives and every question is answered.
 */

/** The functions that a story calls; a planted bug replaces one of them. */
export type Model = {
  readonly next: (funds: Funds) => Effect
  readonly answered: (funds: Funds, answer: Answer) => Funds
  readonly positions: (funds: Funds) => ReadonlyMap<string, bigint>
  readonly paidOut: (funds: Funds, micro: bigint) => Funds
}
export const MODEL: Model = {
  next: nextEffect,
  answered: withAnswer,
  positions: computePositions,
  paidOut: withPaidOut,
}

const PRICE = 10_000n
const ASSETS = ['EUR', 'INR', 'USDC'] as const
const GROSS_OF_UNIT = 11_600n

type Truth = { word: Word; held: bigint; odd: boolean }

export const newAccount = (id: string, asset: string, fields: Partial<Account> = {}): Account => ({
  id,
  asset,
  asked: PRICE,
  word: 'open',
  held: 0n,
  outside: 0n,
  odd: false,
  accepted: false,
  back: 'no',
  writtenOff: 0n,
  ...fields,
})

export const newFunds = (fields: Partial<Funds> = {}): Funds => ({
  accounts: [],
  sales: [],
  taken: null,
  payout: 'none',
  paidOut: 0n,
  closed: null,
  listens: true,
  hold: false,
  stuck: false,
  agreed: false,
  tolerancePercent: 1n,
  ...fields,
})

export function playFunds(seed: number, model: Model = MODEL): string[] {
  const story = new FundsStory(createRandom(seed), model)
  story.begin()
  story.end()
  return story.wrong
}

class FundsStory {
  readonly wrong: string[] = []
  readonly #random: Random
  readonly #model: Model
  readonly #truth = new Map<string, Truth>()
  readonly #log: string[] = []
  #funds: Funds = newFunds()
  /** Units that the converter has sold, by its own books. */
  readonly #sold = new Map<string, bigint>()
  /** True once an operator has decided about money, so that the whole price need not be settled. */
  #hasDecided = false

  constructor(random: Random, model: Model) {
    this.#random = random
    this.#model = model
    this.#open('EUR')
  }

  begin(): void {
    for (let step = 0; step < 14; step++) {
      this.#event()
      this.#check()
    }
  }

  /** Nothing goes wrong any more: everything is read, the money is let go, and an operator answers what is asked. */
  end(): void {
    if (this.#funds.hold) this.#funds = this.#model.answered(this.#funds, { say: 'release' })
    for (const [id, truth] of this.#truth) {
      if (truth.word !== 'paid' && truth.word !== 'over') truth.word = truth.held > 0n ? 'paid' : 'over'
      this.#read(id)
    }
    this.#funds = { ...this.#funds, closed: this.#funds.closed ?? 'expired' }
    const wholeAtFirst = this.#isWhole()
    for (let turn = 0; turn < 200; turn++) {
      const effect = this.#model.next(this.#funds)
      if (effect.do === 'done') return this.#checkEnd(wholeAtFirst)
      this.#log.push(effect.do)
      if (effect.do === 'review') this.#answer()
      else if (effect.do === 'wait') this.#engine()
      else this.#carryOut(effect, 'surely')
      this.#check()
    }
    this.#fail(`it has no end: ${this.#model.next(this.#funds).do}`)
  }

  #event(): void {
    const { below, chance, pick } = this.#random
    const { id } = pick(this.#funds.accounts)
    const truth = this.#truth.get(id) as Truth
    const what = below(16)
    this.#log.push(`#${what}`)
    switch (what) {
      case 0:
        if (this.#funds.accounts.length < 3) this.#open(pick(ASSETS))
        return
      case 1:
      case 2:
      case 3:
        truth.held += pick([10_000n, 10_000n, 5000n, 9950n, 15_000n])
        truth.word = 'paid'
        break
      case 4:
        truth.word = pick(['confirming', 'withheld', 'paid', 'open'] as const)
        break
      case 5:
        Object.assign(truth, { held: 0n, word: 'over' })
        break
      case 6:
        truth.held /= 2n
        break
      case 7:
        truth.odd = !truth.odd
        break
      case 8:
        return this.#decide()
      case 9:
        if (findOwnAccount(this.#funds) === null)
          this.#funds = {
            ...this.#funds,
            closed: this.#funds.closed ?? pick(['expired', 'canceled', 'failed'] as const),
          }
        return
      case 10:
        return this.#engine()
      default:
        return this.#carryOut(this.#model.next(this.#funds), 'perhaps')
    }
    if (chance(0.8)) this.#read(id)
  }

  #open(asset: string): void {
    const id = 'abc'.charAt(this.#funds.accounts.length)
    this.#funds = { ...this.#funds, accounts: [...this.#funds.accounts, newAccount(id, asset)] }
    this.#truth.set(id, { word: 'open', held: 0n, odd: false })
  }

  #change(id: string, change: (account: Account) => Account): void {
    const accounts = this.#funds.accounts.map((account) => (account.id === id ? change(account) : account))
    this.#funds = { ...this.#funds, accounts }
  }

  #read(id: string): void {
    const { word, held, odd } = this.#truth.get(id) as Truth
    this.#change(id, (account) => ({
      ...account,
      word,
      held,
      odd,
      accepted: account.accepted && odd,
      back: held === 0n ? 'no' : account.back,
    }))
  }

  #decide(): void {
    const answers: readonly Answer[] = [
      { say: 'settle' },
      { say: 'give_back' },
      { say: 'give_back', outside: true },
      { say: 'write_off' },
      { say: 'hold' },
      { say: 'release' },
    ]
    this.#say(this.#random.pick(answers))
  }

  #answer(): void {
    this.#say(
      this.#random.pick<Answer>([
        { say: 'settle' },
        { say: 'give_back' },
        { say: 'give_back', outside: true },
        { say: 'write_off' },
      ]),
    )
  }

  #say(answer: Answer): void {
    this.#log.push(answer.say)
    if (answer.say === 'give_back') this.#hasDecided = true
    this.#funds = this.#model.answered(this.#funds, answer)
  }

  #engine(): void {
    const { payout, hold, taken } = this.#funds
    const net = (taken?.gross ?? 0n) - (taken?.fee ?? 0n)
    if (payout === 'handed' && this.#random.chance(0.15)) this.#funds = { ...this.#funds, payout: 'stopped' }
    else if (payout === 'handed' && !hold) this.#funds = this.#model.paidOut(this.#funds, net)
    else if (payout === 'voiding')
      this.#funds = this.#random.chance(0.8)
        ? { ...this.#funds, payout: 'void' }
        : this.#model.paidOut(this.#funds, net)
  }

  #carryOut(effect: Effect, how: 'perhaps' | 'surely'): void {
    switch (effect.do) {
      case 'give_back':
        return this.#giveBack(effect.accountId, how)
      case 'sell':
        return this.#sell(effect, how)
      case 'end_sale':
        return this.#endSale(effect.number)
      case 'take': {
        const sale = this.#funds.sales.find(({ number }) => number === effect.number) as Sale
        this.#funds = { ...this.#funds, taken: { ...sale, fee: (sale.gross * 45n) / 1000n } }
        return
      }
      case 'hand_over':
        return this.#handOver()
      case 'void':
        this.#funds = { ...this.#funds, payout: this.#funds.payout === 'none' ? 'void' : 'voiding' }
        return
      case 'wait':
      case 'review':
      case 'done':
    }
  }

  #giveBack(id: string, how: 'perhaps' | 'surely'): void {
    if (how === 'perhaps' && this.#random.chance(0.3)) {
      this.#change(id, (account) => ({ ...account, back: 'asked' }))
      return
    }
    if (this.#random.chance(0.8)) Object.assign(this.#truth.get(id) as Truth, { held: 0n, word: 'over' })
    else this.#change(id, (account) => ({ ...account, back: 'no', outside: account.held }))
    this.#read(id)
  }

  /** The partner is read before its money moves. */
  #sell({ accountId, units }: Extract<Effect, { do: 'sell' }>, how: 'perhaps' | 'surely'): void {
    this.#read(accountId)
    const again = this.#model.next(this.#funds)
    if (again.do !== 'sell' || again.accountId !== accountId || again.units !== units) return
    const open = this.#funds.sales.find(({ state }) => state === 'asked')
    const gross = units * GROSS_OF_UNIT
    const number = this.#funds.sales.length + 1
    const sale: Sale = open ?? { number, accountId, units, gross, fill: null, state: 'asked' }
    const others = this.#funds.sales.filter((other) => other.number !== sale.number)
    const luck = how === 'surely' ? 1 : this.#random.next()
    const stuck = luck >= 0.3 && luck < 0.4
    const answered = luck < 0.4 ? sale : this.#fill(sale)
    this.#funds = { ...this.#funds, stuck, sales: [...others, answered] }
  }

  #fill(sale: Sale): Sale {
    const asset = this.#funds.accounts.find(({ id }) => id === sale.accountId)?.asset ?? ''
    this.#sold.set(asset, (this.#sold.get(asset) ?? 0n) + sale.units)
    return { ...sale, state: 'filled', fill: this.#random.chance(0.07) ? sale.gross / 2n : sale.gross + 7n }
  }

  #endSale(number: number): void {
    const sales = this.#funds.sales.map((sale) => {
      if (sale.number !== number) return sale
      return this.#random.chance(0.5) ? { ...sale, state: 'ended' as const } : this.#fill(sale)
    })
    this.#funds = { ...this.#funds, sales }
  }

  #handOver(): void {
    const before = findSoldAccount(this.#funds) as Account
    this.#read(before.id)
    if (this.#model.next(this.#funds).do !== 'hand_over') return
    const sold = findSoldAccount(this.#funds) as Account
    if (this.#funds.hold || getShortage(this.#funds, sold) > 0n || !isSellable(sold))
      this.#fail('handed over, and not free')
    this.#funds = { ...this.#funds, payout: 'handed' }
  }

  /** One account has the whole price, nobody has decided, and the payment may still take it. */
  #isWhole(): boolean {
    const { accounts, payout, taken, closed, sales } = this.#funds
    const isFree = !this.#hasDecided && payout === 'none' && taken === null && closed !== 'failed'
    const isWhole = accounts.some((account) => isSellable(account) && freeUnits(account) >= account.asked)
    return isFree && isWhole && sales.length === 0
  }

  #check(): void {
    const positions = this.#model.positions(this.#funds)
    const sums = new Map<string, bigint>()
    for (const [key, units] of positions) {
      const asset = key.split(' ')[1] ?? ''
      sums.set(asset, (sums.get(asset) ?? 0n) + units)
    }
    for (const [asset, sum] of sums) if (sum !== 0n) this.#fail(`${asset} is ${sum} off balance`)
    for (const asset of ASSETS) {
      const sold = this.#sold.get(asset) ?? 0n
      if (asset !== 'USDC' && -(positions.get(`conversion ${asset}`) ?? 0n) !== sold)
        this.#fail(`the converter has sold ${sold} ${asset}, the books say ${positions.get(`conversion ${asset}`)}`)
    }
    if (this.#funds.payout === 'paid' && this.#funds.taken === null) this.#fail('paid, and nothing was taken')
  }

  #checkEnd(wasWhole: boolean): void {
    const positions = this.#model.positions(this.#funds)
    for (const account of ['suspense', 'merchant_payable'])
      for (const asset of ASSETS) {
        const left = positions.get(`${account} ${asset}`) ?? 0n
        if (left !== 0n && !(account === 'suspense' && asset === 'USDC'))
          this.#fail(`${left} ${asset} left in ${account}`)
      }
    if (this.#funds.sales.some(({ state }) => state === 'asked')) this.#fail('a sale has no end')
    if (this.#funds.accounts.some((account) => getLoss(this.#funds, account) > account.writtenOff))
      this.#fail('a loss that nobody has seen')
    if (wasWhole && !this.#hasDecided && this.#funds.payout !== 'paid' && this.#funds.payout !== 'void')
      this.#fail('an account had the whole price, and nothing was settled')
  }

  #fail(what: string): void {
    this.wrong.push(`${what} (${this.#log.join(' ')})`)
  }
}
