import { describe } from 'vitest'
import { testLongTexts } from '../contract-long-texts.ts'
import { isSampled } from '../../support/sample.ts'
import { ENGINES_PLAIN_AND_ENCRYPTED } from '../engines.ts'

const engines = ENGINES_PLAIN_AND_ENCRYPTED.filter((_, index) => isSampled(index, 3))

describe.each(engines)('long texts on %s', (_, open, encryption) => {
  testLongTexts(open, encryption)
})
