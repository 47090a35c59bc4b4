import { expect, test } from 'vitest'
import { omitRepeatedRequestFields } from '../../../src/gateway/record/omit-repeated-request-fields.ts'

const long = 'x'.repeat(200)
const request = { model: 'm', temperature: 0, instructions: long, tools: [{ name: long }] }

test('all fields of a first request are stored, with digests of the large ones', () => {
  const { request: kept, digests } = omitRepeatedRequestFields(request, {})
  expect(kept).toEqual(request)
  expect(Object.keys(digests)).toEqual(['instructions', 'tools'])
})

test('a large request field that is the same as in the parent turn is omitted', () => {
  const { digests } = omitRepeatedRequestFields(request, {})
  const next = omitRepeatedRequestFields({ ...request, temperature: 1 }, digests)
  expect(next).toEqual({ request: { model: 'm', temperature: 1 }, digests })
})

test('a changed request field is stored, and a field that is no longer sent has no digest', () => {
  const { digests } = omitRepeatedRequestFields(request, {})
  const changed = omitRepeatedRequestFields({ model: 'm', instructions: `${long}!` }, digests)
  expect(changed.request).toEqual({ model: 'm', instructions: `${long}!` })
  expect(Object.keys(changed.digests)).toEqual(['instructions'])
})

test('a text and a list with the same JSON have different digests', () => {
  const { digests } = omitRepeatedRequestFields({ instructions: `["${long}"]` }, {})
  expect(omitRepeatedRequestFields({ instructions: [long] }, digests).request).toEqual({
    instructions: [long],
  })
})
