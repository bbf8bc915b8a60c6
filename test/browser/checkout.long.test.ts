import { test } from '@jest/globals'
import { JOURNEYS, useCheckout } from './checkout-journeys.ts'

useCheckout()

test.each(Object.entries(JOURNEYS))('without JavaScript %s', (_name, journey) => journey(false))
