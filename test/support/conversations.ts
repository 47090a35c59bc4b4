/**
 * Arbitrary conversations for property tests. A tidy one has complete groups in order, as a well-behaved
 * provider and client produce, although call ids repeat from round to round. A messy one is a tidy one with
 * lost, moved and duplicated items. All items of a conversation are different objects.
 */
import fc, { type Arbitrary } from 'fast-check'
import { createCompactionItem } from '../../src/core/items/compaction-item.ts'
import type { Item, Part, Role } from '../../src/core/item.ts'
import type { JsonObject } from '../../src/core/json/json.ts'
import { anyItemDamage } from './item-damage.ts'

/** The signature of a PNG file in base64, and the name of its first chunk. */
const PNG_START = 'iVBORw0KGgoAAAANSUhEUgAA'

/** A call and its output of every kind that the core types carry as an opaque item. */
export const OPAQUE_PAIRS: readonly ((id: string) => readonly [JsonObject, JsonObject])[] = [
  (call_id) => [
    { type: 'shell_call', call_id, action: { commands: ['ls'] } },
    { type: 'shell_call_output', call_id, output: [{ stdout: 'a.ts' }] },
  ],
  (call_id) => [
    { type: 'computer_call', call_id, id: 'cu_1' },
    { type: 'computer_call_output', call_id, output: { type: 'computer_screenshot' } },
  ],
  (call_id) => [
    { type: 'local_shell_call', call_id, id: 'lsh_1' },
    { type: 'local_shell_call_output', id: call_id, output: 'a.ts' },
  ],
  (call_id) => [
    { type: 'apply_patch_call', call_id, operation: { type: 'delete_file', path: 'a.ts' } },
    { type: 'apply_patch_call_output', call_id, status: 'completed' },
  ],
  (id) => [
    { type: 'mcp_approval_request', id, server_label: 'files', name: 'rm', arguments: '{}' },
    { type: 'mcp_approval_response', approval_request_id: id, approve: true },
  ],
  (call_id) => [
    { type: 'tool_search_call', call_id, execution: 'client', arguments: {} },
    { type: 'tool_search_output', call_id, execution: 'client', tools: [] },
  ],
]

/** Outputs for each way of shortening: rows, a long string, and long values deep inside. */
const LONG_JSON = [
  Array.from({ length: 90 }, (_, id) => ({ id, name: `n${id}` })),
  { exit: 0, stdout: 'line 🦊\n'.repeat(200), stderr: '' },
  { at: 'x'.repeat(420), next: [['y'.repeat(420)]] },
].map((value) => JSON.stringify(value))

export const tidyConversation = tidyRounds(6)
export const messyConversation = withDamage(tidyConversation)
export const conversation = fc.oneof(tidyConversation, messyConversation)
const few = fc.oneof(tidyRounds(1), withDamage(tidyRounds(1)))

/** A conversation, and the same conversation a little later. */
export type History = readonly [before: readonly Item[], after: readonly Item[]]

/** Adds a round. */
export const grown = addRoundTo(conversation)

/** Adds items to the latest round. */
export const grownWithinRound = continueRoundOf(tidyConversation)

/** Arbitrary conversations, most of them short, so that many cases can run. */
export const history: Arbitrary<History> = fc.oneof(
  { weight: 1, arbitrary: grown },
  { weight: 1, arbitrary: grownWithinRound },
  { weight: 3, arbitrary: addRoundTo(few) },
  { weight: 2, arbitrary: continueRoundOf(few) },
)

function tidyRounds(most: number): Arbitrary<readonly Item[]> {
  return fc
    .tuple(
      fc.array(message(fc.constantFrom('system', 'developer')), { maxLength: 2 }),
      fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: answerItems() }),
      fc.array(fc.array(round(), { maxLength: 2 }), { maxLength: most }),
      fc.oneof(
        { weight: 4, arbitrary: fc.constant<number[]>([]) },
        { weight: 1, arbitrary: fewPlaces() },
      ),
    )
    .map(([head, greeting, rounds, pins]) => {
      const items = [...head, ...greeting, ...rounds.flat(2)]
      return items.map((item, at) => (pins.includes(at) ? pinned(item) : item))
    })
}

function fewPlaces(): Arbitrary<number[]> {
  return fc.array(fc.nat(20), { minLength: 1, maxLength: 3 })
}

function pinned(item: Item): Item {
  return { ...item, native: { ...item.native, backstory: { pin: true } } }
}

function withDamage(before: Arbitrary<readonly Item[]>): Arbitrary<readonly Item[]> {
  return fc
    .tuple(before, fc.array(anyItemDamage(), { maxLength: 6 }))
    .map(([items, mishaps]) => mishaps.reduce((so, happen) => happen(so), items))
}

function addRoundTo(conversation: Arbitrary<readonly Item[]>): Arbitrary<History> {
  return fc.tuple(conversation, round()).map(([before, more]) => [before, [...before, ...more]])
}

function continueRoundOf(conversation: Arbitrary<readonly Item[]>): Arbitrary<History> {
  const deeds = fc.array(answerItems(), { minLength: 1, maxLength: 3 })
  return fc.tuple(conversation, round(), deeds).map(([before, opened, more]) => {
    const open = [...before, ...opened]
    return [open, [...open, ...more.flat()]]
  })
}

/** A question and the items that follow it, possibly none. */
function round(): Arbitrary<readonly Item[]> {
  return fc
    .tuple(
      fc.array(message(fc.constant('user')), { minLength: 1, maxLength: 2 }),
      fc.array(answerItems(), { maxLength: 4 }),
    )
    .map(([question, deeds]) => [...question, ...deeds.flat()])
}

/** The items of one answer with the outputs of its calls; sometimes a system message. */
function answerItems(): Arbitrary<readonly Item[]> {
  const groups = fc.oneof(
    { weight: 3, arbitrary: message(fc.constant('assistant')).map((said) => [said]) },
    { weight: 4, arbitrary: batch() },
    { weight: 1, arbitrary: hosted().map((item) => [item]) },
  )
  return fc.oneof(
    {
      weight: 9,
      arbitrary: fc
        .tuple(fc.array(reasoning(), { maxLength: 2 }), groups)
        .map(([thoughts, group]) => [...thoughts, ...group]),
    },
    { weight: 1, arbitrary: message(fc.constantFrom('system', 'developer')).map((item) => [item]) },
  )
}

/** Parallel calls, sometimes with reasoning between them, and their outputs in any order. */
function batch(): Arbitrary<readonly Item[]> {
  return fc
    .array(fc.tuple(callAndOutput(), fc.option(reasoning(), { freq: 4 })), {
      minLength: 1,
      maxLength: 3,
    })
    .chain((pairs) => {
      const calls = pairs.flatMap(([[call], thought], at) =>
        thought === null || at === 0 ? [call] : [thought, call],
      )
      const outputs = pairs.map(([[, output]]) => output)
      return fc
        .shuffledSubarray(outputs, { minLength: outputs.length })
        .map((shuffled) => [...calls, ...shuffled])
    })
}

function callAndOutput(): Arbitrary<readonly [Item, Item]> {
  const callId = fc.constantFrom('call_0', 'call_1', 'call_2')
  const functions = fc.tuple(callId, output()).map(([call_id, output]): readonly [Item, Item] => [
    { type: 'function_call', call_id, name: 'look', arguments: '{"at":"it"}' },
    { type: 'function_call_output', call_id, output },
  ])
  const customs = fc.tuple(callId, output()).map(([call_id, output]): readonly [Item, Item] => [
    { type: 'custom_tool_call', call_id, name: 'grep', input: 'it' },
    { type: 'custom_tool_call_output', call_id, output },
  ])
  const opaque = fc
    .tuple(callId, fc.constantFrom(...OPAQUE_PAIRS))
    .map(([id, pair]): readonly [Item, Item] => {
      const [call, output] = pair(id)
      return [
        { type: 'opaque', raw: call },
        { type: 'opaque', raw: output },
      ]
    })
  return fc.oneof(
    { weight: 3, arbitrary: functions },
    { weight: 1, arbitrary: customs },
    { weight: 1, arbitrary: opaque },
  )
}

function hosted(): Arbitrary<Item> {
  return fc
    .constantFrom(
      'web_search_call',
      'code_interpreter_call',
      'mcp_call',
      'tool_search_call',
      'compaction',
      'gateway compaction',
      'vendor:thing',
    )
    .map((type) =>
      type === 'gateway compaction'
        ? createCompactionItem('cmp_1', 'So far, so good.')
        : { type: 'opaque', raw: { type, id: 'x_1' } },
    )
}

function reasoning(): Arbitrary<Item> {
  return fc.oneof(
    text().map((text): Item => ({ type: 'reasoning', summary: [{ type: 'summary_text', text }] })),
    text().map((sealed): Item => ({ type: 'reasoning', summary: [], encrypted_content: sealed })),
  )
}

function message(role: Arbitrary<Role>): Arbitrary<Item> {
  const shown = fc.oneof(
    { weight: 6, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: medium() },
  )
  return fc
    .tuple(role, fc.array(fc.tuple(text(), shown), { maxLength: 2 }))
    .map(([role, said]) => ({
      type: 'message',
      role,
      content: said.map(([text, medium]): Part => {
        if (medium !== null && role === 'user') return medium
        return { type: role === 'assistant' ? 'output_text' : 'input_text', text }
      }),
    }))
}

function output(): Arbitrary<string | readonly Part[]> {
  const image: Part = {
    type: 'input_image',
    image_url: `data:image/png;base64,${PNG_START}${'A'.repeat(900)}`,
  }
  const parts = fc.array(
    fc.oneof(
      longText().map((text): Part => ({ type: 'input_text', text })),
      fc.constant(image),
      medium(),
    ),
    { maxLength: 2 },
  )
  return fc.oneof(
    { weight: 3, arbitrary: longText() },
    { weight: 1, arbitrary: fc.constantFrom(...LONG_JSON) },
    { weight: 1, arbitrary: parts },
  )
}

/** Arbitrary pictures of which few differ, so that the same picture occurs several times. */
function medium(): Arbitrary<Part> {
  return fc.oneof(
    fc.constantFrom('a', 'b', 'c', 'd').map((name): Part => {
      return { type: 'input_image', image_url: `https://pictures.example/${name}.png` }
    }),
    fc.constantFrom<Part>(
      { type: 'input_image', image_url: `data:image/png;base64,${PNG_START}${'B'.repeat(900)}` },
      { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,JVBE` },
      { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
    ),
  )
}

/** Arbitrary texts. One of them ends in half a surrogate pair, as if a client had cut it by length. */
function text(): Arbitrary<string> {
  return fc.constantFrom('', 'so', 'grüezi', '🦊', 'one\ntwo', 'torn \ud83e')
}

/** Lengths around every limit of shortening, with surrogate pairs at any index. */
function longText(): Arbitrary<string> {
  return fc
    .tuple(
      fc.constantFrom('x', '🦊', 'x🦊', 'line\n', '\udd8a'),
      fc.constantFrom(0, 5, 300, 799, 800, 2500),
    )
    .map(([piece, length]) => piece.repeat(Math.ceil(length / piece.length)))
}
