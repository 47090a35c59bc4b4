import { expect, test } from 'vitest'
import { recordRequest } from '../../../src/gateway/record/omit-repeated-request-fields.ts'

const long = 'x'.repeat(200)
const request = { model: 'm', temperature: 0, instructions: long, tools: [{ name: long }] }

test('a first request is kept whole, its large fields with their digests', () => {
  const { request: kept, digests } = recordRequest(request, {})
  expect(kept).toEqual(request)
  expect(Object.keys(digests)).toEqual(['instructions', 'tools'])
})

test('what is large and as it was before is not kept again', () => {
  const { digests } = recordRequest(request, {})
  const next = recordRequest({ ...request, temperature: 1 }, digests)
  expect(next).toEqual({ request: { model: 'm', temperature: 1 }, digests })
})

test('what has changed is kept, and what is gone is gone', () => {
  const { digests } = recordRequest(request, {})
  const changed = recordRequest({ model: 'm', instructions: `${long}!` }, digests)
  expect(changed.request).toEqual({ model: 'm', instructions: `${long}!` })
  expect(Object.keys(changed.digests)).toEqual(['instructions'])
})

test('a text and a list of the same letters are not the same', () => {
  const { digests } = recordRequest({ instructions: `["${long}"]` }, {})
  expect(recordRequest({ instructions: [long] }, digests).request).toEqual({ instructions: [long] })
})
