/**
 * The provider for OpenAI's Chat Completions API, and for services with a similar API, e.g.
 * OpenRouter, Azure, vLLM, Ollama, Groq, Mistral and DeepSeek. `quirks.ts` lists how they deviate.
 */
import type { Prompt } from '../../core/prompt.ts'
import { listLowestOpenAiEfforts } from '../request/openai-reasoning-models.ts'
import type { Account, Provider, TaskParameter } from '../provider-interface.ts'
import type { DecodeOptions } from './response/chunk-reader.ts'
import { decodeBody, decodeStream } from './response/decode-stream.ts'
import { encodeRequest } from './request/encode-request.ts'
import { listWrappedToolNames } from './request/encode-tools.ts'
import { parseErrorResponse, isReasoningRejection } from './parse-errors.ts'
import { NOTES } from './encoding-notes.ts'
import { resolveChatEncodingOptions } from './request/encoding-context.ts'
import { QUIRKS, readChatQuirks } from './quirks.ts'

export const openaiChat: Provider = {
  wire: 'chat',
  getPassThroughDialect(prompt, account) {
    if (readChatQuirks(account).retell === true) return null
    // If think tags are removed from an answer, or inputs of custom tools are unwrapped, the answer
    // must be decoded, so it cannot be passed through.
    const { thinkTags, wrappedToolNames } = createDecodeOptions(account, prompt)
    return thinkTags !== undefined || wrappedToolNames.size > 0 ? null : 'chat'
  },
  encode: encodeRequest,
  createDecoder: (account, prompt) => decodeStream(createDecodeOptions(account, prompt)),
  decodeBody: (body, account, prompt) => decodeBody(body, createDecodeOptions(account, prompt)),
  parseErrorResponse,
  isReasoningRejection,
  listTaskParameters,
  acceptsAuthorNames(account) {
    const { messageNames, strictAlternation } = readChatQuirks(account)
    // With `strictAlternation`, consecutive user messages are merged, which is impossible if their
    // author names differ.
    return messageNames !== false && strictAlternation !== true
  },
  getMediaSupport({ quirks }) {
    const loadsUrls = quirks['profile'] !== 'ollama' || quirks['mediaUrls'] === true
    // Chat Completions has no field for the URL of a file.
    return { loadsUrl: ({ type }) => loadsUrls && type !== 'input_file' }
  },
  notes: NOTES,
  quirks: QUIRKS,
  createHeaders(account) {
    const { apiKey } = account
    if (apiKey === null) return {}
    const isApiKeyHeader = readChatQuirks(account).keyHeader === 'api-key'
    return isApiKeyHeader ? { 'api-key': apiKey } : { authorization: `Bearer ${apiKey}` }
  },
}

/**
 * Only some services have a setting for all models; elsewhere, the name of the model has to tell. The templates
 * of models that reason by default at vLLM, e.g. Qwen3 and GLM, read `enable_thinking`; others ignore it.
 */
function listTaskParameters(account: Account, model: string): readonly TaskParameter[] {
  if (readChatQuirks(account).effortField === 'none') return []
  const efforts = (...values: readonly string[]): readonly TaskParameter[] =>
    values.map((value) => ({ field: 'reasoning.effort', value }))
  const known = listLowestOpenAiEfforts(model)
  if (known.length > 0) return efforts(...known)
  switch (account.quirks['profile']) {
    case 'openrouter':
      return efforts('none', 'low')
    case 'ollama':
      return efforts('none')
    case 'groq':
      return /(?:^|\/)qwen/.test(model) ? efforts('none') : []
    case 'vllm':
      return [{ field: 'chat_template_kwargs', value: { enable_thinking: false } }]
    default:
      return []
  }
}

function createDecodeOptions(account: Account, prompt: Prompt | undefined): DecodeOptions {
  const { thinkTags } = readChatQuirks(account)
  if (prompt === undefined)
    return { thinkTags, wrappedToolNames: new Set(), reasoningMaker: null, promptItems: [] }
  const { params, items } = prompt
  const { customTools } = resolveChatEncodingOptions(prompt, account)
  return {
    thinkTags,
    wrappedToolNames: listWrappedToolNames(params.tools, customTools),
    reasoningMaker: mustPackReasoning(prompt)
      ? { account: account.name, model: params.model }
      : null,
    promptItems: items,
  }
}

/**
 * True if reasoning reaches the next request only as `encrypted_content`: the client stores the
 * conversation itself (`store: false`), or requests encrypted reasoning.
 */
function mustPackReasoning({ params, source }: Prompt): boolean {
  if (source.dialect !== 'responses') return false
  return source.body['store'] === false || params.include.includes('reasoning.encrypted_content')
}
