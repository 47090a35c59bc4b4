import { expect, test } from 'vitest'
import { omitRepeatedRequestFields } from '../../../src/gateway/record/omit-repeated-request-fields.ts'

const long = 'x'.repeat(200)
const request = { model: 'm', temperature: 0, instructions: long, tools: [{ name: long }] }

test('stores all fields of a first request, with digests of the large ones', () => {
  const { request: kept, digests } = omitRepeatedRequestFields(request, {})
  expect(kept).toEqual(request)
  expect(Object.keys(digests)).toEqual(['instructions', 'tools'])
})

test('omits a large field that is the same as in the parent turn', () => {
  const { digests } = omitRepeatedRequestFields(request, {})
  const next = omitRepeatedRequestFields({ ...request, temperature: 1 }, digests)
  expect(next).toEqual({ request: { model: 'm', temperature: 1 }, digests })
})

test('stores a changed field, and has no digest of a field that is not sent any more', () => {
  const { digests } = omitRepeatedRequestFields(request, {})
  const changed = omitRepeatedRequestFields({ model: 'm', instructions: `${long}!` }, digests)
  expect(changed.request).toEqual({ model: 'm', instructions: `${long}!` })
  expect(Object.keys(changed.digests)).toEqual(['instructions'])
})

test('distinguishes a text from a list with the same JSON', () => {
  const { digests } = omitRepeatedRequestFields({ instructions: `["${long}"]` }, {})
  expect(omitRepeatedRequestFields({ instructions: [long] }, digests).request).toEqual({
    instructions: [long],
  })
})
