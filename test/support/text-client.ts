/**
 * A client that keeps nothing but text: what it has been told is all that it sends back. It may be an
 * Open WebUI, which gets markers, or any other client of Chat Completions.
 */
import { extractMarkers } from '../../src/core/markers/extract-turn-markers.ts'
import { framesIn } from './logs.ts'

export interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: string
}

export interface Asking {
  readonly url: string
  readonly chat: readonly Message[]
  readonly isOpenWebUi: boolean
  readonly stream?: boolean
  readonly model?: string
  readonly tools?: readonly object[]
  /** Hears all the text so far, whenever there is more. */
  readonly heard?: (text: string) => void
  /** Goes at the last word, and does not wait until the connection ends. */
  readonly isHasty?: boolean
}

export interface Told {
  readonly status: number
  /** As it is kept, markers included. */
  readonly text: string
  /** As it is read. */
  readonly words: string
  readonly turnIds: readonly string[]
  /** Whether the answer has come to its end. */
  readonly isWhole: boolean
  /** What is shown above the answer. */
  readonly statusLines: readonly string[]
}

export async function askInText({
  heard,
  stream = true,
  isHasty = false,
  ...asking
}: Asking): Promise<Told> {
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
  const body = stream ? await read(response, isHasty, heard) : await response.text()
  const told = stream ? toldInStream(body) : toldWhole(body)
  const { text: words, marks } = extractMarkers(told.text)
  return { ...told, status, words, turnIds: marks.map(({ turnId }) => turnId) }
}

/** The chat with one more round. */
export function goneOn(
  chat: readonly Message[],
  { text }: { readonly text: string },
  question: string,
): readonly Message[] {
  return [...chat, { role: 'assistant', content: text }, { role: 'user', content: question }]
}

/** As far as it comes, if the server dies. */
async function read(
  response: Response,
  isHasty: boolean,
  heard?: (text: string) => void,
): Promise<string> {
  const utf8 = new TextDecoder()
  let body = ''
  try {
    for await (const chunk of response.body ?? []) {
      body += utf8.decode(chunk, { stream: true })
      if (heard !== undefined) heard(toldInStream(body).text)
      if (isHasty && body.endsWith('data: [DONE]\n\n')) break
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
  }
  return body
}

interface Chunk {
  readonly choices?: readonly { readonly delta: { readonly content?: string | null } }[]
  readonly event?: { readonly data: { readonly description: string } }
}

function toldInStream(body: string): Pick<Told, 'text' | 'isWhole' | 'statusLines'> {
  // The last frame may not be whole yet.
  const frames = framesIn(body.slice(0, body.lastIndexOf('\n\n') + 2)).map(({ data }) => data)
  const chunks = frames
    .filter((data) => data !== '' && data !== '[DONE]')
    .map((data) => JSON.parse(data) as Chunk)
  return {
    text: chunks.map(({ choices }) => choices?.[0]?.delta.content ?? '').join(''),
    isWhole: frames.at(-1) === '[DONE]' && chunks.every((chunk) => !('error' in chunk)),
    statusLines: chunks.flatMap(({ event }) => event?.data.description ?? []),
  }
}

function toldWhole(body: string): Pick<Told, 'text' | 'isWhole' | 'statusLines'> {
  const { choices } = JSON.parse(body) as {
    readonly choices?: readonly { readonly message: { readonly content: string } }[]
  }
  const text = choices?.[0]?.message.content
  return { text: text ?? '', isWhole: text !== undefined, statusLines: [] }
}
