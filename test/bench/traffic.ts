/**
 * The requests of the benchmark: their kind, their bytes, and the model name that selects the mock upstream's
 * response. Every message and every token contains one mark, a byte that occurs nowhere else, so that
 * counting the bytes shows whether a gateway has lost one.
 */
export interface Traffic {
  readonly api: 'chat' | 'responses'
  readonly store: boolean
  /** The approximate size of the request: one question, or the history of a long chat. */
  readonly requestKb: 1 | 200 | 400
  /** The number of earlier turns, each with an answer of the same kind. */
  readonly turnsBefore?: number
  readonly answer: AnswerKind
}

export type AnswerKind =
  | { readonly kind: 'json' }
  | StreamKind
  /** A stream that starts and then is silent until the client hangs up. */
  | { readonly kind: 'hold' }

export interface StreamKind {
  readonly kind: 'stream'
  readonly chunks: number
  /** 0 is a burst: everything at once. */
  readonly perSecond: number
  /** The silence before the answer, headers included. */
  readonly thinkMs: number
  /** The number of reasoning deltas before the text. */
  readonly thoughts: number
}

export const MARK = '~'
export const MARK_BYTE = 0x7e
export const MARKS_IN_JSON_ANSWER = 40

export interface MockPlan {
  readonly answer: AnswerKind
  readonly requestMarks: number
}

export function parseModel(model: string): MockPlan | null {
  const [mock, kind, ...numbers] = model.split('.')
  const [requestMarks = 0, chunks = 0, perSecond = 0, thinkMs = 0, thoughts = 0] =
    numbers.map(Number)
  if (mock !== 'mock') return null
  if (kind === 'json' || kind === 'hold') return { answer: { kind }, requestMarks }
  if (kind !== 'stream') return null
  return { answer: { kind, chunks, perSecond, thinkMs, thoughts }, requestMarks }
}

export function requestBody(traffic: Traffic): string {
  const history = historyOf(traffic)
  const requestMarks = history.reduce((sum, { content }) => sum + marksIn(content), 0)
  const model = modelName({ answer: traffic.answer, requestMarks })
  const stream = traffic.answer.kind !== 'json'
  return traffic.api === 'chat'
    ? JSON.stringify({ model, messages: history, stream, ...(traffic.store && { store: true }) })
    : JSON.stringify({ model, input: history, stream, store: traffic.store })
}

export function requestPath(traffic: Traffic): string {
  return traffic.api === 'chat' ? '/v1/chat/completions' : '/v1/responses'
}

function modelName({ answer, requestMarks }: MockPlan): string {
  if (answer.kind !== 'stream') return `mock.${answer.kind}.${requestMarks}`
  const { kind, chunks, perSecond, thinkMs, thoughts } = answer
  return ['mock', kind, requestMarks, chunks, perSecond, thinkMs, thoughts].join('.')
}

function marksIn(text: string): number {
  return text.split(MARK).length - 1
}

interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string
  readonly tool_calls?: readonly unknown[]
  readonly tool_call_id?: string
}

function historyOf({ requestKb, turnsBefore, answer }: Traffic): readonly ChatMessage[] {
  if (turnsBefore === undefined || answer.kind !== 'stream') return chatHistory(requestKb)
  const answered: ChatMessage = { role: 'assistant', content: streamedText(answer.chunks) }
  const question = (turn: number): ChatMessage => ({
    role: 'user',
    content: prose(`question ${turn}`, 350),
  })
  const before = Array.from({ length: turnsBefore }, (_, turn) => [question(turn), answered])
  const system: ChatMessage = { role: 'system', content: prose('system', 300) }
  return [system, ...before.flat(), question(turnsBefore)]
}

/** Returns the full text of a stream with this number of tokens. */
export function streamedText(chunks: number): string {
  return Array.from({ length: chunks }, (_, at) => tokenText(at)).join('')
}

export function tokenText(at: number): string {
  return `${MARK}tok${String(at % 1000).padStart(3, '0')}`
}

/**
 * A system prompt, turns of question and answer of ordinary length with a tool call in every fourth, and a
 * question at the end. Tool outputs are too short for any policy to shorten, so the body stays unchanged.
 */
function chatHistory(requestKb: Traffic['requestKb']): readonly ChatMessage[] {
  const messages: ChatMessage[] = [{ role: 'system', content: prose('system', 300) }]
  if (requestKb === 1) return [...messages, { role: 'user', content: prose('question', 520) }]
  let size = 0
  for (let turn = 0; size < requestKb * 1000; turn += 1) {
    const added = oneTurn(turn)
    messages.push(...added)
    size += JSON.stringify(added).length
  }
  return [...messages, { role: 'user', content: prose('and now', 400) }]
}

function oneTurn(turn: number): readonly ChatMessage[] {
  const question: ChatMessage = { role: 'user', content: prose(`question ${turn}`, 350) }
  const answer: ChatMessage = { role: 'assistant', content: prose(`answer ${turn}`, 1400) }
  if (turn % 4 !== 3) return [question, answer]
  const id = `call_${String(turn).padStart(24, '0')}`
  const called = { name: 'search', arguments: `{"query":"number ${turn}"}` }
  const call = { id, type: 'function', function: called }
  return [
    question,
    { role: 'assistant', content: prose(`looking ${turn}`, 80), tool_calls: [call] },
    { role: 'tool', tool_call_id: id, content: prose(`found ${turn}`, 500) },
    answer,
  ]
}

/** One mark, then text with line breaks, quotes and umlauts, which JSON must escape or encode. */
export function prose(about: string, length: number): string {
  const sentence = `Consider "${about}" once more, as naïve readers would.\nThen compare it.`
  return MARK + sentence.repeat(Math.ceil(length / sentence.length)).slice(0, length)
}
