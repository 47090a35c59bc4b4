import { describe, expect, test, vi } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import type { Outcome } from '../../../src/core/fold-answer-outcome.ts'
import { NOT_RECORDED, type Recorder } from '../../../src/gateway/record/recorder-interface.ts'
import { recordTurnOnDemand } from '../../../src/gateway/record/record-turn-on-demand.ts'
import { createRetentionRule } from '../../../src/gateway/record/item-retention-rule.ts'
import { DEFAULT_CLIENT_TRAITS } from '../../../src/core/client/client-traits.ts'
import { readSettings } from '../../../src/settings/read-settings.ts'

const MADE = {
  origin: () => ({ wire: 'anthropic', account: 'a', model: 'm', prefixHash: null }),
  fingerprint: () => 'f',
  reasoningRejectedBy: null,
}

const AFTERWARDS = { late: () => undefined, waitUntil: () => undefined }

const REASONING: Item = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] }
const CALL: Item = { type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' }

function said(text: string): Item {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }
}

function finished(...items: readonly Item[]): Outcome {
  return { items, finish: 'stop', failure: null, usage: null, upstreamId: null, model: null }
}

/** A recorder that writes down what it is told. */
function diary(answer: (outcome: Outcome) => Outcome = (outcome) => outcome) {
  const lines: string[] = []
  const open = (): Recorder => {
    lines.push('open')
    return {
      ...NOT_RECORDED,
      opened: Promise.resolve(true),
      itemEnded: (item, index) => lines.push(`${index} ${item.type}`),
      canBeReferenced: () => true,
      settle: (outcome) => {
        lines.push(`settle ${outcome.items.map(({ type }) => type).join(',')}`)
        return Promise.resolve(answer(outcome))
      },
    }
  }
  return { lines, open }
}

const settings = (environment = {}) => readSettings(environment)
const plain = createRetentionRule(DEFAULT_CLIENT_TRAITS, 'chat', settings())

test('a plain exchange of text writes nothing', async () => {
  const { lines, open } = diary()
  const recorder = recordTurnOnDemand(open, plain, AFTERWARDS)
  recorder.itemStarted(said(''))
  recorder.itemEnded(said('Hello.'), 0)
  const outcome = finished(said('Hello.'))
  const origin = vi.fn(MADE.origin)
  expect(await recorder.settle(outcome, 'finished', { ...MADE, origin })).toBe(outcome)
  expect(origin).not.toHaveBeenCalled()
  expect(recorder.canBeReferenced()).toBe(false)
  expect(lines).toEqual([])
})

test('it is opened as soon as the model begins to think', () => {
  const { lines, open } = diary()
  const recorder = recordTurnOnDemand(open, plain, AFTERWARDS)
  recorder.itemStarted({ type: 'reasoning', summary: [] })
  expect(lines).toEqual(['open'])
})

test('what was said before the first thing worth keeping is kept in its place', async () => {
  const { lines, open } = diary()
  const recorder = recordTurnOnDemand(open, plain, AFTERWARDS)
  recorder.itemEnded(said('Let me see.'), 0)
  expect(lines).toEqual([])
  recorder.itemEnded(REASONING, 1)
  recorder.itemEnded(said('So.'), 2)
  await recorder.settle(finished(said('Let me see.'), REASONING, said('So.')), 'finished', MADE)
  expect(lines).toEqual([
    'open',
    '0 message',
    '1 reasoning',
    '2 message',
    'settle message,reasoning,message',
  ])
})

test('that an upstream refused its reasoning is kept, though nothing else is worth it', async () => {
  const { lines, open } = diary()
  const recorder = recordTurnOnDemand(open, plain, AFTERWARDS)
  recorder.itemEnded(said('So.'), 0)
  const made = { ...MADE, reasoningRejectedBy: 'a' }
  await recorder.settle(finished(said('So.')), 'finished', made)
  expect(lines).toEqual(['open', '0 message', 'settle message'])
})

test('a store that fails takes nothing away from the answer (C8)', async () => {
  const failure = { status: 503, type: 't', code: null, message: 'away', param: null }
  const { open } = diary((outcome) => ({ ...outcome, finish: null, failure }))
  const recorder = recordTurnOnDemand(open, plain, AFTERWARDS)
  recorder.itemEnded(REASONING, 0)
  const outcome = finished(REASONING)
  expect(await recorder.settle(outcome, 'finished', MADE)).toBe(outcome)
})

test('with PERSIST_REASONING=disabled no reasoning reaches the store (C15)', async () => {
  const { lines, open } = diary()
  const client = { ...DEFAULT_CLIENT_TRAITS, receivesMarkers: true }
  const worth = createRetentionRule(client, 'chat', settings({ PERSIST_REASONING: 'disabled' }))
  const recorder = recordTurnOnDemand(open, worth, AFTERWARDS)
  recorder.itemStarted(REASONING)
  recorder.itemEnded(REASONING, 0)
  recorder.itemEnded(CALL, 1)
  await recorder.settle(finished(REASONING, CALL), 'finished', MADE)
  expect(lines).toEqual(['open', '1 function_call', 'settle function_call'])
})

describe('worth keeping', () => {
  const opaque: Item = { type: 'opaque', raw: { type: 'web_search_call' } }
  const signed: Item = { ...CALL, native: { gemini: { thoughtSignature: 's' } } }
  const marked = { ...DEFAULT_CLIENT_TRAITS, receivesMarkers: true }
  const openWebUi = { ...marked, isOpenWebUi: true }

  test.each([
    ['reasoning', REASONING, DEFAULT_CLIENT_TRAITS, {}, true],
    ['a tool that the provider ran', opaque, DEFAULT_CLIENT_TRAITS, {}, true],
    ['a call with a signature', signed, DEFAULT_CLIENT_TRAITS, {}, true],
    ['a plain call that comes back by itself', CALL, DEFAULT_CLIENT_TRAITS, {}, false],
    ['a plain call to Open WebUI, which sends it back', CALL, openWebUi, {}, false],
    ['a plain call to a client of which nobody knows', CALL, marked, {}, true],
    [
      'a call where tools are to be forgotten',
      CALL,
      marked,
      { PERSIST_TOOL_RESULTS: 'off' },
      false,
    ],
    ['text', said('x'), marked, {}, false],
  ] as const)('%s', (_, item, client, environment, isWorth) => {
    expect(createRetentionRule(client, 'chat', settings(environment)).isWorth(item)).toBe(isWorth)
  })
})
