/** Creates pass-through writers, for upstreams and clients with the same dialect. */
import { createOutcomeCollector } from '../../src/core/collect-answer-outcome.ts'
import { chatDialect } from '../../src/dialects/chat/chat-dialect.ts'
import { responsesDialect } from '../../src/dialects/responses/responses-dialect.ts'
import { openaiChat } from '../../src/providers/openai-chat/openai-chat.ts'
import { openaiResponses } from '../../src/providers/openai-responses/openai-responses.ts'
import type { ResponseWriter } from '../../src/gateway/respond/response-writer-interface.ts'
import {
  createPassThroughWriter,
  type PassThroughOptions,
} from '../../src/gateway/respond/pass-through/pass-through-writer.ts'
import { plainAccount } from '../support/account.ts'

export const TURN_ID = '01JZZZZZZZZZZZZZZZZZ'

/** Both sides of a dialect, and a minimal request. */
const DIALECTS = {
  chat: {
    dialect: chatDialect,
    provider: openaiChat,
    body: { model: 'm', messages: [{ role: 'user', content: 'x' }] },
  },
  responses: {
    dialect: responsesDialect,
    provider: openaiResponses,
    body: { model: 'm', input: 'x' },
  },
}

/** `override` replaces some of the usual options. */
export function createWriter(
  name: keyof typeof DIALECTS,
  isStored: boolean,
  override: (usual: PassThroughOptions) => Partial<PassThroughOptions> = () => ({}),
): ResponseWriter {
  const { dialect, provider, body } = DIALECTS[name]
  const clientRequest = dialect.parse(body)
  const usual: PassThroughOptions = {
    decoder: provider.createDecoder(plainAccount(name)),
    attributeError: (message) => message,
    patcher: dialect.createPassThroughPatcher({
      clientRequest,
      turnId: TURN_ID,
      createdAtMs: 0,
      isStored: isStored,
    }),
    fold: createOutcomeCollector(),
    isStored,
  }
  return createPassThroughWriter({ ...usual, ...override(usual) })
}

const utf8 = new TextDecoder()

export function decodeText(output: string | Uint8Array): string {
  return typeof output === 'string' ? output : utf8.decode(output)
}
