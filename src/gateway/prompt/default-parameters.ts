/**
 * Adds parameters that the client did not set: the lowest reasoning effort to a task request, because a title
 * or tags are not worth paid reasoning, and a title is lost if the model thinks longer than `max_tokens`; and a
 * summary of the reasoning for Open WebUI, which cannot request it, and shows none otherwise.
 *
 * A parameter of the client always takes precedence. A parameter that the model has rejected is not added
 * again: another value is tried, or none.
 */
import type { ClientRequest } from '../../core/client-request.ts'
import { isObject, type JsonObject } from '../../core/json/json.ts'
import type { Note } from '../../core/note.ts'
import type { PromptParameters } from '../../core/prompt.ts'
import type { Failure } from '../../core/stream-event.ts'
import type { Provider, TaskParameter } from '../../providers/provider-interface.ts'
import { PROVIDERS } from '../../providers/provider-registry.ts'
import type { UpstreamTarget } from '../../upstream/accounts-and-model-routing.ts'
import type { Ports } from '../dependencies-interface.ts'
import type { AddedParameter } from './planned-request.ts'

export type DefaultParameterPorts = Ports<'settings' | 'upstreamKnowledge'>

/** Returns the parameters to add; none if nothing is remembered of rejections, as in tests of single functions. */
export function chooseAddedParameters(
  target: UpstreamTarget,
  clientRequest: ClientRequest,
  { settings, upstreamKnowledge }: DefaultParameterPorts,
): readonly AddedParameter[] {
  if (upstreamKnowledge === undefined) return []
  const provider = PROVIDERS[target.account.wire]
  const candidates = isBackgroundTask(clientRequest)
    ? listTaskCandidates(provider, target, clientRequest)
    : listSummaryCandidates(provider, target, clientRequest, settings.REASONING_SUMMARY)
  const chosen = candidates.find(
    (candidate) => !upstreamKnowledge.hasRejected(target, describeParameter(candidate)),
  )
  return chosen === undefined ? [] : [chosen]
}

export function describeParameter({ field, value }: AddedParameter): string {
  return `${field} ${value}`
}

/** Returns the parameters with the added ones; the same object if there are none. */
export function addParameters(
  params: PromptParameters,
  added: readonly AddedParameter[],
): PromptParameters {
  return added.reduce((result, { changes }) => ({ ...result, ...changes }), params)
}

export function createAddedParameterNote({ field, value, why }: AddedParameter): Note {
  return { did: 'added', field, why, detail: value }
}

/** True if an upstream's error is about the parameter. */
export function isAboutParameter({ field }: AddedParameter, { param, message }: Failure): boolean {
  const text = `${param ?? ''} ${message}`
  return field === 'reasoning.summary'
    ? param === 'reasoning' ||
        /reasoning(?:\.|[ _])?(?:generate_)?summar|['"`]reasoning['"`]/i.test(text)
    : /effort|reasoning|think|chat_template/i.test(text)
}

/** The merged answer of several models is the only task that is streamed, and the only one that is read as an answer. */
function isBackgroundTask({ client, stream }: ClientRequest): boolean {
  return client.isTask && !stream
}

function listTaskCandidates(
  { listTaskParameters }: Provider,
  { account, model }: UpstreamTarget,
  { params, body }: ClientRequest,
): readonly AddedParameter[] {
  if (hasReasoningSetting(params, body)) return []
  const candidates = listTaskParameters?.(account, model) ?? []
  return candidates.map((candidate) => createTaskParameter(candidate, params))
}

function createTaskParameter(
  candidate: TaskParameter,
  { extra }: PromptParameters,
): AddedParameter {
  const { field, value } = candidate
  return field === 'reasoning.effort'
    ? { field, value, changes: { effort: value }, why: 'lowest-effort' }
    : {
        field,
        value: JSON.stringify(value),
        changes: { extra: { ...extra, [field]: value } },
        why: 'lowest-effort',
      }
}

/** True if the client itself sets whether or how much the model reasons. */
function hasReasoningSetting({ effort, extra }: PromptParameters, body: JsonObject): boolean {
  const { reasoning } = body
  return (
    effort !== null ||
    (isObject(reasoning) && Object.keys(reasoning).some((key) => key !== 'summary')) ||
    Object.keys(extra).some((name) => REASONING_SETTING.test(name))
  )
}

/** E.g. `reasoning`, `thinking`, `enable_thinking`, `thinking_budget`, `chat_template_kwargs`. */
const REASONING_SETTING = /reasoning|think|chat_template|output_config|extra_body/i

function listSummaryCandidates(
  { hasReasoningSummaries }: Provider,
  { account, model }: UpstreamTarget,
  { client, params, body }: ClientRequest,
  summary: string,
): readonly AddedParameter[] {
  const { reasoning } = body
  const isSet = isObject(reasoning) && ('summary' in reasoning || 'generate_summary' in reasoning)
  if (!client.isOpenWebUi || summary === 'off' || isSet || params.effort === 'none') return []
  if (hasReasoningSummaries?.(account, model) !== true) return []
  const changes = { reasoningSummary: summary }
  return [{ field: 'reasoning.summary', value: summary, changes, why: 'summary-requested' }]
}
