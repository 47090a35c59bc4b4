import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../../src/core/errors/gateway-error.ts'
import {
  asBoolean,
  asInteger,
  asList,
  asListOf,
  asNumber,
  asObject,
  asObjectWith,
  asOneOf,
  asString,
  asNonBlankString,
} from '../../../src/dialects/checks/check-json-types.ts'
import {
  asDecimalBetween,
  asIntegerBetween,
  asMetadata,
  asTextOfLength,
  asStopSequences,
} from '../../../src/dialects/checks/check-value-limits.ts'

const CHECKS = {
  asString,
  asNonBlankString,
  asObject,
  asList,
  asBoolean,
  asNumber,
  asInteger,
  asStopSequences,
  asMetadata,
  asOneOf: asOneOf(['a', 'b']),
  asDecimalBetween: asDecimalBetween(0, 1),
  asIntegerBetween: asIntegerBetween(0, 1),
  asTextOfLength: asTextOfLength(0, 1),
}

function readFailure(check: (value: unknown, path: string) => unknown, value: unknown) {
  try {
    check(value, 'input[0].x')
  } catch (error) {
    if (error instanceof GatewayError) return error.failure
    throw error
  }
  return null
}

test.each(Object.entries(CHECKS))(
  'the check %s reports an absent value as a missing parameter',
  (_, check) => {
    expect(readFailure(check, undefined)).toMatchObject({
      code: 'missing_required_parameter',
      message: 'Missing required parameter: `input[0].x`.',
      param: 'input[0].x',
    })
  },
)

test('the error of asOneOf for an unknown text or another type lists the supported values', () => {
  const messageFor = (value: unknown) => readFailure(asOneOf(['a', 'b']), value)?.message
  expect(messageFor('c')).toBe(
    "Invalid value for `input[0].x`: 'c'. Supported values are: 'a', 'b'.",
  )
  expect(messageFor(null)).toBe(
    "Invalid value for `input[0].x`: null. Supported values are: 'a', 'b'.",
  )
  expect(messageFor(5)).toBe(
    "Invalid value for `input[0].x`: a number. Supported values are: 'a', 'b'.",
  )
})

test('a number in a request that JSON.parse returns as Infinity is rejected', () => {
  const infinite: unknown = JSON.parse('1e999')
  expect(readFailure(asDecimalBetween(0, 2), infinite)).toMatchObject({
    code: 'invalid_type',
    message:
      'Invalid type for `input[0].x`: expected a number, but got a number that is not finite instead.',
  })
  expect(readFailure(asInteger, -Infinity)?.message).toContain('got a number that is not finite')
})

describe('the checks of asObjectWith', () => {
  const read = asObjectWith({ name: asString, ages: asListOf(asInteger) })

  test('asObjectWith leaves fields that are absent or null in its input out of its result', () => {
    expect(read({ name: 'Ann', ages: null }, 'x')).toEqual({ name: 'Ann' })
    expect(read({ ages: [1, 2] }, 'x')).toEqual({ ages: [1, 2] })
  })

  test('the error of asObjectWith contains the path of a fault inside a list, or of an unknown field', () => {
    expect(readFailure(read, { ages: [1, 'x'] })?.param).toBe('input[0].x.ages[1]')
    expect(readFailure(read, { nick: 'y' })).toMatchObject({
      code: 'unknown_parameter',
      param: 'input[0].x.nick',
    })
  })
})
