/** Open WebUI's tools on a Responses connection. */
import { expect, test } from 'vitest'
import { defaultToolStrictToFalse } from '../../../src/server/clients/default-tool-strict-to-false.ts'

const LOOK = { type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }

test('`strict: false` is set on functions without `strict`, and the order of tools is kept', () => {
  const tools = [LOOK, { ...LOOK, strict: true }, { type: 'web_search' }, { ...LOOK, strict: null }]
  const body = { model: 'm', tools, input: 'hi' }
  expect(defaultToolStrictToFalse(body)).toEqual({
    model: 'm',
    tools: [{ ...LOOK, strict: false }, tools[1], tools[2], { ...LOOK, strict: false }],
    input: 'hi',
  })
  expect(body.tools).toBe(tools)
})

test.each([
  [{}],
  [{ tools: [] }],
  [{ tools: null }],
  [{ tools: 'none' }],
  [{ tools: [7, { type: 'web_search' }] }],
  [{ tools: [{ ...LOOK, strict: false }] }],
])('the tools %j are returned unchanged', (body) => {
  expect(defaultToolStrictToFalse(body)).toBe(body)
})
