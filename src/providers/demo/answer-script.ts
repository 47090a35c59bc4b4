/**
 * Scripts the answers of the demo model. Equal prompts get equal answers.
 *
 * By default, the answers are a tour of the gateway (`guide-tour.ts`). Lines of the last question that begin with `/`
 * direct the model instead:
 *
 * | line                      | what happens                                             |
 * |---------------------------|----------------------------------------------------------|
 * | `/think TEXT`             | a reasoning item                                         |
 * | `/say TEXT`               | a message                                                |
 * | `/repeat N TEXT`          | a message with TEXT N times                              |
 * | `/call NAME {"a": 1}`     | a function call; several in a row are parallel           |
 * | `/refuse TEXT`            | a refusal                                                |
 * | `/finish length`          | sets the finish reason; also `content-filter`            |
 * | `/error TEXT`             | an error in the middle of the stream                     |
 * | `/break`                  | the connection breaks off                                |
 * | `/hang`                   | the stream sends nothing more and does not end           |
 * | `/status 429 TEXT`        | an HTTP error instead of an answer                       |
 */
import type { AnswerFinishReason, StreamEvent, TokenUsage } from '../../core/stream-event.ts'
import { textOf, type Item, type Message, type Reasoning } from '../../core/item.ts'
import { estimateTokens } from '../../core/text/estimate-tokens.ts'
import { createFailure } from '../../core/errors/gateway-error.ts'
import type { DemoRequest } from './demo-request.ts'
import { guideTour } from './guide-tour.ts'

export type DemoStep =
  | { readonly type: 'event'; readonly event: StreamEvent }
  | { readonly type: 'break' }
  | { readonly type: 'hang' }
  | { readonly type: 'status'; readonly status: number; readonly message: string }

export function scriptAnswer(request: DemoRequest): readonly DemoStep[] {
  const question = findLastQuestion(request.items)
  const toolOutputs = listToolOutputs(request.items)
  const lines = question.split('\n').filter((line) => /^\/[a-z]+/.test(line))
  // After a tool call, the model reports the output. Following the same lines again would repeat
  // the call.
  const hasDirections = lines.length > 0 && toolOutputs.length === 0
  const directions = hasDirections ? lines : guideTour(request, question, toolOutputs)
  return createSteps(directions, countInputTokens(request), request.items.length)
}

/** Converts lines to the steps of an answer. A line with an unknown directive becomes a message. */
function createSteps(
  lines: readonly string[],
  inputTokens: number,
  seed: number,
): readonly DemoStep[] {
  const steps: DemoStep[] = [
    createEventStep({ type: 'answer-started', upstreamId: null, model: null }),
  ]
  let index = 0
  let finish: AnswerFinishReason = 'stop'
  let outputTokens = 0
  let reasoningTokens = 0
  for (const line of lines) {
    const [directive, rest] = splitAtSpace(line)
    if (directive === '/break' || directive === '/hang')
      return [...steps, { type: directive === '/break' ? 'break' : 'hang' }]
    const statusMatch = directive === '/status' ? /^([45]\d\d)(?: (.+))?$/s.exec(rest) : null
    if (statusMatch !== null) {
      const [, status, message = 'The demo upstream refuses.'] = statusMatch
      return [{ type: 'status', status: Number(status), message }]
    }
    if (directive === '/error') {
      const failure = createFailure('upstream_broken', rest)
      return [...steps, createEventStep({ type: 'answer-failed', failure })]
    }
    if (directive === '/finish') {
      finish = rest === 'length' || rest === 'content-filter' ? rest : 'stop'
      continue
    }
    const createEvents = DIRECTIVES[directive]
    const events = createEvents?.(rest, index, seed) ?? createMessage(line, index)
    const tokens = estimateTokens(rest)
    outputTokens += tokens
    if (directive === '/think') reasoningTokens += tokens
    index += 1
    // `push(...events)` would fail for a long answer, because a call cannot have that many
    // arguments.
    for (const each of events) steps.push(createEventStep(each))
  }
  const usage: TokenUsage = {
    inputTokens,
    cachedTokens: 0,
    cacheWriteTokens: null,
    outputTokens,
    reasoningTokens,
    totalTokens: inputTokens + outputTokens,
  }
  return [...steps, createEventStep({ type: 'answer-ended', finish, usage })]
}

function createEventStep(event: StreamEvent): DemoStep {
  return { type: 'event', event }
}

type Directive = (rest: string, index: number, seed: number) => StreamEvent[]

const DIRECTIVES: Readonly<Record<string, Directive>> = {
  '/think': createReasoning,
  '/say': createMessage,
  '/repeat': (rest, index) => {
    const [count, text] = splitAtSpace(rest)
    return createMessage(`${text} `.repeat(Math.min(Number(count) || 1, 100_000)).trimEnd(), index)
  },
  '/call': createCall,
  '/refuse': createRefusal,
}

function createMessage(text: string, index: number): StreamEvent[] {
  const item: Message = { ...EMPTY_MESSAGE, content: [{ type: 'output_text', text }] }
  const deltas = splitWords(text).map((text) => {
    return { type: 'text-delta', index, part: 0, text } as const
  })
  return createItemEvents(index, EMPTY_MESSAGE, deltas, item)
}

function createRefusal(text: string, index: number): StreamEvent[] {
  const item: Message = { ...EMPTY_MESSAGE, content: [{ type: 'refusal', refusal: text }] }
  const deltas = splitWords(text).map((text) => {
    return { type: 'refusal-delta', index, part: 0, text } as const
  })
  return createItemEvents(index, EMPTY_MESSAGE, deltas, item)
}

function createReasoning(text: string, index: number): StreamEvent[] {
  const item: Item = { ...EMPTY_REASONING, content: [{ type: 'reasoning_text', text }] }
  const deltas = splitWords(text).map((text) => {
    return { type: 'reasoning-delta', index, channel: 'content', part: 0, text } as const
  })
  return createItemEvents(index, EMPTY_REASONING, deltas, item)
}

/**
 * Creates a tool call from the text after `/call`. `seed` makes the call id differ between answers.
 */
function createCall(rest: string, index: number, seed: number): StreamEvent[] {
  const [name, argumentsText] = splitAtSpace(rest)
  const call = { type: 'function_call' as const, call_id: `call_demo_${seed}_${index}`, name }
  const text = argumentsText === '' ? '{}' : argumentsText
  const deltas = splitText(text, 8).map((text) => {
    return { type: 'arguments-delta', index, text } as const
  })
  const item: Item = { ...call, arguments: text, status: 'completed' }
  return createItemEvents(index, { ...call, arguments: '' }, deltas, item)
}

const EMPTY_REASONING: Reasoning = { type: 'reasoning', summary: [] }

const EMPTY_MESSAGE: Message = { type: 'message', role: 'assistant', content: [] }

function createItemEvents(
  index: number,
  startedItem: Item,
  deltas: readonly StreamEvent[],
  item: Item,
): StreamEvent[] {
  return [
    { type: 'item-started', index, item: startedItem },
    ...deltas,
    { type: 'item-ended', index, item },
  ]
}

function findLastQuestion(items: readonly Item[]): string {
  const lastQuestion = items.findLast((item) => item.type === 'message' && item.role === 'user')
  return lastQuestion?.type === 'message' ? textOf(lastQuestion.content) : ''
}

/** Returns the tool outputs after the last question. */
function listToolOutputs(items: readonly Item[]): readonly string[] {
  const lastQuestionIndex = items.findLastIndex(
    (item) => item.type === 'message' && item.role === 'user',
  )
  return items
    .slice(lastQuestionIndex + 1)
    .flatMap((item) => (item.type === 'function_call_output' ? [textOf(item.output)] : []))
}

function countInputTokens({ items, instructions }: DemoRequest): number {
  return estimateTokens([items, instructions ?? ''])
}

function splitWords(text: string): readonly string[] {
  return text.match(/\s*\S+\s*$|\s*\S+/g) ?? [text]
}

function splitText(text: string, size: number): readonly string[] {
  return text.match(new RegExp(`.{1,${size}}`, 'gsu')) ?? []
}

function splitAtSpace(text: string): readonly [string, string] {
  const index = text.indexOf(' ')
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)]
}
