import { test } from '@jest/globals'
import { FOUND } from './found/found.ts'
import { holds, useModel } from './story/holds.ts'

useModel()

test.each(FOUND)('$title', holds)
