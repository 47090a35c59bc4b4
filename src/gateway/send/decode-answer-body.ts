/**
 * An upstream's body as the events of its answer, whichever form it comes in: a stream, or one object
 * in its place. Throws a GatewayError on a body that cannot be read.
 */
import type { StreamEvent } from '../../core/stream-event.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Account, Provider } from '../../providers/provider-interface.ts'
import type { Prompt } from '../../core/prompt.ts'
import { NOT_JSON_FAILURE } from '../../upstream/transport/read-body.ts'
import { bufferJsonBody } from './buffer-json-body.ts'
import { createSseDecoder } from '../../core/stream/sse.ts'
import { NO_OUTPUT, type SseMessage, type Stage } from '../../core/stream/stage.ts'
import { startsWithJsonObject } from '../respond/select-writer-by-first-byte.ts'

export function decodeAnswerBody(asked: {
  readonly provider: Provider
  readonly account: Account
  readonly prompt: Prompt
}): Stage<Uint8Array, StreamEvent> {
  let chosen: Stage<Uint8Array, StreamEvent> | null = null
  return {
    push(chunk) {
      if (chosen === null) {
        const isObject = startsWithJsonObject(chunk)
        // White space in front of either.
        if (isObject === null) return NO_OUTPUT
        chosen = isObject ? wholeBody(asked) : streamedBody(asked)
      }
      return chosen.push(chunk)
    },
    end: () => (chosen ?? streamedBody(asked)).end(),
  }
}

type Asked = Parameters<typeof decodeAnswerBody>[0]

function streamedBody({ provider, account, prompt }: Asked): Stage<Uint8Array, StreamEvent> {
  const sse = createSseDecoder()
  const decoder = provider.createDecoder(account, prompt)
  const decoded = (messages: readonly SseMessage[]): readonly StreamEvent[] =>
    messages.length === 1 && messages[0] !== undefined
      ? decoder.push(messages[0])
      : messages.flatMap((message) => decoder.push(message))
  return {
    push: (chunk) => decoded(sse.push(chunk)),
    end: () => [...decoded(sse.end()), ...decoder.end()],
  }
}

function wholeBody({ provider, account, prompt }: Asked): Stage<Uint8Array, StreamEvent> {
  const body = bufferJsonBody()
  return {
    push(chunk) {
      body.add(chunk)
      return NO_OUTPUT
    },
    end() {
      const json = body.read()
      if (json === null) throw new GatewayError(NOT_JSON_FAILURE)
      return provider.decodeBody(json, account, prompt)
    },
  }
}
