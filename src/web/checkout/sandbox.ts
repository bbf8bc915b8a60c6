/** What the bar of a test payment can do, in the order in which it stands there. */
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
