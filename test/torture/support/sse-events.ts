/** Reads the events of a Responses stream one by one, so that they count even if the connection breaks. */
import { createSseDecoder } from '../../../src/core/stream/sse.ts'

export interface StreamedEvent {
  readonly type?: unknown
  readonly response?: Readonly<Record<string, unknown>>
}

export async function* readSseEvents(response: Response): AsyncGenerator<StreamedEvent> {
  const decoder = createSseDecoder()
  for await (const chunk of response.body ?? []) {
    for (const { data } of decoder.push(chunk)) {
      if (data !== '[DONE]') yield JSON.parse(data) as StreamedEvent
    }
  }
}
