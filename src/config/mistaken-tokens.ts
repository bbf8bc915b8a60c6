/** Tokens that buyers send in place of USDC: bridged USDC, USDT and DAI on Polygon. */
export const MISTAKEN_TOKENS = [
  '0x2791bca1f2de4661ed88a30c99a7a9449aa84174',
  '0xc2132d05d31c914a87c6611c10748aeb04b58e8f',
  '0x8f3cf7ad23cd3cadbd9735aff958023239c6a063',
]
