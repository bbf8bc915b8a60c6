import { isWithinPercent } from '../../../../src/domain/money.ts'
import {
  type Account,
  freeUnits,
  hasOtherToken,
  isSellable,
  type Report,
} from '../../../../src/domain/payment/funds/account.ts'
import { type Answer, listAnswers, withAnswer } from '../../../../src/domain/payment/funds/answer.ts'
import {
  type Funds,
  findOwnAccount,
  findSoldAccount,
  getLoss,
  getShortage,
  type Sale,
  withPaidOut,
} from '../../../../src/domain/payment/funds/funds.ts'
import { findMoneyStep, isWaiting, type MoneyStep } from '../../../../src/domain/payment/funds/money-step.ts'
import { computePositions } from '../../../../src/domain/payment/funds/positions.ts'
import { listReasons } from '../../../../src/domain/payment/funds/review.ts'
import { createRandom, type Random } from '../../../support/random.ts'

/**
 * Random stories of the pure funds. The other parties (partners, the converter, the settlement engine, operators) have separate
 * books, and the funds learn of them by readings, which can be missing. At the end every reading arrives and every
 * question is answered.
 */

/** The functions that a story calls; a planted bug replaces one of them. */
export type Model = {
  readonly next: (funds: Funds) => MoneyStep
  readonly answered: (funds: Funds, answer: Answer) => Funds
  readonly positions: (funds: Funds) => ReadonlyMap<string, bigint>
  readonly paidOut: (funds: Funds, micro: bigint) => Funds
}
export const MODEL: Model = {
  next: findMoneyStep,
  answered: withAnswer,
  positions: computePositions,
  paidOut: withPaidOut,
}

const PRICE = 10_000n
/** The dust, in micro-USDC. */
const DUST = 10_000n
const ASSETS = ['EUR', 'INR', 'USDC'] as const
const GROSS_OF_UNIT = 11_600n

/**
 * `oddRead`: the last reading. A reading that reports the same again changes no decision. `timeOver`: its partner's
 * time for late money is over.
 */
type Truth = { report: Report; held: bigint; odd: boolean; oddRead: boolean; refunded: boolean; timeOver: boolean }

export const newAccount = (id: string, asset: string, fields: Partial<Account> = {}): Account => ({
  id,
  asset,
  asked: PRICE,
  report: 'open',
  held: 0n,
  outside: 0n,
  misfit: 'none',
  silent: false,
  back: 'no',
  returned: false,
  writtenOff: 0n,
  refunded: 0n,
  refunding: 0n,
  ...fields,
})

export const newFunds = (fields: Partial<Funds> = {}): Funds => ({
  accounts: [],
  sales: [],
  taken: null,
  payout: 'none',
  paidOut: 0n,
  lost: 0n,
  released: 0n,
  isDeductionReleased: false,
  closed: null,
  listens: true,
  late: [],
  hold: false,
  stuck: null,
  agreed: null,
  tolerancePercent: 1n,
  fillPercent: 2,
  ...fields,
})

export function playFunds(seed: number, model: Model = MODEL): string[] {
  const story = new FundsStory(createRandom(seed), model)
  story.begin()
  story.end()
  return story.wrong
}

type How = 'perhaps' | 'surely'

class FundsStory {
  readonly wrong: string[] = []
  readonly #random: Random
  readonly #model: Model
  readonly #truth = new Map<string, Truth>()
  readonly #log: string[] = []
  #funds: Funds = newFunds()
  /** The units that the converter has sold, by its own books. */
  readonly #sold = new Map<string, bigint>()
  /** The accounts whose money the partner has given back. */
  readonly #refunded = new Set<string>()
  /** The money that an operator has settled; no decision covers other money. */
  readonly #settled = new Set<string>()
  /** True once an operator has decided about money, so that the whole price need not be settled. */
  #hasDecided = false
  #wasVoid = false
  #transfers = 0

  constructor(random: Random, model: Model) {
    this.#random = random
    this.#model = model
    this.#open(random.pick(ASSETS))
  }

  begin(): void {
    for (let step = 0; step < 14; step++) {
      this.#event()
      this.#check()
    }
  }

  /** Ends all trouble: everything is read, the partners release the money, and an operator answers every question. */
  end(): void {
    if (this.#funds.hold) this.#funds = this.#model.answered(this.#funds, { say: 'release' })
    for (const [id, truth] of this.#truth) {
      if (truth.report !== 'paid' && truth.report !== 'over') truth.report = truth.held > 0n ? 'paid' : 'over'
      this.#read(id)
    }
    this.#funds = { ...this.#funds, closed: this.#funds.closed ?? 'expired' }
    const wholeAtFirst = this.#isWhole()
    for (let turn = 0; turn < 200; turn++) {
      const step = this.#model.next(this.#funds)
      if (step.do === 'done') return this.#checkEnd(wholeAtFirst)
      this.#log.push(step.do)
      if (step.do === 'review') this.#answer()
      else if (isWaiting(step)) this.#awaitOthers()
      else this.#carryOut(step, 'surely')
      this.#check()
    }
    this.#fail(`it has no end: ${this.#model.next(this.#funds).do}`)
  }

  #event(): void {
    const { below, chance, pick } = this.#random
    const { id } = pick(this.#funds.accounts)
    const truth = this.#truth.get(id) as Truth
    const what = below(18)
    this.#log.push(`#${what}${id}`)
    switch (what) {
      case 0:
        if (this.#funds.accounts.length < 3) this.#open(pick(ASSETS))
        return
      case 1:
      case 2:
      case 3:
        truth.held += pick([10_000n, 10_000n, 5000n, 9950n, 15_000n])
        truth.report = 'paid'
        break
      case 4:
        truth.report = pick(['confirming', 'withheld', 'paid', 'open'] as const)
        break
      case 5:
        Object.assign(truth, { held: 0n, report: 'over', refunded: chance(0.5) })
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
        return this.#close(truth)
      case 10:
        return this.#awaitOthers()
      case 11:
        return this.#notice(id)
      default:
        return this.#carryOut(this.#model.next(this.#funds), 'perhaps')
    }
    if (chance(0.8)) this.#read(id)
  }

  #open(asset: string): void {
    const id = 'abc'.charAt(this.#funds.accounts.length)
    this.#funds = { ...this.#funds, accounts: [...this.#funds.accounts, newAccount(id, asset)] }
    this.#truth.set(id, { report: 'open', held: 0n, odd: false, oddRead: false, refunded: false, timeOver: false })
  }

  /** Changes without a reading: a partner's silence, and another token at an address. */
  #notice(id: string): void {
    this.#change(id, (account) =>
      account.asset === 'USDC'
        ? { ...account, misfit: 'other_token' }
        : { ...account, silent: account.report === 'confirming' },
    )
  }

  /**
   * A payment with money is not closed. A closed payment stops reading at some point, one partner before the others.
   */
  #close(truth: Truth): void {
    const { accounts, closed, payout } = this.#funds
    if (closed !== null && this.#random.chance(0.5)) truth.timeOver = true
    else if (closed !== null || payout === 'paid' || payout === 'void') this.#funds = { ...this.#funds, listens: false }
    else if (accounts.every((account) => freeUnits(account) === 0n) && payout === 'none')
      this.#funds = { ...this.#funds, closed: this.#random.pick(['expired', 'canceled', 'failed'] as const) }
  }

  #change(id: string, change: (account: Account) => Account): void {
    const accounts = this.#funds.accounts.map((account) => (account.id === id ? change(account) : account))
    this.#funds = { ...this.#funds, accounts }
  }

  #read(id: string): void {
    const truth = this.#truth.get(id) as Truth
    const { report, held, odd, oddRead, refunded } = truth
    truth.oddRead = odd
    this.#noteLate(id, truth)
    this.#change(id, (account) => {
      const isGone = held === 0n && account.held > 0n
      return {
        ...account,
        report,
        held,
        silent: account.silent && report === 'confirming',
        misfit: odd === oddRead ? account.misfit : odd ? 'odd' : 'none',
        back: isGone ? 'no' : account.back,
        returned: account.returned || (isGone && (account.back === 'asked' || refunded)),
      }
    })
    this.#protectPayout()
  }

  /** Money that was there in time stays in time. */
  #noteLate(id: string, truth: Truth): void {
    const isPaid = (one: Pick<Account, 'report' | 'held'>): boolean => one.report === 'paid' && one.held > 0n
    const { accounts, late } = this.#funds
    if (isPaid(truth) && accounts.some((account) => account.id === id && isPaid(account))) return
    const others = late.filter((one) => one !== id)
    this.#funds = { ...this.#funds, late: isPaid(truth) && truth.timeOver ? [...others, id] : others }
  }

  #decide(): void {
    const { pick } = this.#random
    this.#say(
      pick<Answer>([{ say: 'settle' }, ...this.#backs(), { say: 'write_off' }, { say: 'hold' }, { say: 'release' }]),
    )
  }

  #answer(): void {
    const { pick } = this.#random
    if (listAnswers(this.#funds).every(({ say }) => say === 'hold')) this.#fail('a question without an answer')
    this.#say(pick<Answer>([{ say: 'settle' }, ...this.#backs(), { say: 'write_off' }]))
  }

  #backs(): Answer[] {
    const { id: accountId } = this.#random.pick(this.#funds.accounts)
    return [
      { say: 'give_back', accountId },
      { say: 'give_back', accountId, outside: true },
    ]
  }

  #say(answer: Answer): void {
    this.#log.push(answer.say)
    if (answer.say === 'give_back') this.#hasDecided = true
    this.#funds = this.#model.answered(this.#funds, answer)
    const own = findOwnAccount(this.#funds)
    if (answer.say === 'settle' && own !== null) this.#settled.add(`${own.id} ${freeUnits(own)}`)
    this.#protectPayout()
  }

  /** A payout is voided in the transaction of the change that made it due. */
  #protectPayout(): void {
    if (this.#model.next(this.#funds).do !== 'void') return
    this.#funds =
      this.#funds.payout === 'none' ? { ...this.#funds, taken: null } : { ...this.#funds, payout: 'voiding' }
  }

  /** Actions of other parties: the settlement engine, and a partner that was asked to give money back. */
  #awaitOthers(): void {
    const asked = this.#funds.accounts.find(({ back }) => back === 'asked')
    if (asked === undefined || this.#funds.payout === 'voiding') this.#engine()
    else this.#refund(asked.id)
  }

  #engine(): void {
    const { payout, hold, taken } = this.#funds
    const net = (taken?.gross ?? 0n) - (taken?.fee ?? 0n)
    if (payout === 'handed' && this.#random.chance(0.15)) this.#funds = { ...this.#funds, payout: 'stopped' }
    else if (payout === 'handed' && !hold) this.#transfer(net)
    else if (payout === 'voiding') {
      if (this.#random.chance(0.8)) this.#funds = { ...this.#funds, payout: 'void' }
      else this.#transfer(net)
    }
  }

  #transfer(net: bigint): void {
    this.#transfers += 1
    this.#funds = this.#model.paidOut(this.#funds, net)
  }

  #carryOut(step: MoneyStep, how: How): void {
    switch (step.do) {
      case 'give_back':
        return this.#giveBack(step.accountId, how)
      case 'sell':
        return this.#sell(step, how)
      case 'end_sale':
        return this.#endSale(step.number)
      case 'take': {
        const sale = this.#funds.sales.find(({ number }) => number === step.number) as Sale
        if (this.#funds.late.includes(sale.accountId)) this.#fail('sold, and it came too late')
        this.#funds = { ...this.#funds, taken: { ...sale, fee: (sale.gross * 45n) / 1000n, reserve: 0n, deducted: 0n } }
        return
      }
      case 'hand_over':
        return this.#handOver()
      case 'void':
      case 'await_buyer':
      case 'await_partner':
      case 'await_payout':
      case 'await_release':
      case 'review':
      case 'done':
    }
  }

  #giveBack(id: string, how: How): void {
    const { payout } = this.#funds
    const isPaidOut = findSoldAccount(this.#funds)?.id === id && payout !== 'none'
    if (this.#funds.accounts.some((one) => one.id === id && one.outside > 0n)) this.#fail('given back twice')
    if (isPaidOut) this.#fail('given back what the merchant is paid for')
    this.#change(id, (account) => ({ ...account, back: 'asked' }))
    if (how === 'surely' || this.#random.chance(0.7)) this.#refund(id)
  }

  /** The partner carries it out, or refuses it. */
  #refund(id: string): void {
    const truth = this.#truth.get(id) as Truth
    // Money that the buyer got from elsewhere during that time may be given back by the partner too, or not.
    if (this.#refunded.has(id)) this.#fail('given back twice')
    if (truth.held > 0n && this.#random.chance(0.8)) {
      Object.assign(truth, { held: 0n, report: 'over' })
      this.#refunded.add(id)
      this.#change(id, (one) => ({ ...one, back: 'no', held: 0n, returned: true }))
    } else this.#change(id, (one) => ({ ...one, back: 'no' }))
    this.#read(id)
  }

  /** The partner is read before its money moves. The order is stored before the converter is asked. */
  #sell({ accountId, units }: Extract<MoneyStep, { do: 'sell' }>, how: How): void {
    this.#read(accountId)
    const again = this.#model.next(this.#funds)
    if (again.do !== 'sell' || again.accountId !== accountId || again.units !== units) return
    const { accounts, sales } = this.#funds
    const open = sales.find(({ state }) => state === 'asked')
    const isUsdc = accounts.find(({ id }) => id === accountId)?.asset === 'USDC'
    const gross = isUsdc ? units : units * GROSS_OF_UNIT
    if (open === undefined)
      this.#putSale({ number: sales.length + 1, accountId, units, gross, fill: null, state: 'asked' })
    else this.#askConverter(open, how)
  }

  #askConverter(sale: Sale, how: How): void {
    const luck = how === 'surely' ? 1 : this.#random.next()
    if (luck >= 0.4) return this.#fill(sale)
    if (luck < 0.1) this.#putSale({ ...sale, state: 'ended' })
    this.#funds = { ...this.#funds, stuck: luck < 0.2 ? sale.accountId : null }
  }

  #putSale(sale: Sale): void {
    const others = this.#funds.sales.filter(({ number }) => number !== sale.number)
    this.#funds = { ...this.#funds, sales: [...others, sale] }
  }

  #fill(sale: Sale): void {
    const asset = this.#funds.accounts.find(({ id }) => id === sale.accountId)?.asset ?? ''
    const rated = this.#random.chance(0.07) ? sale.gross / 2n : sale.gross + 7n
    const fill = asset === 'USDC' ? sale.units : rated
    this.#count(asset, -sale.units)
    this.#count('USDC', fill)
    this.#putSale({ ...sale, state: 'filled', fill })
    const isNear = isWithinPercent(fill.toString(), sale.gross.toString(), this.#funds.fillPercent)
    this.#funds = { ...this.#funds, stuck: null, agreed: isNear ? this.#funds.agreed : null }
  }

  #count(asset: string, units: bigint): void {
    this.#sold.set(asset, (this.#sold.get(asset) ?? 0n) + units)
  }

  #endSale(number: number): void {
    const sale = this.#funds.sales.find((one) => one.number === number) as Sale
    if (this.#random.chance(0.5)) this.#putSale({ ...sale, state: 'ended' })
    else this.#fill(sale)
  }

  #handOver(): void {
    const before = findSoldAccount(this.#funds) as Account
    this.#read(before.id)
    if (this.#model.next(this.#funds).do !== 'hand_over') return
    const sold = findSoldAccount(this.#funds) as Account
    if (this.#funds.hold || getShortage(this.#funds, sold) > 0n || !isSellable(sold))
      this.#fail('handed over, and not free')
    if (this.#wasVoid) this.#fail('handed over after it was void')
    this.#funds = { ...this.#funds, payout: 'handed' }
  }

  /** True if one account has the whole price, nobody has decided, and the payment can still take it. */
  #isWhole(): boolean {
    const { accounts, payout, taken, closed, listens, late } = this.#funds
    const isFree = !this.#hasDecided && payout === 'none' && taken === null && closed !== 'failed' && listens
    return (
      isFree &&
      accounts.some(
        (account) => isSellable(account) && !late.includes(account.id) && freeUnits(account) >= account.asked,
      )
    )
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
      const booked = positions.get(`conversion ${asset}`) ?? 0n
      if (booked !== sold) this.#fail(`the converter says ${sold} ${asset}, the books say ${booked}`)
    }
    this.#checkSettled()
    this.#checkAsked()
    const { payout, taken } = this.#funds
    if (payout === 'paid' && taken === null) this.#fail('paid, and nothing was taken')
    if (this.#transfers > 1) this.#fail('paid twice')
    this.#wasVoid ||= payout === 'void'
    if (this.#wasVoid && payout !== 'void') this.#fail('void, and then it was not')
  }

  /** Too little is sold only if an operator has settled exactly that money of that account. */
  #checkSettled(): void {
    const { taken } = this.#funds
    if (taken === null || taken.units * 100n >= PRICE * 99n) return
    if (!this.#settled.has(`${taken.accountId} ${taken.units}`))
      this.#fail('too little was sold, and nobody has said so')
  }

  /** Unsold money has an owner, and each question an answer, unless the partner has the money. */
  #checkAsked(): void {
    const { accounts, payout, taken } = this.#funds
    const { do: next } = this.#model.next(this.#funds)
    const left = accounts.filter(({ id, asset, held, outside }) => {
      const sold = taken?.accountId === id && payout !== 'void' ? taken.units : 0n
      return held - outside - sold >= (asset === 'USDC' ? DUST : 1n)
    })
    if (next === 'done' && left.length > 0) this.#fail('done, and there is money of no owner')
    const { stops, asks } = listReasons(this.#funds)
    const isPartners = [...stops, ...asks].every((reason) => reason === 'withheld' || reason === 'silent')
    const answers = listAnswers(this.#funds).filter(({ say }) => say !== 'hold' && say !== 'release')
    if (next === 'review' && !isPartners && answers.length === 0) this.#fail('a review without an answer')
  }

  #checkEnd(wasWhole: boolean): void {
    const positions = this.#model.positions(this.#funds)
    const held = (asset: string): bigint => {
      const accounts = [...this.#truth].filter(([id]) =>
        this.#funds.accounts.some((one) => one.id === id && one.asset === asset),
      )
      return accounts.reduce((sum, [, truth]) => sum + truth.held, 0n)
    }
    for (const asset of ASSETS) {
      // USDC at an address of the platform stays there, in suspense.
      const atAddress = asset === 'USDC' ? held(asset) : 0n
      const left = {
        suspense: (positions.get(`suspense ${asset}`) ?? 0n) - atAddress,
        payable: positions.get(`merchant_payable ${asset}`) ?? 0n,
      }
      for (const [name, units] of Object.entries(left))
        if (units !== 0n) this.#fail(`${units} ${asset} left in ${name}`)
      const owed = asset === 'USDC' ? 0n : (positions.get(`partner_receivable ${asset}`) ?? 0n) - held(asset)
      if (owed !== 0n) this.#fail(`the partner has ${owed} ${asset} less than the books say`)
    }
    const { sales, accounts, payout } = this.#funds
    if (sales.some(({ state }) => state === 'asked')) this.#fail('a sale has no end')
    if (accounts.some((account) => getLoss(this.#funds, account) > account.writtenOff))
      this.#fail('a loss that nobody has seen')
    if (accounts.some(hasOtherToken)) this.#fail('another token that nobody has seen')
    if (wasWhole && !this.#hasDecided && payout !== 'paid' && payout !== 'void')
      this.#fail('an account had the whole price, and nothing was settled')
  }

  #fail(what: string): void {
    this.wrong.push(`${what} (${this.#log.join(' ')})`)
  }
}
