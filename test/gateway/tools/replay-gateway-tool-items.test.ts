/** Gateway tool items in stored turns: they are replayed to models, but clients and fingerprints never contain them. */
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
const [firstThought] = talk`sealed: I must see the rest.`
const [lastThought] = talk`sealed: That is all.`
const QUESTION = user('how warm is it?')
const MESSAGE = assistantMessage('It is 4 degrees.')

/** An answer with a gateway call, and the part of it that the client received. */
const ANSWER: readonly Item[] = [firstThought ?? CALL, CALL, OUTPUT, lastThought ?? CALL, MESSAGE]
const CLIENT_ANSWER: readonly Item[] = [MESSAGE]

test('an item of a client is not parsed as a gateway call even if it has the mark of one', () => {
  const [item] = parseItems([{ ...CALL }], 'input')
  expect(item === undefined || isGatewayToolItem(item)).toBe(false)
})

test('removing gateway tool items returns the same list if there are none', () => {
  expect(removeGatewayToolItems(CLIENT_ANSWER)).toBe(CLIENT_ANSWER)
  expect(removeGatewayToolItems(ANSWER)).toHaveLength(3)
})

describe('finding a turn with gateway calls', () => {
  test('a turn with gateway calls has the same fingerprint as the items that its client received', () => {
    const plan = splitIntoSegments([QUESTION])
    expect(fingerprintAnswer(plan, ANSWER)).toBe(fingerprintAnswer(plan, CLIENT_ANSWER))
    const recalled = splitIntoSegments([QUESTION, ...ANSWER, user('and?')])
    const plain = splitIntoSegments([QUESTION, ...CLIENT_ANSWER, user('and?')])
    expect(recalled.segments.map(({ fingerprint }) => fingerprint)).toEqual(
      plain.segments.map(({ fingerprint }) => fingerprint),
    )
  })

  test('the content hash of a conversation ignores gateway tool items', () => {
    expect(extendContentHash('', ANSWER)).toBe(extendContentHash('', CLIENT_ANSWER))
    const { answerEnds, hash } = hashHistory([QUESTION, ...ANSWER, user('and?')])
    const plain = hashHistory([QUESTION, ...CLIENT_ANSWER, user('and?')])
    expect(hash).toBe(plain.hash)
    expect(answerEnds.map((boundary) => boundary.hash)).toEqual(
      plain.answerEnds.map((boundary) => boundary.hash),
    )
  })
})

const TURN: RecordedTurn = {
  id: '0'.repeat(20),
  thread: 't',
  parent: null,
  depth: 0,
  fingerprint: fingerprintAnswer(splitIntoSegments([QUESTION]), CLIENT_ANSWER),
  reasoningRefusedBy: null,
  createdAtMs: 0,
  usedAtMs: 0,
  input: [QUESTION],
  output: ANSWER,
}

function recall(turn: RecordedTurn, replaysTools: boolean) {
  const items = [QUESTION, ...CLIENT_ANSWER, user('and?')]
  return restoreForgottenItems(items, splitIntoSegments(items), [turn], { replaysTools })
}

describe('recall of a turn with gateway calls for a client that sends only text back', () => {
  test('for a client that sends only text back, recall restores a turn with its gateway calls in order', () => {
    expect(recall(TURN, true).items).toEqual([QUESTION, ...ANSWER, user('and?')])
  })

  test('if the policy replays no tools, recall restores a turn without its gateway call and the reasoning before that', () => {
    const { items, notes } = recall(TURN, false)
    expect(items).toEqual([QUESTION, lastThought, MESSAGE, user('and?')])
    expect(notes.map(({ why }) => why)).toContain('call-forgotten')
  })
})

test('a gateway call is dropped from the prompt if its output was not stored before the process ended', () => {
  const cut: RecordedTurn = { ...TURN, output: ANSWER.slice(0, 2) }
  const items = [QUESTION, ...cut.output, user('Are you there?')]
  const pruned = pruneOrphans().run(items)
  expect(show(pruned.items)).toBe('user: how warm is it?\nuser: Are you there?')
  expect(pruned.notes.map(({ why }) => why)).toContain('call-without-output')
})

describe('reasoning after the output of a gateway tool', () => {
  const HERE = { wire: 'anthropic', account: 'claude', model: 'm' }
  const seed = () => computePrefixSeed(NO_PARAMS, HERE.wire)
  const transform = dropInvalidReasoning({
    ...HERE,
    computeSeed: seed,
    checksPrefix: true,
    answersAfterRejection: [],
  })
  const prefixHash = hashPromptPrefix({ items: [QUESTION], params: NO_PARAMS }, HERE.wire)
  const origin: Origin = { ...HERE, prefixHash }
  const answerWith = (output: Item) =>
    [firstThought, CALL, output, lastThought, MESSAGE].flatMap((item) =>
      item === undefined ? [] : [{ ...item, origin }],
    )

  test('reasoning after the output of a gateway tool is valid while the output is unchanged', () => {
    const items = [QUESTION, ...answerWith(OUTPUT)]
    expect(transform.run(items).items).toBe(items)
  })

  test('all reasoning of the answer is dropped once the output of a gateway tool is shortened', () => {
    const { items, notes } = transform.run([QUESTION, ...answerWith({ ...OUTPUT, output: 'the' })])
    expect(items.map(({ type }) => type)).not.toContain('reasoning')
    expect(notes).toHaveLength(2)
  })
})
