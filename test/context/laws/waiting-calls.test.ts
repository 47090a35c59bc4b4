/** Checks, for each wire, calls at the end that wait for their outputs. */
import { resolvePolicy } from '../../../src/core/context-policy.ts'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { listTransforms, runTransforms } from '../../../src/context/list-and-run-transforms.ts'
import { encodeForWire, type Wire } from '../../support/sent-laws.ts'
import { talk } from '../../support/talk.ts'
import { CUTS_AT_ANY_LENGTH } from '../../support/cuts-at-any-length.ts'

const plan = listTransforms({
  policy: resolvePolicy([CUTS_AT_ANY_LENGTH, { policy: 'retain' }]),
  reader: null,
})

const { items } = runTransforms(
  talk`
    user: go
    call a look {"at":"it"}
    call b look {"at":"it"}
    output a here
  `,
  plan,
)

function sendAndReadLastEntry(wire: Wire['wire'], field: string, model: string): unknown {
  const list = encodeForWire({ wire, model }, items).body[field] as readonly JsonObject[]
  return list.at(-1)
}

test('a call that waits for its output is sent without a stub output to Responses and Chat Completions, whose providers report the missing output', () => {
  expect(sendAndReadLastEntry('responses', 'input', 'gpt-5')).toMatchObject({
    call_id: 'a',
    output: 'here',
  })
  expect(sendAndReadLastEntry('chat', 'messages', 'm')).toMatchObject({
    tool_call_id: 'a',
    content: 'here',
  })
})

test('a call that waits for its output is sent with a stub output to Anthropic and Gemini, which accept no incomplete batch of calls', () => {
  expect(sendAndReadLastEntry('anthropic', 'messages', 'claude-sonnet-4-5')).toMatchObject({
    content: [
      { tool_use_id: 'a', content: 'here' },
      { tool_use_id: 'b', is_error: true },
    ],
  })
  expect(sendAndReadLastEntry('gemini', 'contents', 'gemini-3.8-flash')).toMatchObject({
    parts: [
      { functionResponse: { name: 'look', response: { output: 'here' } } },
      { functionResponse: { name: 'look', response: { error: expect.any(String) as string } } },
    ],
  })
})
