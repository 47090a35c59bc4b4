import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { itemId } from '../../../src/core/turn-derived-ids.ts'
import type { Item } from '../../../src/core/item.ts'
import type { Outcome } from '../../../src/core/fold-answer-outcome.ts'
import { createRecorder } from '../../../src/gateway/record/create-recorder.ts'
import type { TurnWriter } from '../../../src/gateway/record/turn-writer.ts'
import { createRetentionRule } from '../../../src/gateway/record/item-retention-rule.ts'
import { DEFAULT_CLIENT_TRAITS } from '../../../src/core/client/client-traits.ts'
import { readSettings } from '../../../src/settings/read-settings.ts'

const MADE = {
  origin: () => ({ wire: 'anthropic', account: 'a', model: 'm', prefixHash: null }),
  fingerprint: () => 'f',
  reasoningRejectedBy: null,
}

const UNREQUESTED = {
  turnId: '01JZZZZZZZZZZZZZZZZZ',
  isRequested: false,
  onLate: () => undefined,
  waitUntil: () => undefined,
}

const REASONING: Item = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] }
const CALL: Item = { type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' }

function said(text: string): Item {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }
}

function finished(...items: readonly Item[]): Outcome {
  return { items, finish: 'stop', failure: null, usage: null, upstreamId: null, model: null }
}

/** A turn writer that lists what it is given. */
function fakeWriter(close: (outcome: Outcome) => Outcome = (outcome) => outcome) {
  const lines: string[] = []
  const openWriter = (): TurnWriter => {
    lines.push('open')
    return {
      opened: Promise.resolve(true),
      addItem: (item, index) => lines.push(`${index} ${item.type}`),
      canBeReferenced: () => true,
      whenReferenceable: () => null,
      loadStoredParent: () => Promise.resolve(null),
      close: (outcome) => {
        lines.push(`close ${outcome.items.map(({ type }) => type).join(',')}`)
        return Promise.resolve(close(outcome))
      },
    }
  }
  return { lines, openWriter }
}

const settings = (environment = {}) => readSettings(environment)
const plain = createRetentionRule(DEFAULT_CLIENT_TRAITS, 'chat', settings())

test('a plain exchange of text writes nothing', async () => {
  const { lines, openWriter } = fakeWriter()
  const recorder = createRecorder({ ...UNREQUESTED, rule: plain, openWriter })
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
  const { lines, openWriter } = fakeWriter()
  const recorder = createRecorder({ ...UNREQUESTED, rule: plain, openWriter })
  recorder.itemStarted({ type: 'reasoning', summary: [] })
  expect(lines).toEqual(['open'])
})

test('what was said before the first thing worth keeping is kept in its place', async () => {
  const { lines, openWriter } = fakeWriter()
  const recorder = createRecorder({ ...UNREQUESTED, rule: plain, openWriter })
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
    'close message,reasoning,message',
  ])
})

test('that an upstream refused its reasoning is kept, though nothing else is worth it', async () => {
  const { lines, openWriter } = fakeWriter()
  const recorder = createRecorder({ ...UNREQUESTED, rule: plain, openWriter })
  recorder.itemEnded(said('So.'), 0)
  const made = { ...MADE, reasoningRejectedBy: 'a' }
  await recorder.settle(finished(said('So.')), 'finished', made)
  expect(lines).toEqual(['open', '0 message', 'close message'])
})

test('a store that fails takes nothing away from the answer (C8)', async () => {
  const failure = { status: 503, type: 't', code: null, message: 'away', param: null }
  const { openWriter } = fakeWriter((outcome) => ({ ...outcome, finish: null, failure }))
  const recorder = createRecorder({ ...UNREQUESTED, rule: plain, openWriter })
  recorder.itemEnded(REASONING, 0)
  const outcome = finished(REASONING)
  expect(await recorder.settle(outcome, 'finished', MADE)).toBe(outcome)
})

test('with PERSIST_REASONING=disabled no reasoning reaches the store (C15)', async () => {
  const { lines, openWriter } = fakeWriter()
  const client = { ...DEFAULT_CLIENT_TRAITS, receivesMarkers: true }
  const rule = createRetentionRule(client, 'chat', settings({ PERSIST_REASONING: 'disabled' }))
  const recorder = createRecorder({ ...UNREQUESTED, rule, openWriter })
  recorder.itemStarted(REASONING)
  recorder.itemEnded(REASONING, 0)
  recorder.itemEnded(CALL, 1)
  await recorder.settle(finished(REASONING, CALL), 'finished', MADE)
  expect(lines).toEqual(['open', '1 function_call', 'close function_call'])
})

describe('a turn that the client asked to have stored', () => {
  const STORED: Outcome = { ...finished(), model: 'stored' }

  /** A writer whose turn opens when `open` is called. */
  function slowWriter() {
    const { promise: opened, resolve: open } = Promise.withResolvers<boolean>()
    const closed: Outcome[] = []
    const openWriter = (): TurnWriter => ({
      ...fakeWriter().openWriter(),
      opened,
      async close(outcome) {
        await opened
        closed.push(outcome)
        return STORED
      },
    })
    const onLate = vi.fn<() => void>()
    const options = { ...UNREQUESTED, isRequested: true, rule: plain, openWriter, onLate }
    return { recorder: createRecorder(options), open, onLate, closed }
  }

  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test.each([true, false])('is waited for if it opens in time: %s', async (isOpen) => {
    const { recorder, open, onLate } = slowWriter()
    await vi.advanceTimersByTimeAsync(4000)
    open(isOpen)
    expect(await recorder.opened).toBe(isOpen)
    expect(await recorder.settle(finished(), 'finished', MADE)).toBe(STORED)
    expect(onLate).not.toHaveBeenCalled()
  })

  test('is stored later if it opens late, and does not hold the answer back', async () => {
    const { recorder, open, onLate, closed } = slowWriter()
    const outcome = finished()
    const settled = recorder.settle(outcome, 'finished', MADE)
    await vi.advanceTimersByTimeAsync(6000)
    expect(await recorder.opened).toBe(false)
    expect(await settled).toBe(outcome)
    expect(onLate).toHaveBeenCalledOnce()
    open(true)
    await vi.advanceTimersByTimeAsync(0)
    expect(closed).toEqual([outcome])
  })

  test('keeps the ids that the client was sent when an item is left out', () => {
    const items: Item[] = []
    const openWriter = (): TurnWriter => ({
      ...fakeWriter().openWriter(),
      addItem: (item) => void items.push(item),
    })
    const rule = createRetentionRule(
      DEFAULT_CLIENT_TRAITS,
      'responses',
      settings({ PERSIST_REASONING: 'disabled' }),
    )
    const recorder = createRecorder({ ...UNREQUESTED, isRequested: true, rule, openWriter })
    recorder.itemEnded(said('a'), 0)
    recorder.itemEnded(REASONING, 1)
    recorder.itemEnded(said('b'), 2)
    const turnId = '01JZZZZZZZZZZZZZZZZZ'
    expect(items).toEqual([said('a'), { ...said('b'), id: itemId('message', turnId, 2) }])
  })
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
  ] as const)('%s', (_, item, client, environment, isWorthStoring) => {
    expect(createRetentionRule(client, 'chat', settings(environment)).isWorthStoring(item)).toBe(
      isWorthStoring,
    )
  })
})
