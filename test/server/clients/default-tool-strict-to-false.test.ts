/** Open WebUI's tools on a Responses connection. */
import { expect, test } from 'vitest'
import { defaultToolStrictToFalse } from '../../../src/server/clients/default-tool-strict-to-false.ts'

const LOOK = { type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }

test('defaultToolStrictToFalse sets `strict: false` on functions without `strict`, and keeps the order of tools', () => {
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
])('defaultToolStrictToFalse returns the tools %j unchanged', (body) => {
  expect(defaultToolStrictToFalse(body)).toBe(body)
})
