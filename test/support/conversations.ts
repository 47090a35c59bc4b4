/**
 * Made-up conversations for properties. All items of one are different objects.
 *
 * A tidy one is what a provider and a client that behave would make: groups are whole and stand in
 * order, although call ids repeat from round to round. A messy one is a tidy one out of which items
 * were lost, and in which others were moved or came twice.
 */
import fc, { type Arbitrary } from 'fast-check'
import { compactionItem } from '../../src/conversation/compaction.ts'
import type { Item, Part, Role } from '../../src/conversation/item.ts'
import type { JsonObject } from '../../src/conversation/json.ts'

/** A call and its output of every kind that the waist carries without understanding it. */
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

export const tidyConversation: Arbitrary<readonly Item[]> = fc
  .tuple(
    fc.array(message(fc.constantFrom('system', 'developer')), { maxLength: 2 }),
    fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: deed() }),
    fc.array(fc.array(round(), { maxLength: 2 }), { maxLength: 6 }),
  )
  .map(([head, greeting, rounds]) => [...head, ...greeting, ...rounds.flat(2)])

export const messyConversation: Arbitrary<readonly Item[]> = fc
  .tuple(tidyConversation, fc.array(mishap(), { maxLength: 6 }))
  .map(([items, mishaps]) => mishaps.reduce((before, happen) => happen(before), items))

export const conversation = fc.oneof(tidyConversation, messyConversation)

/** A conversation, and the same one with another round behind it. */
export const grown: Arbitrary<readonly [readonly Item[], readonly Item[]]> = fc
  .tuple(conversation, round())
  .map(([before, more]) => [before, [...before, ...more]])

/** A round that is being worked on, and the same one with more of the work done. */
export const workedOn: Arbitrary<readonly [readonly Item[], readonly Item[]]> = fc
  .tuple(tidyConversation, round(), fc.array(deed(), { minLength: 1, maxLength: 3 }))
  .map(([before, opened, more]) => [
    [...before, ...opened],
    [...before, ...opened, ...more.flat()],
  ])

/** A question and what came of it, which may be nothing. */
function round(): Arbitrary<readonly Item[]> {
  return fc
    .tuple(
      fc.array(message(fc.constant('user')), { minLength: 1, maxLength: 2 }),
      fc.array(deed(), { maxLength: 4 }),
    )
    .map(([question, deeds]) => [...question, ...deeds.flat()])
}

/** What a model does in one answer, with the outputs to it; now and then a word from the system. */
function deed(): Arbitrary<readonly Item[]> {
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

/** Parallel calls, reasoning in between now and then, and their outputs in any order. */
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
      'compaction of ours',
      'vendor:thing',
    )
    .map((type) =>
      type === 'compaction of ours'
        ? compactionItem('cmp_1', 'So far, so good.')
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
  return fc.tuple(role, fc.array(text(), { maxLength: 2 })).map(([role, texts]) => ({
    type: 'message',
    role,
    content: texts.map((text): Part => ({
      type: role === 'assistant' ? 'output_text' : 'input_text',
      text,
    })),
  }))
}

function output(): Arbitrary<string | readonly Part[]> {
  const image: Part = { type: 'input_image', image_url: `data:image/png;base64,${'A'.repeat(900)}` }
  const parts = fc.array(
    fc.oneof(
      longText().map((text): Part => ({ type: 'input_text', text })),
      fc.constant(image),
    ),
    { maxLength: 2 },
  )
  return fc.oneof({ weight: 3, arbitrary: longText() }, { weight: 1, arbitrary: parts })
}

function text(): Arbitrary<string> {
  return fc.constantFrom('', 'so', 'grüezi', '🦊', 'one\ntwo')
}

/** Around every limit of shortening, with characters of two halves at any place. */
function longText(): Arbitrary<string> {
  return fc
    .tuple(fc.constantFrom('x', '🦊', 'x🦊', 'line\n'), fc.constantFrom(0, 5, 300, 799, 800, 2500))
    .map(([piece, length]) => piece.repeat(Math.ceil(length / piece.length)))
}

type Mishap = (items: readonly Item[]) => readonly Item[]

/** Something that happens to a conversation at a client: lost, moved, doubled, made illegible. */
function mishap(): Arbitrary<Mishap> {
  const place = fc.nat({ max: 10_000 })
  const places = fc.tuple(place, place)
  return fc.oneof(
    {
      weight: 4,
      arbitrary: place.map(
        (from): Mishap =>
          (items) =>
            without(items, from),
      ),
    },
    {
      weight: 3,
      arbitrary: places.map(
        ([from, to]): Mishap =>
          (items) =>
            inserted(without(items, from), to, picked(items, from)),
      ),
    },
    {
      weight: 1,
      arbitrary: places.map(
        ([from, to]): Mishap =>
          (items) =>
            inserted(
              items,
              to,
              picked(items, from).map((item) => ({ ...item })),
            ),
      ),
    },
    {
      weight: 1,
      arbitrary: place.map(
        (from): Mishap =>
          (items) =>
            inserted(without(items, from), from, picked(items, from).map(withoutName)),
      ),
    },
  )
}

function picked(items: readonly Item[], place: number): readonly Item[] {
  return items.slice(place % items.length).slice(0, 1)
}

function without(items: readonly Item[], place: number): readonly Item[] {
  return items.filter((_, at) => at !== place % items.length)
}

function inserted(items: readonly Item[], place: number, more: readonly Item[]): readonly Item[] {
  return items.toSpliced(place % (items.length + 1), 0, ...more)
}

function withoutName(item: Item): Item {
  return item.type === 'function_call' ? { ...item, name: '' } : item
}
