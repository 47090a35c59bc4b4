/**
 * A client that keeps only the text of answers and sends it back: an Open WebUI, which gets markers, or
 * another Chat Completions client.
 */
import { extractMarkers } from '../../src/core/markers/format-and-extract-markers.ts'
import type { Json } from '../../src/core/json/json.ts'
import { parseReasoningReferences } from '../../src/core/markers/reasoning-reference.ts'
import { decodeFrames } from './logs.ts'

export interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: string
  /** The references beside reasoning, which Open WebUI sends back. */
  readonly reasoning_details?: readonly object[]
}

export interface TextRequest {
  readonly url: string
  readonly chat: readonly Message[]
  readonly isOpenWebUi: boolean
  readonly stream?: boolean
  readonly model?: string
  readonly tools?: readonly object[]
  /** Gets all text so far, after each piece. */
  readonly onText?: (text: string) => void
  /** True to leave at `[DONE]`, without waiting for the end of the connection. */
  readonly leavesAtDone?: boolean
}

export interface TextAnswer {
  readonly status: number
  /** The text of the answer as the client stores it, with markers. */
  readonly text: string
  /** The text of the answer as the user reads it, without markers. */
  readonly readableText: string
  readonly turnIds: readonly string[]
  /** The entries beside the answer's reasoning, which Open WebUI stores. */
  readonly details: readonly object[]
  /** True if the answer is complete. */
  readonly isComplete: boolean
  /** The status lines above the answer. */
  readonly statusLines: readonly string[]
}

export async function askInText({
  onText,
  stream = true,
  leavesAtDone = false,
  ...asking
}: TextRequest): Promise<TextAnswer> {
  const { url, chat, isOpenWebUi, model = 'm', tools } = asking
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(isOpenWebUi && { 'x-openwebui-chat-id': 'c1' }),
    },
    body: JSON.stringify({ model, stream, messages: chat, tools }),
  })
  const { status } = response
  const body = stream ? await read(response, leavesAtDone, onText) : await response.text()
  const told = stream ? readTextStream(body) : readTextBody(body)
  const { text: words, markers } = extractMarkers(told.text)
  // Open WebUI sends nothing back of an answer without text.
  const details = isOpenWebUi && words.trim() !== '' ? told.details : []
  const turnIds = [
    ...markers.map(({ turnId }) => turnId),
    ...parseReasoningReferences(details as Json).map(({ turnId }) => turnId),
  ]
  return { ...told, details, status, readableText: words, turnIds: [...new Set(turnIds)] }
}

/** Returns the chat with one more round. */
export function addRound(
  chat: readonly Message[],
  { text, details = [] }: Pick<TextAnswer, 'text'> & Partial<TextAnswer>,
  question: string,
): readonly Message[] {
  const answer = { role: 'assistant', content: text } as const
  const named = details.length === 0 ? answer : { ...answer, reasoning_details: details }
  return [...chat, named, { role: 'user', content: question }]
}

/** Reads as much as arrives, if the server dies. */
async function read(
  response: Response,
  leavesAtDone: boolean,
  onText?: (text: string) => void,
): Promise<string> {
  const utf8 = new TextDecoder()
  let body = ''
  try {
    for await (const chunk of response.body ?? []) {
      body += utf8.decode(chunk, { stream: true })
      if (onText !== undefined) onText(readTextStream(body).text)
      if (leavesAtDone && body.endsWith('data: [DONE]\n\n')) break
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
  }
  return body
}

interface Chunk {
  readonly choices?: readonly {
    readonly delta: {
      readonly content?: string | null
      readonly reasoning_details?: readonly object[]
    }
  }[]
  readonly event?: { readonly data: { readonly description: string } }
}

type ReadAnswer = Pick<TextAnswer, 'text' | 'isComplete' | 'statusLines' | 'details'>

function readTextStream(body: string): ReadAnswer {
  // The last frame may be incomplete.
  const frames = decodeFrames(body.slice(0, body.lastIndexOf('\n\n') + 2)).map(({ data }) => data)
  const chunks = frames
    .filter((data) => data !== '' && data !== '[DONE]')
    .map((data) => JSON.parse(data) as Chunk)
  return {
    text: chunks.map(({ choices }) => choices?.[0]?.delta.content ?? '').join(''),
    details: chunks.flatMap(({ choices }) => choices?.[0]?.delta.reasoning_details ?? []),
    isComplete: frames.at(-1) === '[DONE]' && chunks.every((chunk) => !('error' in chunk)),
    statusLines: chunks.flatMap(({ event }) => event?.data.description ?? []),
  }
}

function readTextBody(body: string): ReadAnswer {
  const { choices } = JSON.parse(body) as {
    readonly choices?: readonly { readonly message: { readonly content: string } }[]
  }
  const text = choices?.[0]?.message.content
  return { text: text ?? '', isComplete: text !== undefined, statusLines: [], details: [] }
}
