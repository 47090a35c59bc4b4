/** What is wrong with a value is said of what came: nothing, another type, another word. */
import { expect, test } from 'vitest'
import {
  asBoolean,
  asInteger,
  asList,
  asNumber,
  asObject,
  asOneOf,
  asString,
  asNonBlankString,
} from '../../../src/dialects/checks/check-json-types.ts'
import { GatewayError } from '../../../src/core/errors/gateway-error.ts'
import {
  asDecimalBetween,
  asIntegerBetween,
  asMetadata,
  asTextOfLength,
} from '../../../src/dialects/checks/check-value-limits.ts'
import { asStopSequences } from '../../../src/dialects/checks/read-stop-sequences.ts'

const CHECKS = {
  asString,
  asWords: asNonBlankString,
  asObject,
  asList,
  asBoolean,
  asNumber,
  asInteger,
  asStops: asStopSequences,
  asMetadata,
  asOneOf: asOneOf(['a', 'b']),
  asDecimalIn: asDecimalBetween(0, 1),
  asIntegerIn: asIntegerBetween(0, 1),
  asTextIn: asTextOfLength(0, 1),
}

function refusal(check: (value: unknown, path: string) => unknown, value: unknown) {
  try {
    check(value, 'input[0].x')
  } catch (error) {
    if (error instanceof GatewayError) return error.failure
    throw error
  }
  return null
}

test.each(Object.entries(CHECKS))('%s says of what is not there that it is missing', (_, check) => {
  expect(refusal(check, undefined)).toMatchObject({
    code: 'missing_required_parameter',
    message: 'Missing required parameter: `input[0].x`.',
    param: 'input[0].x',
  })
})

test('a word that is none of those known, or no word, is told with them', () => {
  const told = (value: unknown) => refusal(asOneOf(['a', 'b']), value)?.message
  expect(told('c')).toBe("Invalid value for `input[0].x`: 'c'. Supported values are: 'a', 'b'.")
  expect(told(null)).toBe("Invalid value for `input[0].x`: null. Supported values are: 'a', 'b'.")
  expect(told(5)).toBe("Invalid value for `input[0].x`: a number. Supported values are: 'a', 'b'.")
})

test('a number without end is told from one', () => {
  const endless: unknown = JSON.parse('1e999')
  expect(refusal(asDecimalBetween(0, 2), endless)).toMatchObject({
    code: 'invalid_type',
    message:
      'Invalid type for `input[0].x`: expected a number, but got a number that is not finite instead.',
  })
  expect(refusal(asInteger, -Infinity)?.message).toContain('got a number that is not finite')
})
