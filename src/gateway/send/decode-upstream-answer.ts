/**
 * Decodes the messages or the body of an upstream's answer. If the answer ends with an error of the upstream, its
 * failure names the upstream and has none of its keys.
 */
import type { JsonObject } from '../../core/json/json.ts'
import type { Prompt } from '../../core/prompt.ts'
import type { StreamEvent } from '../../core/stream-event.ts'
import type { Account, Decoder, Provider } from '../../providers/provider-interface.ts'
import { attributeFailure } from '../../upstream/errors/attribute-failure.ts'

export interface SentRequest {
  readonly provider: Provider
  readonly account: Account
  readonly prompt: Prompt
}

export function createAnswerDecoder({ provider, account, prompt }: SentRequest): Decoder {
  const decoder = provider.createDecoder(account, prompt)
  return {
    push: (message) => attributeLastEvent(decoder.push(message), account),
    end: () => attributeLastEvent(decoder.end(), account),
  }
}

export function decodeAnswerJson(
  json: JsonObject,
  { provider, account, prompt }: SentRequest,
): readonly StreamEvent[] {
  return attributeLastEvent(provider.decodeBody(json, account, prompt), account)
}

/** Nothing follows a failure, so only the last event can be one. */
function attributeLastEvent(
  events: readonly StreamEvent[],
  account: Account,
): readonly StreamEvent[] {
  const last = events.at(-1)
  if (last?.type !== 'answer-failed') return events
  return [...events.slice(0, -1), { ...last, failure: attributeFailure(last.failure, account) }]
}
