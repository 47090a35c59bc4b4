import { expect, test } from 'vitest'
import { omitRepeatedRequestFields } from '../../../src/gateway/record/omit-repeated-request-fields.ts'

const long = 'x'.repeat(200)
const request = { model: 'm', temperature: 0, instructions: long, tools: [{ name: long }] }

test('a first request is kept whole, its large fields with their digests', () => {
  const { request: kept, digests } = omitRepeatedRequestFields(request, {})
  expect(kept).toEqual(request)
  expect(Object.keys(digests)).toEqual(['instructions', 'tools'])
})

test('what is large and as it was before is not kept again', () => {
  const { digests } = omitRepeatedRequestFields(request, {})
  const next = omitRepeatedRequestFields({ ...request, temperature: 1 }, digests)
  expect(next).toEqual({ request: { model: 'm', temperature: 1 }, digests })
})

test('what has changed is kept, and what is gone is gone', () => {
  const { digests } = omitRepeatedRequestFields(request, {})
  const changed = omitRepeatedRequestFields({ model: 'm', instructions: `${long}!` }, digests)
  expect(changed.request).toEqual({ model: 'm', instructions: `${long}!` })
  expect(Object.keys(changed.digests)).toEqual(['instructions'])
})

test('a text and a list of the same letters are not the same', () => {
  const { digests } = omitRepeatedRequestFields({ instructions: `["${long}"]` }, {})
  expect(omitRepeatedRequestFields({ instructions: [long] }, digests).request).toEqual({
    instructions: [long],
  })
})
