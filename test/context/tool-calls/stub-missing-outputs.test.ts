import { resolvePolicy } from '../../../src/core/context-policy.ts'
import { expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import {
  stubMissingOutputs,
  STUB_OUTPUT_TEXT,
} from '../../../src/context/tool-calls/stub-missing-outputs.ts'
import { listTransforms, runTransforms } from '../../../src/context/list-and-run-transforms.ts'
import { pruneOrphans } from '../../../src/context/tool-calls/prune-orphans.ts'
import { expectValidForProviders } from '../../support/laws.ts'
import { show, talk } from '../../support/talk.ts'
import { CUTS_AT_ANY_LENGTH } from '../../support/cuts-at-any-length.ts'

function addStubs(items: readonly Item[]): string {
  const step = runTransforms(items, [pruneOrphans('stub'), stubMissingOutputs()])
  expectValidForProviders(step.items)
  return show(step.items).replaceAll(STUB_OUTPUT_TEXT, 'STUB')
}

test('a call that never got an output gets a stub output whose text says that no result was recorded', () => {
  const items = talk`
    user: book it
    call a book
    user: hello?
  `
  const step = stubMissingOutputs().run(items)
  expect(show(step.items.slice(1, 3))).toBe(
    'call a book\noutput a [No result of this tool call was recorded. It may or may not have run.]',
  )
  expect(step.notes).toEqual([{ did: 'added', why: 'output-stubbed' }])
})

test('a stub output is added after all calls and outputs of its batch', () => {
  expect(
    addStubs(talk`
      sealed: first
      call a
      sealed: second
      custom b
      call c
      hosted mcp_call
      output c
      sealed: third
      assistant: done
    `),
  ).toBe(
    [
      'sealed: first',
      'call a',
      'sealed: second',
      'custom b',
      'call c',
      'hosted mcp_call',
      'output c',
      'output a STUB',
      'custom-output b STUB',
      'sealed: third',
      'assistant: done',
    ].join('\n'),
  )
})

test('each call without an output gets a stub output of its own, even if calls have the same id', () => {
  expect(
    addStubs(talk`
      call 0 one
      user: wait
      call 0 two
      call 0 three
      output 0 here
      user: thanks
    `),
  ).toBe(
    'call 0 one\noutput 0 STUB\nuser: wait\ncall 0 two\ncall 0 three\noutput 0 here\noutput 0 STUB\nuser: thanks',
  )
})

test('waiting calls, answered calls, and calls without text outputs get no stub', () => {
  const items = talk`
    shell a ls
    user: and now?
    call b
    output b
    call c
    call d
    output d
  `
  expect(stubMissingOutputs().run(items)).toEqual({ items, notes: [] })
  expect(stubMissingOutputs().run(items).items).toBe(items)
})

test('the prompt with a waiting call is a prefix of the later prompt with its stub output', () => {
  const plan = listTransforms({
    policy: resolvePolicy([
      CUTS_AT_ANY_LENGTH,
      { policy: 'replay', outputs: { keepTurns: 0, step: 1 } },
    ]),
    unansweredCalls: 'stub',
    reader: null,
  })
  const before = talk`
    user: book it
    call a book
    call b look
    output b free
  `
  const after = runTransforms([...before, ...talk`user: hello?`], plan)
  expect(after.items.slice(0, before.length)).toEqual(runTransforms(before, plan).items)
  expect(after.notes).toEqual([{ did: 'added', why: 'output-stubbed', by: 'answer-calls' }])
})
