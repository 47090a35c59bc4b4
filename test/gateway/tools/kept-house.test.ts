/** What is kept of the house: found again with its turn, told to models, and to nobody else. */
import { describe, expect, test } from 'vitest'
import {
  markGatewayToolCall,
  createGatewayToolOutput,
  isGatewayToolItem,
  removeGatewayToolItems,
} from '../../../src/core/items/gateway-tool-items.ts'
import type { FunctionCall, Item, Origin } from '../../../src/core/item.ts'
import type { RecordedTurn } from '../../../src/core/items/recorded-turn.ts'
import { parseItems } from '../../../src/dialects/responses/parse/parse-items.ts'
import {
  extendContentHash,
  hashHistory,
} from '../../../src/gateway/record/hash-conversation-content.ts'
import { restoreForgottenItems } from '../../../src/recall/restore-forgotten-items.ts'
import { dropInvalidReasoning } from '../../../src/context/reasoning/drop-invalid-reasoning.ts'
import {
  fingerprintAnswer,
  splitIntoSegments,
} from '../../../src/recall/split-and-fingerprint-segments.ts'
import {
  hashPromptPrefix,
  computePrefixSeed,
} from '../../../src/context/reasoning/hash-prompt-prefix.ts'
import { pruneOrphans } from '../../../src/context/tool-calls/prune-orphans.ts'
import { NO_PARAMS } from '../../support/empty-parameters.ts'
import { assistantMessage, user } from '../../support/recalled-stories.ts'
import { show, talk } from '../../support/talk.ts'

const CALL: FunctionCall = markGatewayToolCall({
  type: 'function_call',
  call_id: 'h',
  name: 'expand_output',
  arguments: '{}',
})
const OUTPUT = createGatewayToolOutput('h', 'the rest')
const [sealed] = talk`sealed: I must see the rest.`
const [thought] = talk`sealed: That is all.`
const QUESTION = user('how warm is it?')
const WORDS = assistantMessage('It is 4 degrees.')

/** An answer in which the house was called, and all that its client heard of it. */
const ANSWER: readonly Item[] = [sealed ?? CALL, CALL, OUTPUT, thought ?? CALL, WORDS]
const HEARD: readonly Item[] = [WORDS]

test('a client cannot mark anything as being of the house', () => {
  const [item] = parseItems([{ ...CALL }], 'input')
  expect(item === undefined || isGatewayToolItem(item)).toBe(false)
})

test('a list without anything of the house is the very same list', () => {
  expect(removeGatewayToolItems(HEARD)).toBe(HEARD)
  expect(removeGatewayToolItems(ANSWER)).toHaveLength(3)
})

describe('a turn is found', () => {
  test('by what its client has heard of it, whatever the house has said', () => {
    const plan = splitIntoSegments([QUESTION])
    expect(fingerprintAnswer(plan, ANSWER)).toBe(fingerprintAnswer(plan, HEARD))
    const recalled = splitIntoSegments([QUESTION, ...ANSWER, user('and?')])
    const plain = splitIntoSegments([QUESTION, ...HEARD, user('and?')])
    expect(recalled.segments.map(({ fingerprint }) => fingerprint)).toEqual(
      plain.segments.map(({ fingerprint }) => fingerprint),
    )
  })

  test('by the hash of what was said, which has nothing of the house in it', () => {
    expect(extendContentHash('', ANSWER)).toBe(extendContentHash('', HEARD))
    const { boundaries, hash } = hashHistory([QUESTION, ...ANSWER, user('and?')])
    const plain = hashHistory([QUESTION, ...HEARD, user('and?')])
    expect(hash).toBe(plain.hash)
    expect(boundaries.map((border) => border.hash)).toEqual(
      plain.boundaries.map((border) => border.hash),
    )
  })
})

const TURN: RecordedTurn = {
  id: '0'.repeat(20),
  thread: 't',
  parent: null,
  depth: 0,
  fingerprint: fingerprintAnswer(splitIntoSegments([QUESTION]), HEARD),
  reasoningRefusedBy: null,
  createdAtMs: 0,
  usedAtMs: 0,
  input: [QUESTION],
  output: ANSWER,
}

function recall(turn: RecordedTurn, replaysTools: boolean) {
  const items = [QUESTION, ...HEARD, user('and?')]
  return restoreForgottenItems(items, splitIntoSegments(items), [turn], { replaysTools })
}

describe('a client that has forgotten it', () => {
  test('is given it again, in its true order', () => {
    expect(recall(TURN, true).items).toEqual([QUESTION, ...ANSWER, user('and?')])
  })

  test('is not, where tools are not replayed: nor what led to them', () => {
    const { items, notes } = recall(TURN, false)
    expect(items).toEqual([QUESTION, thought, WORDS, user('and?')])
    expect(notes.map(({ why }) => why)).toContain('call-forgotten')
  })
})

test('a call whose output was lost with its process breaks nothing', () => {
  const cut: RecordedTurn = { ...TURN, output: ANSWER.slice(0, 2) }
  const items = [QUESTION, ...cut.output, user('Are you there?')]
  const pruned = pruneOrphans().run(items)
  expect(show(pruned.items)).toBe('user: how warm is it?\nuser: Are you there?')
  expect(pruned.notes.map(({ why }) => why)).toContain('call-without-output')
})

describe('reasoning behind an output of the house', () => {
  const HERE = { wire: 'anthropic', account: 'claude', model: 'm' }
  const seed = () => computePrefixSeed(NO_PARAMS, HERE.wire)
  const keep = dropInvalidReasoning({ ...HERE, seed, checksPrefix: true, refusedBefore: [] })
  const prefixHash = hashPromptPrefix({ items: [QUESTION], params: NO_PARAMS }, HERE.wire)
  const origin: Origin = { ...HERE, prefixHash }
  const answered = (output: Item) =>
    [sealed, CALL, output, thought, WORDS].flatMap((item) =>
      item === undefined ? [] : [{ ...item, origin }],
    )

  test('is valid as long as the output is what it was', () => {
    const items = [QUESTION, ...answered(OUTPUT)]
    expect(keep.run(items).items).toBe(items)
  })

  test('is left out once that was cut, with all reasoning of the answer', () => {
    const { items, notes } = keep.run([QUESTION, ...answered({ ...OUTPUT, output: 'the' })])
    expect(items.map(({ type }) => type)).not.toContain('reasoning')
    expect(notes).toHaveLength(2)
  })
})
