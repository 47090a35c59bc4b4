/**
 * What is asked in the bench: the kind of request, its bytes, and the model name that tells the mock
 * upstream how to answer. Every message of a request and every token of an answer holds one mark,
 * a byte that occurs nowhere else, so that whoever receives them can count them cheaply: a gateway
 * that loses a message or a token is found out while it is being measured.
 */
export interface Traffic {
  readonly api: 'chat' | 'responses'
  readonly store: boolean
  /** About so many kilobytes of request: a question, or the history of a long chat. */
  readonly requestKb: 1 | 200 | 400
  /** How many turns of the chat have gone before, each answered as this one will be. */
  readonly turnsBefore?: number
  readonly answer: AnswerKind
}

export type AnswerKind =
  | { readonly kind: 'json' }
  | StreamKind
  /** A stream that begins and then says nothing until the client hangs up. */
  | { readonly kind: 'hold' }

export interface StreamKind {
  readonly kind: 'stream'
  readonly chunks: number
  /** 0 is a burst: everything at once, as fast as it can be read. */
  readonly perSecond: number
  /** How long the model is silent, headers included, before it begins. */
  readonly thinkMs: number
  /** How many pieces of reasoning come before the first word. */
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

/** The text that a stream of so many tokens adds up to. */
export function streamedText(chunks: number): string {
  return Array.from({ length: chunks }, (_, at) => tokenText(at)).join('')
}

export function tokenText(at: number): string {
  return `${MARK}tok${String(at % 1000).padStart(3, '0')}`
}

/**
 * A system prompt, then turns of question and answer about as long as people and models write them,
 * with a tool call in every fourth, and a question at the end. Tool outputs are short: none of them
 * is worth rewriting, so that an unchanged body is what is measured.
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

/** One mark, then words with the line ends, quotes and umlauts that JSON has to escape or carry. */
export function prose(about: string, length: number): string {
  const sentence = `Consider "${about}" once more, as naïve readers would.\nThen compare it.`
  return MARK + sentence.repeat(Math.ceil(length / sentence.length)).slice(0, length)
}
