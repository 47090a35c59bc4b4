/**
 * Arbitrary conversations, what was recorded of them, and what a client that keeps only text sends. The same
 * few texts occur in many turns, siblings and other chats.
 */
import fc, { type Arbitrary } from 'fast-check'
import type { Item, Message } from '../../src/core/item.ts'
import { formatMarkerLine } from '../../src/core/markers/format-and-extract-markers.ts'
import type { RecordedTurn } from '../../src/core/items/recorded-turn.ts'
import {
  fingerprintAnswer,
  splitIntoSegments,
} from '../../src/recall/split-and-fingerprint-segments.ts'

/** The generated part; everything else is derived from it. */
export interface Script {
  readonly rounds: readonly ScriptedRound[]
  /** True if call ids are numbered from 0 in every turn. */
  readonly countsCalls: boolean
}

interface ScriptedRound {
  readonly question: string
  /** Every answer but the last makes calls. */
  readonly answers: readonly ScriptedAnswer[]
  /** Regenerated first answers that were discarded. */
  readonly siblings: readonly ScriptedAnswer[]
}

interface ScriptedAnswer {
  readonly said: readonly { readonly thinks: boolean; readonly text: string }[]
  readonly calls: number
  readonly searches: boolean
}

/** A turn on the path to the latest answer, with its input. */
export interface Step {
  readonly turn: RecordedTurn
  readonly isFirstOfRound: boolean
}

export interface Story {
  readonly steps: readonly Step[]
  /** Turns of the same chat that are not on the path. */
  readonly siblings: readonly RecordedTurn[]
}

export interface ClientHabits {
  /** If false, the client drops calls and outputs, and joins all text of a round. */
  readonly keepsCalls: boolean
  readonly marks: MarkerPlacement
  /** Separator of joined texts; null for separate messages. */
  readonly joiner: '\n' | '\n\n' | '\r\n' | null
}

export type MarkerPlacement =
  | 'none'
  | 'start'
  | 'end'
  | 'twice'
  | 'escaped'
  | 'crlf'
  | 'fenced'
  | 'elsewhere'

const TEXTS = ['OK.', 'Let me look.', 'It is 4 degrees.', 'One\n\n  two\n```js\nthree()\n```\nfour']

export const script: Arbitrary<Script> = fc.record({
  rounds: fc.array(round(), { minLength: 1, maxLength: 5 }),
  countsCalls: fc.boolean(),
})

function round(): Arbitrary<ScriptedRound> {
  return fc.record({
    question: fc.constantFrom('How warm is it?', 'Go on.'),
    answers: fc
      .tuple(
        fc.array(answer(fc.integer({ min: 1, max: 2 })), { maxLength: 3 }),
        answer(fc.constant(0)),
      )
      .map(([loop, last]) => [...loop, last]),
    siblings: fc.array(answer(fc.integer({ min: 0, max: 1 })), { maxLength: 2 }),
  })
}

function answer(calls: Arbitrary<number>): Arbitrary<ScriptedAnswer> {
  const said = fc.record({ thinks: fc.boolean(), text: fc.constantFrom(...TEXTS) })
  return fc
    .record({ said: fc.array(said, { maxLength: 3 }), calls, searches: fc.boolean() })
    .map((answer) =>
      // A client does not know an answer without text and calls.
      answer.calls === 0 && answer.said.length === 0
        ? { ...answer, said: [{ thinks: true, text: 'OK.' }] }
        : answer,
    )
}

/** Makes all texts of a conversation unique, so that each turn can be found by its text alone. */
export function withUniqueTexts(script: Script, name: string): Script {
  let count = 0
  const own = (answer: ScriptedAnswer): ScriptedAnswer => ({
    ...answer,
    said: answer.said.map(({ thinks, text }) => ({ thinks, text: `${text}\n${name} ${count++}.` })),
  })
  return {
    ...script,
    rounds: script.rounds.map((round) => ({
      ...round,
      answers: round.answers.map(own),
      siblings: round.siblings.map(own),
    })),
  }
}

/** `name` is a digit that is unique within a test. */
export function buildStory(
  { rounds, countsCalls }: Script,
  name: string,
  habits: ClientHabits,
): Story {
  const steps: Step[] = []
  const siblings: RecordedTurn[] = []
  let made = 0
  const turnOf = (scripted: ScriptedAnswer, before: readonly Step[], input: readonly Item[]) => {
    const id = `${name}${String(made++).padStart(19, '0')}`
    const output = outputOf(scripted, id, countsCalls)
    const plan = splitIntoSegments([...listItemsSentBack(before, habits, true), ...input])
    return {
      id,
      thread: name,
      parent: before.at(-1)?.turn.id ?? null,
      depth: before.length,
      fingerprint: fingerprintAnswer(plan, echo(output)),
      reasoningRefusedBy: null,
      createdAtMs: 0,
      usedAtMs: 0,
      input,
      output,
    } satisfies RecordedTurn
  }
  for (const { question, answers, siblings: others } of rounds) {
    for (const [at, scripted] of answers.entries()) {
      const before = [...steps]
      const input = at === 0 ? [user(question)] : answersTo(before.at(-1)?.turn)
      if (at === 0) siblings.push(...others.map((other) => turnOf(other, before, input)))
      steps.push({ turn: turnOf(scripted, before, input), isFirstOfRound: at === 0 })
    }
  }
  return { steps, siblings }
}

function outputOf(answer: ScriptedAnswer, id: string, countsCalls: boolean): readonly Item[] {
  const items: Item[] = []
  for (const { thinks, text } of answer.said) {
    if (thinks) items.push(thought(id, items.length))
    items.push(assistantMessage(text, `msg_${id}_${items.length}`))
  }
  if (answer.searches) {
    items.push(thought(id, items.length))
    items.push({ type: 'opaque', raw: { type: 'web_search_call', id: `ws_${id}_${items.length}` } })
  }
  if (answer.calls > 0) items.push(thought(id, items.length))
  for (let at = 0; at < answer.calls; at += 1) {
    const call_id = countsCalls ? `call_${at}` : `call_${id}${at}`
    items.push({
      type: 'function_call',
      id: `fc_${id}_${at}`,
      call_id,
      name: 'look',
      arguments: '{"at":1,"b":[]}',
    })
  }
  return items
}

function thought(id: string, at: number): Item {
  return { type: 'reasoning', id: `rs_${id}_${at}`, summary: [], encrypted_content: `${id} ${at}` }
}

export function assistantMessage(text: string, id?: string): Message {
  const content = [{ type: 'output_text', text } as const]
  return { type: 'message', role: 'assistant', content, ...(id === undefined ? {} : { id }) }
}

export function user(text: string): Item {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }
}

function answersTo(turn: RecordedTurn | undefined): readonly Item[] {
  return callsIn(turn?.output ?? []).map(({ call_id }, at) => ({
    type: 'function_call_output',
    call_id,
    output: `${turn?.id ?? ''} ${at}`,
  }))
}

function callsIn(items: readonly Item[]) {
  return items.filter((item) => item.type === 'function_call')
}

function textsIn(items: readonly Item[]): readonly string[] {
  return items.flatMap((item) =>
    item.type === 'message'
      ? item.content.flatMap((part) => ('text' in part ? [part.text] : []))
      : [],
  )
}

/** Returns an answer as the client will send it back. */
function echo(output: readonly Item[]): readonly Item[] {
  const texts = textsIn(output)
  return [
    ...(texts.length === 0 ? [] : [assistantMessage(texts.join('\n'))]),
    ...callsIn(output).map(rewriteCall),
  ]
}

/** Clients format arguments again, and do not keep item ids. */
function rewriteCall(call: ReturnType<typeof callsIn>[number]): Item {
  return {
    type: 'function_call',
    call_id: call.call_id,
    name: call.name,
    arguments: '{"b": [], "at": 1}',
  }
}

/** Returns all items unchanged. */
export function recordedItems({ steps }: Story): readonly Item[] {
  return steps.flatMap(({ turn }) => [...turn.input, ...turn.output])
}

/** Returns the items that the client sends. Within a running tool loop, every client still has its calls. */
export function listItemsSentBack(
  steps: readonly Step[],
  { keepsCalls, marks, joiner }: ClientHabits,
  isWorking = false,
  edit: (text: string, turn: RecordedTurn, place: number) => string = (text) => text,
): readonly Item[] {
  const ids = steps.map(({ turn }) => turn.id)
  const newest = steps.findLastIndex(({ isFirstOfRound }) => isFirstOfRound)
  const items: Item[] = []
  let texts: string[] = []
  const flush = (): void => {
    const all = texts.filter((text) => text !== '')
    if (joiner === null) items.push(...all.map((text) => assistantMessage(text)))
    else if (all.length > 0) items.push(assistantMessage(all.join(joiner)))
    texts = []
  }
  for (const [at, { turn, isFirstOfRound }] of steps.entries()) {
    const isKept = keepsCalls || (isWorking && at >= newest)
    if (isFirstOfRound || isKept) {
      flush()
      items.push(...turn.input.map((item) => ({ ...item })))
    }
    const place = marks === 'elsewhere' ? (at + 1) % ids.length : at
    const own = textsIn(turn.output).map((text, place) => edit(text, turn, place))
    texts.push(...insertMarkers(own, ids[place] ?? '', marks))
    if (!isKept) continue
    flush()
    items.push(...callsIn(turn.output).map(rewriteCall))
  }
  flush()
  return items
}

function insertMarkers(
  texts: readonly string[],
  id: string,
  marks: MarkerPlacement,
): readonly string[] {
  const line = formatMarkerLine(id)
  switch (marks) {
    case 'none':
      return texts
    case 'start':
      return atStart(texts, line)
    case 'end':
    case 'elsewhere':
      return atEnd(texts, line)
    case 'twice':
      return atEnd(atStart(texts, line), line)
    case 'escaped':
      return atStart(texts, line.replace('[', '&#91;').replace(']', '&#93;'))
    case 'crlf':
      return atStart(texts, line).map((text) => text.replaceAll('\n', '\r\n'))
    case 'fenced':
      return [...texts, `\`\`\`\n${line}\n\`\`\``]
  }
}

function atStart([first, ...others]: readonly string[], line: string): readonly string[] {
  return first === undefined ? [line] : [`${line}\n\n${first}`, ...others]
}

function atEnd(texts: readonly string[], line: string): readonly string[] {
  const last = texts.at(-1)
  return last === undefined ? [line] : [...texts.slice(0, -1), `${last}\n\n${line}`]
}

/** Removes everything that no client can send back. */
export function recallableItems(items: readonly Item[]): readonly Item[] {
  return items.map((item) => {
    if (item.type === 'reasoning') return item
    const { id: _id, status: _status, origin: _origin, ...rest } = item
    return rest
  })
}
