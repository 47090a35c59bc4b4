/**
 * What the demo model says to a prompt: the same to the same, always.
 *
 * By itself it thinks, calls the first tool that it is offered, tells what a tool answered, or
 * repeats what it was told and how much it remembers. Lines of the newest question that begin with
 * `/` direct it instead, which is how tests and curious people script it:
 *
 * | line                      | what happens                                             |
 * |---------------------------|----------------------------------------------------------|
 * | `/think TEXT`             | a reasoning item                                         |
 * | `/say TEXT`               | a message                                                |
 * | `/repeat N TEXT`          | a message with TEXT N times                              |
 * | `/call NAME {"a": 1}`     | a function call; several in a row are parallel           |
 * | `/refuse TEXT`            | a refusal                                                |
 * | `/finish length`          | ends so; also `content-filter`                           |
 * | `/error TEXT`             | an error in the middle of the stream                     |
 * | `/break`                  | the connection breaks off                                |
 * | `/hang`                   | nothing more comes, for ever                             |
 * | `/status 429 TEXT`        | an HTTP error instead of an answer                       |
 */
import type { AnswerFinishReason, StreamEvent, TokenUsage } from '../../core/stream-event.ts'
import { textOf, type Item, type Message } from '../../core/item.ts'
import { isObject, ownValue, type Json, type JsonObject } from '../../core/json/json.ts'
import type { ToolChoice, Tool } from '../../core/prompt.ts'
import { createFailure } from '../../core/errors/gateway-error.ts'

export interface DemoRequest {
  readonly model: string
  readonly instructions: string | null
  readonly items: readonly Item[]
  readonly tools: readonly Tool[]
  readonly toolChoice: ToolChoice | null
  readonly stream: boolean
  readonly delayMs: number
}

export type DemoStep =
  | { readonly type: 'event'; readonly event: StreamEvent }
  | { readonly type: 'break' }
  | { readonly type: 'hang' }
  | { readonly type: 'status'; readonly status: number; readonly message: string }

export function scriptAnswer(request: DemoRequest): readonly DemoStep[] {
  const question = newestQuestion(request.items)
  const answered = answeredCalls(request.items)
  const lines = question.split('\n').filter((line) => /^\/[a-z]+/.test(line))
  // A tool's answer is the newest word then, not the question that led to the call.
  const directed = lines.length > 0 && answered.length === 0
  const said = directed ? lines : spontaneous(request, question, answered)
  return told(said, usageOf(request), request.items.length)
}

function spontaneous(
  { items, tools, toolChoice }: DemoRequest,
  question: string,
  answered: readonly string[],
): readonly string[] {
  if (answered.length > 0) {
    return ['/think The tools have answered.', `/say The tools said: ${answered.join(' and ')}.`]
  }
  const tool = tools.find((tool) => tool.type === 'function')
  if (tool !== undefined && toolChoice?.type !== 'none') {
    const call = `/call ${tool.name} ${JSON.stringify(sample(tool.parameters ?? {}))}`
    return [`/think I am offered ${tool.name}, so I call it.`, call]
  }
  const earlier = items.filter((item) => item.type === 'message' && item.role === 'user').length - 1
  const memory = earlier > 0 ? ` I remember ${earlier} earlier of your messages.` : ''
  const heard = question === '' ? 'nothing' : `“${question.replaceAll('\n', ' ')}”`
  return [
    '/think Somebody talks to me. I say what I heard.',
    `/say I am the demo model, and I heard ${heard}.${memory}`,
  ]
}

/** Turns lines into events; whatever is not a known line is said as it stands. */
function told(lines: readonly string[], inputTokens: number, seed: number): readonly DemoStep[] {
  const steps: DemoStep[] = [event({ type: 'answer-started', upstreamId: null, model: null })]
  let index = 0
  let finish: AnswerFinishReason = 'stop'
  let outputTokens = 0
  let reasoningTokens = 0
  for (const line of lines) {
    const [word, rest] = splitOnce(line, ' ')
    if (word === '/break' || word === '/hang')
      return [...steps, { type: word === '/break' ? 'break' : 'hang' }]
    const refusal = word === '/status' ? /^([45]\d\d)(?: (.+))?$/s.exec(rest) : null
    if (refusal !== null) {
      const [, status, message = 'The demo upstream refuses.'] = refusal
      return [{ type: 'status', status: Number(status), message }]
    }
    if (word === '/error') {
      const failure = createFailure('upstream_broken', rest)
      return [...steps, event({ type: 'answer-failed', failure })]
    }
    if (word === '/finish') {
      finish = rest === 'length' || rest === 'content-filter' ? rest : 'stop'
      continue
    }
    const events = spoken(word, word in SPEECH ? rest : line, index, seed)
    const tokens = Math.ceil(rest.length / 4)
    outputTokens += tokens
    if (word === '/think') reasoningTokens += tokens
    index += 1
    // A long answer has more words than a call can have arguments.
    for (const each of events) steps.push(event(each))
  }
  const usage: TokenUsage = {
    inputTokens,
    cachedTokens: 0,
    cacheWriteTokens: null,
    outputTokens,
    reasoningTokens,
    totalTokens: inputTokens + outputTokens,
  }
  return [...steps, event({ type: 'answer-ended', finish: finish, usage })]
}

function event(event: StreamEvent): DemoStep {
  return { type: 'event', event }
}

const SPEECH: Readonly<
  Record<string, (rest: string, index: number, seed: number) => StreamEvent[]>
> = {
  '/think': thought,
  '/say': said,
  '/repeat': (rest, index) => {
    const [count, text] = splitOnce(rest, ' ')
    return said(`${text} `.repeat(Math.min(Number(count) || 1, 100_000)).trimEnd(), index)
  },
  '/call': called,
  '/refuse': refused,
}

function spoken(word: string, rest: string, index: number, seed: number): StreamEvent[] {
  return (SPEECH[word] ?? said)(rest, index, seed)
}

function said(text: string, index: number): StreamEvent[] {
  const item: Message = {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text }],
  }
  return [
    { type: 'item-started', index, item: { ...item, content: [] } },
    ...words(text).map((text): StreamEvent => ({ type: 'text-delta', index, part: 0, text })),
    { type: 'item-ended', index, item },
  ]
}

function refused(text: string, index: number): StreamEvent[] {
  const item: Message = {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'refusal', refusal: text }],
  }
  return [
    { type: 'item-started', index, item: { ...item, content: [] } },
    ...words(text).map((text): StreamEvent => ({ type: 'refusal-delta', index, part: 0, text })),
    { type: 'item-ended', index, item },
  ]
}

function thought(text: string, index: number): StreamEvent[] {
  const channel = 'summary' as const
  return [
    { type: 'item-started', index, item: { type: 'reasoning', summary: [] } },
    ...words(text).map((text): StreamEvent => ({
      type: 'reasoning-delta',
      index,
      channel,
      part: 0,
      text,
    })),
    {
      type: 'item-ended',
      index,
      item: { type: 'reasoning', summary: [{ type: 'summary_text', text }] },
    },
  ]
}

/** `seed` keeps the ids of one conversation's calls apart. */
function called(rest: string, index: number, seed: number): StreamEvent[] {
  const [name, given] = splitOnce(rest, ' ')
  const call = { type: 'function_call' as const, call_id: `call_demo_${seed}_${index}`, name }
  const text = given === '' ? '{}' : given
  return [
    { type: 'item-started', index, item: { ...call, arguments: '' } },
    ...pieces(text, 8).map((text): StreamEvent => ({ type: 'arguments-delta', index, text })),
    { type: 'item-ended', index, item: { ...call, arguments: text, status: 'completed' } },
  ]
}

/** The smallest arguments that a schema allows. What makes no sense in it is as good as not said. */
function sample(schema: JsonObject): JsonObject {
  const { properties: said, required } = schema
  const properties = isObject(said) ? said : {}
  const names: readonly Json[] = Array.isArray(required) ? required : Object.keys(properties)
  return Object.fromEntries(
    names
      .filter((name) => typeof name === 'string')
      .map((name) => [name, sampleValue(ownValue(properties, name))]),
  )
}

function sampleValue(schema: Json | undefined): Json {
  const { type = null, enum: choices } = isObject(schema) ? schema : {}
  if (Array.isArray(choices) && choices.length > 0) return choices[0] as Json
  if (type === 'integer' || type === 'number') return 1
  if (type === 'boolean') return true
  if (type === 'array') return []
  return type === 'object' && isObject(schema) ? sample(schema) : 'demo'
}

function newestQuestion(items: readonly Item[]): string {
  const newest = items.findLast((item) => item.type === 'message' && item.role === 'user')
  return newest?.type === 'message' ? textOf(newest.content) : ''
}

/** What the tools said since the newest question. */
function answeredCalls(items: readonly Item[]): readonly string[] {
  const asked = items.findLastIndex((item) => item.type === 'message' && item.role === 'user')
  return items
    .slice(asked + 1)
    .flatMap((item) => (item.type === 'function_call_output' ? [textOf(item.output)] : []))
}

function usageOf({ items, instructions }: DemoRequest): number {
  return Math.ceil((JSON.stringify(items).length + (instructions?.length ?? 0)) / 4)
}

function words(text: string): readonly string[] {
  return text.match(/\s*\S+\s*$|\s*\S+/g) ?? [text]
}

function pieces(text: string, size: number): readonly string[] {
  const all: string[] = []
  const points = Array.from(text)
  for (let at = 0; at < points.length; at += size) all.push(points.slice(at, at + size).join(''))
  return all
}

function splitOnce(text: string, by: string): readonly [string, string] {
  const at = text.indexOf(by)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + by.length)]
}
