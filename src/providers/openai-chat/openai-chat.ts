/**
 * The wire that most of the world speaks: OpenAI's Chat Completions, and what OpenRouter, Azure,
 * vLLM, Ollama, Groq, Mistral, DeepSeek and many others make of it.
 */
import type { Prompt } from '../../core/prompt.ts'
import type { Account, Provider } from '../provider-interface.ts'
import type { DecodeOptions } from './response/chunk-reader.ts'
import { decodeStream } from './response/decode-stream.ts'
import { decodeBody } from './response/decode-body.ts'
import { encodeRequest } from './request/encode-request.ts'
import { listWrappedToolNames } from './request/encode-tools.ts'
import { parseErrorResponse, refusesReasoning } from './parse-errors.ts'
import { NOTES } from './encoding-notes.ts'
import { resolveChatOptions } from './request/encoding-context.ts'
import { QUIRKS, readChatQuirks } from './quirks.ts'

export const openaiChat: Provider = {
  wire: 'chat',
  // With think tags to take out, or tools that went out in disguise, it must be told anew.
  getPassThroughDialect(prompt, account) {
    if (readChatQuirks(account).retell === true) return null
    const { thinkTags, wrappedToolNames } = createDecodeOptions(account, prompt)
    return thinkTags !== undefined || wrappedToolNames.size > 0 ? null : 'chat'
  },
  encode: encodeRequest,
  createDecoder: (account, prompt) => decodeStream(createDecodeOptions(account, prompt)),
  decodeBody: (body, account, prompt) => decodeBody(body, createDecodeOptions(account, prompt)),
  parseErrorResponse: parseErrorResponse,
  isReasoningRejection: refusesReasoning,
  acceptsAuthorNames(account) {
    const { messageNames, strictAlternation } = readChatQuirks(account)
    // Where the roles must alternate, messages of two names could not be joined.
    return messageNames !== false && strictAlternation !== true
  },
  getMediaSupport({ quirks }) {
    const loadsAny = quirks['profile'] !== 'ollama' || quirks['mediaUrls'] === true
    // There is no word for the address of a file.
    return { loadsUrl: ({ type }) => loadsAny && type !== 'input_file' }
  },
  notes: NOTES,
  quirks: QUIRKS,
  createHeaders(account) {
    const { apiKey } = account
    if (apiKey === null) return {}
    const isBare = readChatQuirks(account).keyHeader === 'api-key'
    return isBare ? { 'api-key': apiKey } : { authorization: `Bearer ${apiKey}` }
  },
}

function createDecodeOptions(account: Account, prompt: Prompt | undefined): DecodeOptions {
  const { thinkTags } = readChatQuirks(account)
  if (prompt === undefined)
    return { thinkTags, wrappedToolNames: NO_TOOL_NAMES, reasoningMaker: null, promptItems: [] }
  const { customTools } = resolveChatOptions(prompt, account)
  const { params, items } = prompt
  const maker = mustPackReasoning(prompt) ? { account: account.name, model: params.model } : null
  return {
    thinkTags,
    wrappedToolNames: listWrappedToolNames(params.tools, customTools),
    reasoningMaker: maker,
    promptItems: items,
  }
}

/** Whether the client asks for sealed reasoning, or can have it in no other way. */
function mustPackReasoning({ params, source }: Prompt): boolean {
  if (source.dialect !== 'responses') return false
  return source.body['store'] === false || params.include.includes('reasoning.encrypted_content')
}

const NO_TOOL_NAMES: ReadonlySet<string> = new Set()
