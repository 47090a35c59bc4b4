/** Reads a stream of events from a real server, and can leave in the middle. */
import { decodeFrames } from './logs.ts'

export interface ReadEvent {
  readonly number: number
  readonly type: string
  readonly data: string
}

export interface ReadStream {
  readonly status: number
  /** The events up to `[DONE]`, or to the point where the client left. */
  readonly events: readonly ReadEvent[]
  readonly isDone: boolean
  readonly text: string
}

/** With `take`, leaves after that many events. */
export async function readStream(
  url: string,
  init: RequestInit = {},
  take = Number.POSITIVE_INFINITY,
): Promise<ReadStream> {
  const leave = new AbortController()
  const response = await fetch(url, { ...init, signal: leave.signal })
  let text = ''
  const utf8 = new TextDecoder()
  try {
    for await (const chunk of response.body ?? []) {
      text += utf8.decode(chunk, { stream: true })
      if (eventsIn(text).length >= take) break
    }
  } catch (error) {
    // A server that dies closes its connections.
    if (!(error instanceof TypeError)) throw error
  }
  leave.abort()
  const events = eventsIn(text).slice(0, take)
  return { status: response.status, events, isDone: text.endsWith('data: [DONE]\n\n'), text }
}

function eventsIn(text: string): readonly ReadEvent[] {
  // The last frame may be incomplete.
  const end = text.lastIndexOf('\n\n')
  return decodeFrames(end < 0 ? '' : text.slice(0, end + 2))
    .filter(({ data }) => data !== '[DONE]')
    .map(({ data }) => {
      const { type, sequence_number: number } = JSON.parse(data) as {
        readonly type: string
        readonly sequence_number: number
      }
      return { number, type, data }
    })
}
