/** The actions of the sandbox bar, in the order of its buttons. */
export const BAR_ACTIONS = [
  'pay',
  'decline',
  'require_verification',
  'hold',
  'late',
  'under',
  'over',
  'twice',
  'partner_down',
] as const
export type BarAction = (typeof BAR_ACTIONS)[number]

/** Seconds. */
export const BAR_SKIPS = [60, 3600, 86_400, 604_800] as const
