/** Lists the providers by the names of the upstream APIs (wires). */
import { anthropic } from './anthropic/anthropic.ts'
import { demo } from './demo/demo.ts'
import { gemini } from './gemini/gemini.ts'
import { openaiChat } from './openai-chat/openai-chat.ts'
import { openaiResponses } from './openai-responses/openai-responses.ts'
import type { Provider, WireName } from './provider-interface.ts'

export const PROVIDERS: Readonly<Record<WireName, Provider>> = {
  chat: openaiChat,
  responses: openaiResponses,
  anthropic,
  gemini,
  demo,
}
