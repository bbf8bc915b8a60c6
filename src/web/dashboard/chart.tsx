import { Fold } from '../kit/fold.tsx'
import { Table } from '../kit/table.tsx'
import { timeText } from '../kit/time.tsx'
import { usdcText } from './payment-words.tsx'

export type DayReceived = { readonly day: string; readonly payments: number; readonly net_micro: string }

const WIDTH = 900
const HEIGHT = 100

type ChartProps = {
  readonly days: readonly DayReceived[]
  readonly total: string
  /** `month` if each entry of `days` is a month (`2026-11`). */
  readonly by?: 'day' | 'month'
}

/** Bars for days or months, with a table. The text is HTML and not SVG, so that it does not scale with the bars. */
export function Chart({ days, total, by = 'day' }: ChartProps) {
  const most = days.reduce((top, { net_micro: net }) => (BigInt(net) > top ? BigInt(net) : top), 0n)
  const step = findStep(most)
  const top = step * 4n
  const width = WIDTH / days.length
  const last = days.length - 1
  const style = by === 'day' ? 'date' : 'month'
  return (
    <figure class="stack" aria-labelledby="vol-t">
      <figcaption id="vol-t" class="unseen">
        {`USDC received per ${by}. The table below has every number.`}
      </figcaption>
      <div class="plot">
        <ol class="y" aria-hidden="true">
          {[4n, 3n, 2n, 1n, 0n].map((line) => (
            <li key={line}>{usdcText((step * line).toString(), 2).replace(/\.00$/, '')}</li>
          ))}
        </ol>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`Bars: ${total} USDC in ${days.length} ${by}s`}
        >
          <path class="gridlines" d="M0 0H900M0 25H900M0 50H900M0 75H900M0 100H900" />
          {days.map(({ day, net_micro: net }, index) => {
            const height = Number((BigInt(net) * 10_000n) / top) / 100
            return (
              <rect
                key={day}
                class={index === last ? 'now' : undefined}
                x={(index * width + width / 6).toFixed(1)}
                y={(HEIGHT - height).toFixed(2)}
                width={((width * 2) / 3).toFixed(1)}
                height={height.toFixed(2)}
              >
                <title>{`${timeText(day, style)}: ${usdcText(net, 2)} USDC`}</title>
              </rect>
            )
          })}
        </svg>
        <ol class="x" aria-hidden="true">
          {[0, Math.floor(last / 2), last].map((index) => (
            <li key={index}>{timeText(days[index]?.day ?? '', style)}</li>
          ))}
        </ol>
      </div>
      <Fold title="As a table">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
        <div class="scroll" tabIndex={0} role="region" aria-label={`USDC received per ${by}`}>
          <Table
            caption={`USDC received per ${by}`}
            rows={days.toReversed()}
            columns={[
              { name: by === 'day' ? 'Day' : 'Month', cell: ({ day }) => timeText(day, style) },
              { name: 'Payments', look: 'num', cell: ({ payments }) => payments },
              { name: 'Received (USDC)', look: 'num', cell: ({ net_micro: net }) => usdcText(net, 6) },
            ]}
          />
        </div>
      </Fold>
    </figure>
  )
}

/** Returns a quarter of the scale in micro-USDC: 1, 2, 2.5 or 5 times a power of ten, at least one USDC. */
function findStep(most: bigint): bigint {
  let unit = 1_000_000n
  for (;;) {
    for (const tenth of [10n, 20n, 25n, 50n]) {
      const step = (unit * tenth) / 10n
      if (step * 4n >= most) return step
    }
    unit *= 10n
  }
}
