/** For a test of one limit, or of none. */
export const NO_LIMITS = {
  requests: 1e6,
  windowSeconds: 1,
  refusalsPerMinute: 1e6,
  signInsPerHour: 1e6,
  formsPerHour: 1e6,
  sendsPerHour: 1e6,
  madePerHour: { file: 1e6, key: 1e6 },
  looksPerMinute: 1e6,
  actsPerMinute: 1e6,
  // Windows follow the clock: no test must cross the end of one.
  clock: () => 0,
}
