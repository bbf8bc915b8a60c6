/** What a simulated partner can be told to do with an order, at its own controls and through the API's test mode. */
export const SIMULATED_ACTIONS = [
  'pay',
  'decline',
  'cancel',
  'require_verification',
  'verify',
  'fail_verification',
  'hold',
  'release',
  'confirm',
  // With the new total: the buyer pays the rest, or more.
  'top_up',
  // All of it, or down to a new total.
  'reverse',
  'expire',
] as const

export type SimulatedAction = (typeof SIMULATED_ACTIONS)[number]
