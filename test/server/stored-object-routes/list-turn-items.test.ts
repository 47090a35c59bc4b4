import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseItemId } from '../../../src/core/turn-derived-ids.ts'
import type { Item } from '../../../src/core/item.ts'
import { listTurnItems } from '../../../src/server/stored-object-routes/list-turn-items.ts'
import type { StoredTurn } from '../../../src/store/turns/turn-store-interface.ts'
import { assistant, newTurn, user } from '../../store/turns.ts'

function turn(fields: Partial<StoredTurn>): StoredTurn {
  return {
    ...newTurn({ id: '01JZZZZZZZZZZZZZZZZZ' }),
    digests: {},
    metadata: null,
    deletedAtMs: null,
    state: 'complete',
    endedAtMs: 1,
    usage: null,
    failure: null,
    finish: 'stop',
    servedModel: null,
    contentHash: null,
    reasoningRefusedBy: null,
    usedAtMs: 1,
    output: [],
    hidden: new Set(),
    ...fields,
  }
}

const renderItems = (chain: readonly StoredTurn[], lastPart: 'question' | 'answer' = 'answer') =>
  listTurnItems(chain, lastPart, []).map((item) => item.render())

test('listed input items keep their input parts, and listed output items have output parts', () => {
  const output: Item = { type: 'function_call_output', call_id: 'c', output: 'text' }
  const native = { chat: { name: 'x' } }
  expect(
    renderItems([turn({ input: [{ ...user('a'), native }, output], output: [assistant('b')] })]),
  ).toEqual([
    {
      type: 'message',
      role: 'user',
      id: 'msg_01JZZZZZZZZZZZZZZZZZI0',
      status: 'completed',
      content: [{ type: 'input_text', text: 'a' }],
    },
    { ...output, id: 'fco_01JZZZZZZZZZZZZZZZZZI1', status: 'completed' },
    {
      type: 'message',
      role: 'assistant',
      id: 'msg_01JZZZZZZZZZZZZZZZZZ0',
      status: 'completed',
      content: [{ type: 'output_text', text: 'b', annotations: [], logprobs: [] }],
    },
  ])
})

test('the last output item of an incomplete turn is listed with the status incomplete', () => {
  const cut = turn({ state: 'incomplete', output: [assistant('a'), assistant('b')] })
  expect(renderItems([cut]).map((item) => item['status'])).toEqual(['completed', 'incomplete'])
})

test('the output of the last turn is not listed when only input is requested', () => {
  const first = turn({ input: [user('a')], output: [assistant('b')] })
  const last = turn({ id: '02JZZZZZZZZZZZZZZZZZ', input: [user('c')], output: [assistant('d')] })
  expect(renderItems([first, last], 'question')).toHaveLength(3)
})

const anyItem = fc.record({
  id: fc.option(fc.constantFrom('msg_1', 'msg_2', 'x'), { nil: undefined }),
})
const anyChain = fc
  .array(fc.record({ input: fc.array(anyItem), output: fc.array(anyItem) }), { maxLength: 4 })
  .map((turns) =>
    turns.map(({ input, output }, index) => {
      const itemOf = ({ id }: { id: string | undefined }): Item =>
        id === undefined ? user('a') : { ...user('a'), id }
      const items = { input: input.map(itemOf), output: output.map(itemOf) }
      return turn({ id: `0${index}JZZZZZZZZZZZZZZZZZ`, ...items })
    }),
  )

test('every listed item has a unique id that does not change when turns are added', () => {
  fc.assert(
    fc.property(anyChain, (chain) => {
      const ids = (turns: readonly StoredTurn[]) =>
        listTurnItems(turns, 'answer', []).map(({ id }) => id)
      const all = ids(chain)
      expect(new Set(all).size).toBe(all.length)
      expect(ids(chain.slice(0, -1))).toEqual(all.slice(0, ids(chain.slice(0, -1)).length))
      for (const { id, position } of listTurnItems(chain, 'answer', [])) {
        expect([null, position]).toContainEqual(parseItemId(id))
      }
    }),
  )
})
