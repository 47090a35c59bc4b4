/** Streams that are passed on to a client of the upstream's own language, and what it is sent of them. */
import { foldAnswerOutcome } from '../../src/core/fold-answer-outcome.ts'
import { chatDialect } from '../../src/dialects/chat/chat-dialect.ts'
import { responsesDialect } from '../../src/dialects/responses/responses-dialect.ts'
import { openaiChat } from '../../src/providers/openai-chat/openai-chat.ts'
import { openaiResponses } from '../../src/providers/openai-responses/openai-responses.ts'
import type { ResponseWriter } from '../../src/gateway/respond/response-writer-interface.ts'
import {
  createPassThroughWriter,
  type PassThroughOptions,
} from '../../src/gateway/respond/pass-through/pass-through-stream.ts'
import { plainAccount } from '../support/account.ts'

export const TURN_ID = '01JZZZZZZZZZZZZZZZZZ'

/** Both sides of a language, and the least that can be asked in it. */
const LANGUAGES = {
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

/** `other` takes the place of what is usual. */
export function passedOn(
  language: keyof typeof LANGUAGES,
  isStored: boolean,
  other: (usual: PassThroughOptions) => Partial<PassThroughOptions> = () => ({}),
): ResponseWriter {
  const { dialect, provider, body } = LANGUAGES[language]
  const clientRequest = dialect.parse(body)
  const usual = {
    decoder: provider.createDecoder(plainAccount(language)),
    patcher: dialect.createPassThroughPatcher({
      clientRequest,
      turnId: TURN_ID,
      createdAtMs: 0,
      stored: isStored,
    }),
    fold: foldAnswerOutcome(),
    isStored,
  }
  return createPassThroughWriter({ ...usual, ...other(usual) })
}

const plain = new TextDecoder()

export function textSent(part: string | Uint8Array): string {
  return typeof part === 'string' ? part : plain.decode(part)
}
