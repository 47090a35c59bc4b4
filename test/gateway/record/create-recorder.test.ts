import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { itemId } from '../../../src/core/turn-derived-ids.ts'
import type { Item } from '../../../src/core/item.ts'
import type { Outcome } from '../../../src/core/collect-answer-outcome.ts'
import { createRecorder } from '../../../src/gateway/record/create-recorder.ts'
import type { TurnWriter } from '../../../src/gateway/record/turn-writer.ts'
import { createUnrequestedStorageRule } from '../../../src/gateway/record/unrequested-storage-rule.ts'
import { DEFAULT_CLIENT_TRAITS } from '../../../src/core/client/client-traits.ts'
import { readSettings } from '../../../src/settings/read-settings.ts'

const ANSWER_METADATA = {
  origin: () => ({ wire: 'anthropic', account: 'a', model: 'm', prefixHash: null }),
  fingerprint: () => 'f',
  reasoningRejectedBy: null,
}

const UNREQUESTED = {
  turnId: '01JZZZZZZZZZZZZZZZZZ',
  clientAsksToStore: false,
  failsIfUnclosed: false,
  onTimeout: () => undefined,
  waitUntil: () => undefined,
}

const REASONING: Item = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] }
const CALL: Item = { type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' }

function assistant(text: string): Item {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }
}

function finishedOutcome(...items: readonly Item[]): Outcome {
  return { items, finish: 'stop', failure: null, usage: null, upstreamId: null, model: null }
}

/** A turn writer that records its calls, e.g. `0 message`. */
function fakeWriter(close: (outcome: Outcome) => Outcome = (outcome) => outcome) {
  const lines: string[] = []
  const openWriter = (): TurnWriter => {
    lines.push('open')
    return {
      whenOpened: Promise.resolve(true),
      getOpeningError: () => null,
      addItem: (item, index) => lines.push(`${index} ${item.type}`),
      amendItem: (item, index) => lines.push(`amend ${index} ${item.type}`),
      canBeNamedByMarker: () => true,
      whenNameableByMarker: () => null,
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
const plain = createUnrequestedStorageRule(DEFAULT_CLIENT_TRAITS, 'chat', settings())

test('an unrequested turn is not opened for an answer of plain text', async () => {
  const { lines, openWriter } = fakeWriter()
  const recorder = createRecorder({ ...UNREQUESTED, rule: plain, openWriter })
  recorder.itemStarted(assistant(''))
  recorder.itemEnded(assistant('Hello.'), 0)
  const outcome = finishedOutcome(assistant('Hello.'))
  const origin = vi.fn(ANSWER_METADATA.origin)
  expect(await recorder.settle(outcome, 'finished', { ...ANSWER_METADATA, origin })).toBe(outcome)
  expect(origin).not.toHaveBeenCalled()
  expect(recorder.canBeNamedByMarker()).toBe(false)
  expect(lines).toEqual([])
})

test('an unrequested turn is opened when the model starts reasoning', () => {
  const { lines, openWriter } = fakeWriter()
  const recorder = createRecorder({ ...UNREQUESTED, rule: plain, openWriter })
  recorder.itemStarted({ type: 'reasoning', summary: [] })
  expect(lines).toEqual(['open'])
})

test('an unrequested turn also stores the items before its first item worth storing, at their positions', async () => {
  const { lines, openWriter } = fakeWriter()
  const recorder = createRecorder({ ...UNREQUESTED, rule: plain, openWriter })
  recorder.itemEnded(assistant('Let me see.'), 0)
  expect(lines).toEqual([])
  recorder.itemEnded(REASONING, 1)
  recorder.itemEnded(assistant('So.'), 2)
  await recorder.settle(
    finishedOutcome(assistant('Let me see.'), REASONING, assistant('So.')),
    'finished',
    ANSWER_METADATA,
  )
  expect(lines).toEqual([
    'open',
    '0 message',
    '1 reasoning',
    '2 message',
    'close message,reasoning,message',
  ])
})

test('an unrequested turn without an item worth storing is stored if the upstream rejected reasoning', async () => {
  const { lines, openWriter } = fakeWriter()
  const recorder = createRecorder({ ...UNREQUESTED, rule: plain, openWriter })
  recorder.itemEnded(assistant('So.'), 0)
  const metadata = { ...ANSWER_METADATA, reasoningRejectedBy: 'a' }
  await recorder.settle(finishedOutcome(assistant('So.')), 'finished', metadata)
  expect(lines).toEqual(['open', '0 message', 'close message'])
})

test('an answer stays unchanged if its unrequested turn cannot be stored (C8)', async () => {
  const failure = { status: 503, type: 't', code: null, message: 'away', param: null }
  const { openWriter } = fakeWriter((outcome) => ({ ...outcome, finish: null, failure }))
  const recorder = createRecorder({ ...UNREQUESTED, rule: plain, openWriter })
  recorder.itemEnded(REASONING, 0)
  const outcome = finishedOutcome(REASONING)
  expect(await recorder.settle(outcome, 'finished', ANSWER_METADATA)).toBe(outcome)
})

test('an unrequested turn is stored without reasoning if PERSIST_REASONING is `disabled` (C15)', async () => {
  const { lines, openWriter } = fakeWriter()
  const client = { ...DEFAULT_CLIENT_TRAITS, receivesMarkers: true }
  const rule = createUnrequestedStorageRule(
    client,
    'chat',
    settings({ PERSIST_REASONING: 'disabled' }),
  )
  const recorder = createRecorder({ ...UNREQUESTED, rule, openWriter })
  recorder.itemStarted(REASONING)
  recorder.itemEnded(REASONING, 0)
  recorder.itemEnded(CALL, 1)
  await recorder.settle(finishedOutcome(REASONING, CALL), 'finished', ANSWER_METADATA)
  expect(lines).toEqual(['open', '1 function_call', 'close function_call'])
})

describe('the recorder of a turn that the client asked to store', () => {
  const STORED: Outcome = { ...finishedOutcome(), model: 'stored' }

  /** A writer whose turn opens when `open` is called. */
  function slowWriter(failsIfUnclosed = false) {
    const { promise: opened, resolve: open } = Promise.withResolvers<boolean>()
    const closed: Outcome[] = []
    const openWriter = (): TurnWriter => ({
      ...fakeWriter().openWriter(),
      whenOpened: opened,
      async close(outcome) {
        await opened
        closed.push(outcome)
        return STORED
      },
    })
    const onTimeout = vi.fn<() => void>()
    const options = {
      ...UNREQUESTED,
      clientAsksToStore: true,
      failsIfUnclosed,
      rule: plain,
      openWriter,
      onTimeout,
    }
    return { recorder: createRecorder(options), open, onTimeout, closed }
  }

  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test.each([true, false])(
    'the recorder waits for a requested turn that takes 4 s to open (it succeeds: %s)',
    async (isOpen) => {
      const { recorder, open, onTimeout } = slowWriter(true)
      await vi.advanceTimersByTimeAsync(4000)
      open(isOpen)
      expect(await recorder.whenOpened).toBe(isOpen)
      expect(await recorder.settle(finishedOutcome(), 'finished', ANSWER_METADATA)).toBe(STORED)
      expect(onTimeout).not.toHaveBeenCalled()
    },
  )

  test('a requested turn that opens after 5 s is stored, but the answer does not wait for it', async () => {
    const { recorder, open, onTimeout, closed } = slowWriter()
    const outcome = finishedOutcome()
    const settled = recorder.settle(outcome, 'finished', ANSWER_METADATA)
    await vi.advanceTimersByTimeAsync(6000)
    expect(await recorder.whenOpened).toBe(false)
    expect(await settled).toBe(outcome)
    expect(onTimeout).toHaveBeenCalledOnce()
    open(true)
    await vi.advanceTimersByTimeAsync(0)
    expect(closed).toEqual([outcome])
  })

  test('an item of a requested turn is stored with the id that the client was sent, even after omitted reasoning', () => {
    const items: Item[] = []
    const openWriter = (): TurnWriter => ({
      ...fakeWriter().openWriter(),
      addItem: (item) => void items.push(item),
    })
    const rule = createUnrequestedStorageRule(
      DEFAULT_CLIENT_TRAITS,
      'responses',
      settings({ PERSIST_REASONING: 'disabled' }),
    )
    const recorder = createRecorder({
      ...UNREQUESTED,
      clientAsksToStore: true,
      rule,
      openWriter,
    })
    recorder.itemEnded(assistant('a'), 0)
    recorder.itemEnded(REASONING, 1)
    recorder.itemEnded(assistant('b'), 2)
    const turnId = '01JZZZZZZZZZZZZZZZZZ'
    expect(items).toEqual([assistant('a'), { ...assistant('b'), id: itemId('message', turnId, 2) }])
  })
})

describe('the items that are worth storing in an unrequested turn', () => {
  const opaque: Item = { type: 'opaque', raw: { type: 'web_search_call' } }
  const signed: Item = { ...CALL, native: { gemini: { thoughtSignature: 's' } } }
  const marked = { ...DEFAULT_CLIENT_TRAITS, receivesMarkers: true }
  const openWebUi = { ...marked, isOpenWebUi: true }

  test.each([
    ['reasoning is worth storing', REASONING, DEFAULT_CLIENT_TRAITS, {}, true],
    [
      'a call of a tool that the provider runs is worth storing',
      opaque,
      DEFAULT_CLIENT_TRAITS,
      {},
      true,
    ],
    ['a call with a signature is worth storing', signed, DEFAULT_CLIENT_TRAITS, {}, true],
    [
      'a call is not worth storing if the client sends it back',
      CALL,
      DEFAULT_CLIENT_TRAITS,
      {},
      false,
    ],
    ['a call is not worth storing for Open WebUI, which sends it back', CALL, openWebUi, {}, false],
    ['a call is worth storing if the client may not send it back', CALL, marked, {}, true],
    [
      'a call is not worth storing with PERSIST_TOOL_RESULTS=off',
      CALL,
      marked,
      { PERSIST_TOOL_RESULTS: 'off' },
      false,
    ],
    ['text is not worth storing', assistant('x'), marked, {}, false],
  ] as const)(
    'in a turn that the client did not ask to store, %s',
    (_, item, client, environment, isWorthStoring) => {
      expect(
        createUnrequestedStorageRule(client, 'chat', settings(environment)).isWorthStoring(item),
      ).toBe(isWorthStoring)
    },
  )
})
