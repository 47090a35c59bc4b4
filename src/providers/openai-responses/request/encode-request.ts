/**
 * A prompt as a request to `POST /responses`. The client's own bytes go on where nothing of the
 * request is ours to change; otherwise its body is built, always with `store: false`: what is kept
 * is kept by the gateway, and sealed reasoning is asked for so that it can be brought back.
 */
import type { JsonObject } from '../../../core/json/json.ts'
import type { Prompt } from '../../../core/prompt.ts'
import type { Account, EncodedRequest } from '../../provider-interface.ts'
import { encodeInputItems } from './encode-input-items.ts'
import { encodeParameters } from './merge-parameters-into-body.ts'
import { createNoteCollector } from '../encoding-notes.ts'
import { planStopSequences } from './accepts-stop-sequences.ts'

export function encodeRequest(prompt: Prompt, account: Account): EncodedRequest {
  const notebook = createNoteCollector()
  const { notes } = notebook
  const input = encodeInputItems(prompt, account, notebook)
  const fields = encodeParameters(prompt, account, notebook)
  const unsentStops = planStopSequences(prompt, account).unsent
  const { source, stream, params, items } = prompt
  const isUnchanged =
    notes.length === 0 &&
    items === source.items &&
    params === source.params &&
    fields === source.body
  const path = '/responses'
  if (isUnchanged && storesNothing(source.body) && wantsStream(source.body) === stream) {
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
    unsentStopSequences: unsentStops,
  }
}

function storesNothing(body: JsonObject): boolean {
  return body['store'] === false
}

function wantsStream(body: JsonObject): boolean {
  return body['stream'] === true
}

const ENCRYPTED_REASONING = 'reasoning.encrypted_content'

/** The models that OpenAI made before all of them could reason. They refuse the question as such. */
const NON_REASONING_MODEL = /^(?:.*\/)?(?:ft:)?(?:chatgpt-|gpt-3|gpt-4|gpt-5[^/]*-chat)/

function includeEncryptedReasoning(
  include: JsonObject[string],
  model: string,
  { quirks }: Account,
): JsonObject[string] {
  const { sealedReasoning } = quirks
  const asks =
    typeof sealedReasoning === 'boolean' ? sealedReasoning : !NON_REASONING_MODEL.test(model)
  const list: readonly unknown[] = Array.isArray(include) ? include : []
  if (!asks || list.includes(ENCRYPTED_REASONING)) return include
  return [...(list as readonly string[]), ENCRYPTED_REASONING]
}
