import { expect, test } from 'vitest'
import { omitRepeatedRequestFields } from '../../../src/gateway/record/omit-repeated-request-fields.ts'

const long = 'x'.repeat(200)
const request = { model: 'm', temperature: 0, instructions: long, tools: [{ name: long }] }

test('all fields of a request without a parent turn are stored, and the large ones get a digest', () => {
  const { request: kept, digests } = omitRepeatedRequestFields(request, {})
  expect(kept).toEqual(request)
  expect(Object.keys(digests)).toEqual(['instructions', 'tools'])
})

test('a large request field is not stored if it is the same as in the parent turn', () => {
  const { digests } = omitRepeatedRequestFields(request, {})
  const next = omitRepeatedRequestFields({ ...request, temperature: 1 }, digests)
  expect(next).toEqual({ request: { model: 'm', temperature: 1 }, digests })
})

test('a request field that differs from the parent turn is stored, and a field that is no longer sent gets no digest', () => {
  const { digests } = omitRepeatedRequestFields(request, {})
  const changed = omitRepeatedRequestFields({ model: 'm', instructions: `${long}!` }, digests)
  expect(changed.request).toEqual({ model: 'm', instructions: `${long}!` })
  expect(Object.keys(changed.digests)).toEqual(['instructions'])
})

test('a request field is stored again if a list replaces a text that is the JSON of the same list', () => {
  const { digests } = omitRepeatedRequestFields({ instructions: `["${long}"]` }, {})
  expect(omitRepeatedRequestFields({ instructions: [long] }, digests).request).toEqual({
    instructions: [long],
  })
})
