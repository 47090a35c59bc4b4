/**
 * Encodes a prompt as a request to `POST /responses`. If nothing changes, sends the client's own
 * bytes. Otherwise sends `store: false`, because the gateway stores the conversation, and requests
 * encrypted reasoning by `include`, because later requests must contain it.
 */
import type { JsonObject } from '../../../core/json/json.ts'
import type { Prompt } from '../../../core/prompt.ts'
import type { Account, EncodedRequest } from '../../provider-interface.ts'
import { NOTES } from '../encoding-notes.ts'
import { createNoteCollector } from '../../note-collector.ts'
import { encodeInputItems } from './encode-input-items.ts'
import { encodeParameters } from './encode-parameters.ts'
import { planStopSequences } from './parameter-encoders.ts'

export function encodeRequest(prompt: Prompt, account: Account): EncodedRequest {
  const collector = createNoteCollector('responses', NOTES)
  const { notes } = collector
  const input = encodeInputItems(prompt, account, collector)
  const fields = encodeParameters(prompt, account, collector)
  const { source, stream, params, items } = prompt
  const isUnchanged =
    notes.length === 0 &&
    items === source.items &&
    params === source.params &&
    fields === source.body
  const path = '/responses'
  const isSameStream = (source.body['stream'] === true) === stream
  if (isUnchanged && source.body['store'] === false && isSameStream) {
    return { path, body: source.body, bytes: source.bytes(), notes }
  }
  const { include, ...rest } = fields
  const included = includeEncryptedReasoning(include, params.model, account)
  return {
    path,
    body: {
      ...rest,
      ...(included === undefined ? {} : { include: included }),
      input,
      stream,
      store: false,
    },
    notes,
    unsentStopSequences: planStopSequences(prompt, account).unsent,
  }
}

const ENCRYPTED_REASONING = 'reasoning.encrypted_content'

/** Matches OpenAI's models without reasoning. They reject requests for encrypted reasoning. */
const NON_REASONING_MODEL = /^(?:.*\/)?(?:ft:)?(?:chatgpt-|gpt-3|gpt-4|gpt-5[^/]*-chat)/

function includeEncryptedReasoning(
  include: JsonObject[string],
  model: string,
  { quirks }: Account,
): JsonObject[string] {
  const { sealedReasoning } = quirks
  const isRequested =
    typeof sealedReasoning === 'boolean' ? sealedReasoning : !NON_REASONING_MODEL.test(model)
  const list: readonly unknown[] = Array.isArray(include) ? include : []
  if (!isRequested || list.includes(ENCRYPTED_REASONING)) return include
  return [...(list as readonly string[]), ENCRYPTED_REASONING]
}
